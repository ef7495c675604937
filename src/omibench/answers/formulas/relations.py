"""Equations, inequalities, tuples, intervals and sets, compared side by side.

Every function returns None if the texts are of another kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from glyphtex import lazy_re as re
from omibench.answers.formulas.formula import (
    FUNCTION_NAMES,
    neutral,
    proportional,
    same_formula,
    symbols,
)
from omibench.answers.formulas.intervals import FLIPPED
from omibench.answers.formulas.latex import same_text
from omibench.answers.formulas.operators import (
    GREEK_LETTERS,
    JOINS,
    Equality,
    same_set,
    split_sides,
)
from omibench.answers.formulas.reader import readings
from omibench.answers.formulas.samples import (
    POINTS,
    REL_TOLERANCE,
    solve_linear,
    value_at_samples,
)
from omibench.answers.multipart import by_comma

_RELATION_SIGN = re.compile(r"[{(\[]|[})\]]|\\(?:leq|geq|neq|in|equiv|propto)(?![A-Za-z])|[<>≈=]")
_NAME = re.compile(
    r"(?!\\(?:frac|sqrt|[dt]?binom)(?![A-Za-z]))\\?[^\W\d]+(?:\s*[_^]\s*\{[^{}]*\}|\{[^{}]*\}|')*(?:\s*\([^()=+*/-]*\))?"
    r"|\\(?:vec|dot|overline|bar|hat|Delta|angle|triangle|mathscr)\s*\S[^=+*/-]{0,24}|[A-Z][A-Z\s]{0,6}"
    r"|\|\s*(?:[A-Z]{1,2}|\\overrightarrow\s*\{\s*[A-Z]{2}\s*\})\s*\|"
    r"|\\frac\s*\{\s*(d|\\partial)\s*\^?\{?\d?\}?\s*\w*\s*\}\s*\{\s*\1\s*\w\s*(?:\^\{\d\})?\s*\}"
)
_LABEL = re.compile(
    r"(\\(?:Delta|vec|d?dot|bar|hat|overline|mathscr)(?![A-Za-z])\s*\{?\s*|)"
    r"(\\[A-Za-z]+|[^\W\d_]|\[[^\[\]]*\])\s*\}?"
    r"((?:\s*'|\s*[_^]\s*(?:\{[^{}]*\}|\\?[A-Za-z0-9]+))*)\s*(?:\((.*)\))?",
    re.DOTALL,
)
_CALL = re.compile(rf"\\?({FUNCTION_NAMES})(?![A-Za-z])\s*\(")
_BETWEEN_POINTS = re.compile(
    r"((?:m\s*)?\\angle(?![A-Za-z])|\\overline(?![A-Za-z])|\||)\s*\{?\s*((?:[A-Z]\s*){2,3})\}?\s*\|?"
)
_ANY_INDEX = re.compile(r"_\s*(\{[^{}]*\}|\\?[A-Za-z0-9]+)")
_OPERATION = re.compile(
    rf"[+*/^−-]|\\(?:frac|sqrt|times|angle|{FUNCTION_NAMES})(?![A-Za-z])|\d\s*[A-Za-z\\]|\|"
)
_LETTERS = re.compile(r"[a-z](?:\s*[a-z])?|abc|xyz|[a-z](?:\s+[a-z])+")
_SYMBOL_NAME = re.compile(r"\\?[A-Za-z]\w*(?:\s*_\s*\{[^{}]*\})?'*(?:\s*\(.*\))?")
_APPROXIMATION = 0.01
"""Relative difference of a value and the decimal that a response gives beside it."""
_IS_POWER = re.compile(r"\^\s*\{\s*(?![-(\\*])[^{}]*[\da-z]|(?<![A-Za-z])e\s*\^")
_FACTOR = r"(?:\\[A-Za-z]+|[A-Za-z])(?![A-Za-z])(?:\s*_\s*\{[^{}]*\})?"
_FACTORS = re.compile(rf"(?!d\s){_FACTOR}(?:\s*{_FACTOR})+")
_NOT_FACTORS = frozenset((r"\delta", r"\Delta", r"\partial", r"\ell"))
_POINTS = re.compile(r"[A-Z](?:\s*[A-Z])+")
_SYMBOLS_ONLY = re.compile(r"(?=[^{}]*[A-Z])(?:\s*\\?[A-Za-z](?:_\{\w+\})?)+\s*")
_DERIVATIVE = re.compile(r"\\frac\s*\{\s*(?:d|\\partial)\s*(?:\^\s*\{?(\d)\}?)?.*", re.DOTALL)
_ATOMS = r"(?:[CHNO](?:\s*_?\s*\{?\d\}?)?\s*)*"
_BOND = re.compile(rf"(?=.*C)(?=.*H)(?=.*\d){_ATOMS}")
"""A group of a structural formula, CH_2 of CH_2=CH_2."""
_BRACKETED = re.compile(r"([(\[]|\\\{)(.*)([)\]]|\\\})", re.DOTALL)


def same_bracketed(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Compare tuples and intervals with brackets and in order, sets in any order."""
    g, p = _BRACKETED.fullmatch(gold), _BRACKETED.fullmatch(pred)
    if g is None or p is None:
        return None
    entries = [part.text for part in by_comma(g.group(2))]
    parts = [part.text for part in by_comma(p.group(2))]
    if not entries and not parts:
        return None
    if g.group(1, 3) != p.group(1, 3) or len(entries) != len(parts):
        return False
    if g.group(1) == "\\{":
        return same_set(
            entries, parts, lambda a, b: _is_set_text(a) == _is_set_text(b) and is_same(a, b)
        )
    return all(is_same(e, x) for e, x in zip(entries, parts, strict=True))


def _is_set_text(text: str) -> bool:
    return text.startswith("\\{")


def same_relation(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Compare equations and inequalities; a plain name on the left can be omitted.

    If both have one and it is a symbol, it must be the same (`_same_label`).

    Inequalities must have the same signs and sides, in either direction. A chain a = b = c is
    compared by its last side, and by all sides if the prediction has as many.
    """
    (g, gold_signs), (p, pred_signs) = sides(gold), sides(pred)
    if not gold_signs and not pred_signs:
        return None
    if any(sign not in "=≈" for sign in (*gold_signs, *pred_signs)):
        flipped = [FLIPPED.get(sign, sign) for sign in reversed(pred_signs)]
        return (gold_signs == pred_signs and _all_same(g, p, is_same)) or (
            gold_signs == flipped and r"\in" not in flipped and _all_same(g, p[::-1], is_same)
        )
    g, p = (_without_approximation(*chain) for chain in ((g, gold_signs), (p, pred_signs)))
    if min(len(g), len(p)) == 1 < max(len(g), len(p)):
        value, chain = (g[0], p) if len(g) == 1 else (p[0], g)
        if _BOND.fullmatch(chain[0]) or _BOND.fullmatch(chain[-1]):
            return False
        if all(is_same(value, side) if len(g) == 1 else is_same(side, value) for side in chain):
            return True
    labels = [chain[0] for chain in (g, p) if len(_without_label(chain)) < len(chain)]
    if len(labels) == 2 and not _same_label(labels[0], labels[1], is_same):
        return _same_equation(g, p)
    values = _without_label(g), _without_label(p)
    if len(labels) == 1 and not all(map(_has_value, (g, p))):
        values = g, p
    equal = _all_same(*values, is_same) or (
        len(values[0]) != len(values[1])
        and min(map(len, values)) == 1
        and len(labels) > 0
        and values != (g, p)
        and is_same(g[-1], p[-1])
    )
    return equal or _same_equation(g, p)


def _without_approximation(chain: list[str], signs: list[str]) -> list[str]:
    """Drop a decimal after ≈ that approximates the value before it: √3/2 ≈ 0.866."""
    if len(chain) < 2 or signs[-1] != "≈":
        return chain
    exact, decimal = (value_at_samples(neutral(side, {})) for side in chain[-2:])
    close = exact and decimal and math.isclose(exact, decimal, rel_tol=_APPROXIMATION)
    return chain[:-1] if close else chain


def _same_equation(gold: Sequence[str], pred: Sequence[str]) -> bool:
    """Return whether one equation is the other rearranged or multiplied by a number."""
    if len(gold) != 2 or len(pred) != 2 or same_text(gold[0], pred[0]):
        return False
    gold_difference, pred_difference = (f"{left}-({right})" for left, right in (gold, pred))
    return (
        same_formula(gold_difference, pred_difference)
        or same_formula(gold_difference, f"{pred[1]}-({pred[0]})")
        or proportional(gold_difference, pred_difference)
        or _same_curve(gold, pred)
    )


def _same_curve(gold: Sequence[str], pred: Sequence[str]) -> bool:
    """Return whether one equation is the other in x, y, z solved for a coordinate: xy = 1."""
    found_names = symbols("=".join(gold)), symbols("=".join(pred))
    names = sorted(found_names[0])
    if found_names[0] != found_names[1] or not {"x", "y"} <= set(names) <= {"x", "y", "z"}:
        return False  # x = 1 is a part of (x - 1)(y - 1) = 0
    places = {name: place for place, name in enumerate(names)}
    programs = [readings(neutral(f"{left}-({right})", places)) for left, right in (gold, pred)]
    if not all(len(found) == 1 for found in programs):
        return False
    roots = [
        [solve_linear(found[0], place, point) for found in programs]
        for place in range(len(names))
        for point in POINTS
    ]
    solved = [pair for pair in roots if pair[0] and pair[1]]
    return len(solved) >= len(POINTS) and all(
        math.isclose(a[1], b[1], rel_tol=REL_TOLERANCE) for a, b in solved if a and b
    )


def _same_label(gold: str, pred: str, is_same: Equality) -> bool:
    r"""Return whether two left-hand sides can denote the same value: `\theta_1` is not `\theta_0`.

    Letter, accent, primes and power must agree, and an index or argument if both have one.
    Labels longer than a symbol ("the speed v", `MN`) are not compared.
    """
    points = [_BETWEEN_POINTS.fullmatch(label) for label in (gold, pred)]
    if points[0] and points[1]:
        return _name_points(points[0]) == _name_points(points[1])
    g, p = _LABEL.fullmatch(gold), _LABEL.fullmatch(pred)
    derivatives = [_DERIVATIVE.fullmatch(label) for label in (gold, pred)]
    if any(derivatives) and (all(derivatives) or g or p):
        orders = [_derivative_order(label) for label in (gold, pred)]
        return orders[0] == orders[1] and (not all(derivatives) or is_same(gold, pred))
    if g is None or p is None:
        joined = any(split_sides(label, JOINS.__contains__)[1] for label in (gold, pred))
        called = [found and found[1] for found in map(_CALL.match, (gold, pred))]
        return called[0] == called[1] and (not joined or is_same(gold, pred))
    names = [_bare(m.group(1) + m.group(2) + _ANY_INDEX.sub("", m.group(3))) for m in (g, p)]
    indices = [_bare("".join(_ANY_INDEX.findall(m.group(3)))) for m in (g, p)]
    if sorted(names) == ["f", "y"] and "x" in (g.group(4), p.group(4)):
        return True  # the graph y = f(x)
    if names[0] != names[1] or (all(indices) and not same_text(*indices)):
        return False
    return not (g.group(4) and p.group(4)) or is_same(g.group(4), p.group(4))


def _derivative_order(label: str) -> int:
    """Return the order of the derivative that a label denotes: 2 for y'' and d^2y/dx^2."""
    if match := _DERIVATIVE.fullmatch(label):
        return int(match[1] or 1)
    return label.count("'") or label.count(r"\dot") + 2 * label.count(r"\ddot")


def _name_points(label: re.Match[str]) -> tuple[str, ...]:
    """Return an angle or a line with its ends in order: CBA is ABC, BA is AB."""
    letters = re.sub(r"\s", "", label[2])
    first, last = sorted((letters[0], letters[-1]))
    return "angle" if "angle" in label[1] else "", first, letters[1:-1], last


def _bare(symbol: str) -> str:
    return re.sub(r"[\s\\{}]", "", symbol)


def sides(text: str) -> tuple[list[str], list[str]]:
    """Return the sides of a relation outside all brackets, and the signs between them."""
    texts, signs, start, depth = list[str](), list[str](), 0, 0
    for match in _RELATION_SIGN.finditer(text):
        mark = match.group()
        if mark in "{([":
            depth += 1
        elif mark in "})]":
            depth = max(0, depth - 1)
        elif depth == 0:
            texts.append(text[start : match.start()].strip())
            signs.append(mark)
            start = match.end()
    return [*texts, text[start:].strip()], signs


def _without_label(chain: list[str]) -> list[str]:
    """Drop a left-hand side that only labels the value: v, W_{min}, "the speed v", y^2."""
    name = chain[0]
    labelled = (
        len(chain) > 1
        and "!" not in name
        and not _is_product(name)
        and (
            _NAME.fullmatch(name)
            or (len(name) <= 60 and re.search("[^\\W\\d_]", name) and not _OPERATION.search(name))
        )
    )
    return chain[1:] if labelled else chain


def _is_product(name: str) -> bool:
    """Return whether a left-hand side is a product of symbols, not the two ends of a line."""
    if _POINTS.fullmatch(name) or len(name) < 2:
        return False
    commands = set(re.findall(r"\\[A-Za-z]+", name))
    greek = commands <= GREEK_LETTERS and not commands & _NOT_FACTORS
    return bool(_LETTERS.fullmatch(name) or (greek and _FACTORS.fullmatch(name)) or name == "pV")


def _has_value(chain: list[str]) -> bool:
    """Return whether a text states a value, so that its left side can be omitted.

    An equation is not its right side: a product of symbols (xy = 12, P_1 V_1 = P_2 V_2), a power
    (y^2 = 4x, e^x = 3) or a name that the other side contains (x = x^2 - 2) on the left has no
    value by itself. Two capitals are the ends of a line, AB = 2r, but not beside other letters
    alone: PV = nRT.
    """
    if len(chain) < 2:
        return True
    name = chain[0]
    if len(_without_label(chain)) == len(chain):
        return False
    if _IS_POWER.search(name):
        return False
    if _POINTS.fullmatch(name) and _SYMBOLS_ONLY.fullmatch(chain[-1]):
        return False
    symbol = symbols(re.sub(r"\(.*\)", "", name)) if _SYMBOL_NAME.fullmatch(name) else set[str]()
    return not symbol & symbols(chain[-1])


def _all_same(gold: Sequence[str], pred: Sequence[str], is_same: Equality) -> bool:
    return len(gold) == len(pred) and all(
        not g == p == "" and is_same(g, p) for g, p in zip(gold, pred, strict=True)
    )
