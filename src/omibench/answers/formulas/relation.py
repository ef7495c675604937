"""Equations, inequalities, tuples, intervals and sets, compared side by side.

Every function returns None if the texts are of another kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from omibench.answers.formulas.formula import proportional, same_formula
from omibench.answers.formulas.intervals import FLIPPED
from omibench.answers.formulas.latex import same_text
from omibench.answers.formulas.operators import Equality, same_set
from omibench.answers.parts import by_comma

_SIGN = re.compile(r"[{(\[]|[})\]]|\\(?:leq|geq|neq|in|equiv|propto)(?![A-Za-z])|[<>≈=]")
_NAME = re.compile(
    r"\\?[^\W\d]+(?:\s*[_^]\s*\{[^{}]*\}|\{[^{}]*\}|')*(?:\s*\([^()=+*/-]*\))?"
    r"|\\(?:vec|dot|overline|bar|hat|Delta|angle|triangle|mathscr)\s*\S[^=+*/-]{0,24}|[A-Z][A-Z\s]{0,6}"
)
_LABEL = re.compile(
    r"(\\(?:Delta|vec|d?dot|bar|hat|overline|mathscr)(?![A-Za-z])\s*\{?\s*|)"
    r"(\\[A-Za-z]+|[^\W\d_]|\[[^\[\]]*\])\s*\}?"
    r"((?:\s*'|\s*[_^]\s*(?:\{[^{}]*\}|\\?[A-Za-z0-9]+))*)\s*(?:\((.*)\))?",
    re.DOTALL,
)
_INDEX = re.compile(r"_\s*(\{[^{}]*\}|\\?[A-Za-z0-9]+)")
_OPERATION = re.compile(r"[+*/^−-]|\\(?:frac|sqrt|times|angle)|\d\s*[A-Za-z\\]")
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
        return same_set(entries, parts, is_same)
    return all(is_same(e, x) for e, x in zip(entries, parts, strict=True))


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
    equations = g, p
    labels = [chain[0] for chain in (g, p) if len(chain) > 1 and chain != _without_name(chain)]
    if len(labels) == 2 and not _same_label(labels[0], labels[1], is_same):
        return _same_equation(*equations)
    g, p = _without_name(g), _without_name(p)
    if len(g) == len(p):
        equal = _all_same(g, p, is_same)
    else:
        equal = (len(g) == 1 or len(p) == 1) and is_same(g[-1], p[-1])
    return equal or _same_equation(*equations)


def _same_equation(gold: Sequence[str], pred: Sequence[str]) -> bool:
    """Return whether one equation is the other rearranged or multiplied by a number."""
    if len(gold) != 2 or len(pred) != 2 or same_text(gold[0], pred[0]):
        return False
    gold_difference, pred_difference = (f"{left}-({right})" for left, right in (gold, pred))
    return (
        same_formula(gold_difference, pred_difference)
        or same_formula(gold_difference, f"{pred[1]}-({pred[0]})")
        or proportional(gold_difference, pred_difference)
    )


def _same_label(gold: str, pred: str, is_same: Equality) -> bool:
    r"""Return whether two left-hand sides can denote the same value: `\theta_1` is not `\theta_0`.

    Letter, accent, primes and power must agree, and an index or argument if both have one.
    Labels longer than a symbol ("the speed v", `MN`) are not compared.
    """
    g, p = _LABEL.fullmatch(gold), _LABEL.fullmatch(pred)
    if g is None or p is None:
        return True
    names = [_bare(m.group(1) + m.group(2) + _INDEX.sub("", m.group(3))) for m in (g, p)]
    indices = [_bare("".join(_INDEX.findall(m.group(3)))) for m in (g, p)]
    if names[0] != names[1] or (all(indices) and not same_text(*indices)):
        return False
    return not (g.group(4) and p.group(4)) or is_same(g.group(4), p.group(4))


def _bare(symbol: str) -> str:
    return re.sub(r"[\s\\{}]", "", symbol)


def sides(text: str) -> tuple[list[str], list[str]]:
    """Return the sides of a relation outside all brackets, and the signs between them."""
    texts, signs, start, depth = list[str](), list[str](), 0, 0
    for match in _SIGN.finditer(text):
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


def _without_name(chain: list[str]) -> list[str]:
    """Drop a left-hand side that only labels the value: v, W_{min}, "the speed v"."""
    if len(chain) < 2:
        return chain
    name = chain[0]
    named = _NAME.fullmatch(name) or (len(name) <= 60 and not _OPERATION.search(name))
    return chain[1:] if named else chain


def _all_same(gold: Sequence[str], pred: Sequence[str], is_same: Equality) -> bool:
    return len(gold) == len(pred) and all(
        not g == p == "" and is_same(g, p) for g, p in zip(gold, pred, strict=True)
    )
