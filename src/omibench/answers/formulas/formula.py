"""Equality of formulas, and of sets of numbers written as formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from glyphtex import lazy_re as re
from glyphtex.latex.signs import list_words
from omibench.answers.formulas.latex import same_text, squash
from omibench.answers.formulas.reader import (
    POINTS,
    REL_TOLERANCE,
    differ_by_constant,
    readings,
    same_at_samples,
    solve_linear,
    value_at_samples,
)
from omibench.answers.formulas.symbolic import MAX_CHARS, same_calculus, symbolically_equal
from omibench.answers.multipart import by_comma, is_name, is_numbered
from omibench.answers.units import parse_unit

# Operators whose operands are ordered: p \to q, A \subset B, f \circ g, a \times b.
#
# A parser of products would read an unknown command as a factor, and factors commute. So only the
# commands in `SYMBOLS` are factors; for all others the sides are compared in order.

Equality = Callable[[str, str], bool]

_GREEK = """alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa varkappa
lambda mu nu xi pi varpi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta
Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega hbar hslash ell partial emptyset aleph imath jmath
"""
_COMMANDS = """sin cos tan cot sec csc cosec arcsin arccos arctan arccot sinh cosh tanh coth sech
csch arcsinh arccosh arctanh ln log lg exp frac sqrt times binom lfloor rfloor lceil rceil max min
gcd lcm semifactorial bmod sum prod int iint oint lim angle triangle vec dot ddot bar hat overline
tilde overrightarrow mathscr scalarproduct vectorproduct"""
_GREEK_LETTERS = frozenset(f"\\{name}" for name in _GREEK.split())
SYMBOLS = frozenset(f"\\{name}" for name in (_GREEK + _COMMANDS).split())
r"""Commands that denote a value, and commands known to the formula reader (`\frac`)."""
_RELATIONS = list_words(r"""\to \mapsto \longmapsto \leftarrow \longleftarrow \gets \Leftarrow \iff
\implies \impliedby \Longrightarrow \Longleftarrow \Leftrightarrow \Longleftrightarrow
\hookrightarrow \rightleftharpoons \leadsto \subset \subseteq \subsetneq \supset \supseteq
\supsetneq \in \notin \ni \vdash \dashv \models \prec \succ \preceq \succeq \ll \gg \lesssim
\gtrsim \cong \perp \parallel \nmid \leq \geq \neq \equiv \propto
← ⇐ ⇔ ↦ ∈ ∉ ∋ ⊂ ⊃ ⊆ ⊇ ⊢ ⊨ ≺ ≻ ≪ ≫ ≅ ⊥ ∥""")
_JOINS = list_words(r"\cap \cup \land \lor \vee \wedge \oplus \setminus ∩ ∪ ∧ ∨ ⊕ ∖")
_COMMUTE = list_words(r"""\cap \cup \land \lor \vee \oplus \iff \Leftrightarrow \Longleftrightarrow
\cong \perp \parallel \neq \equiv ∩ ∪ ∨ ⊕ ⇔ ≅ ⊥ ∥""")
_TURNED = [
    (r"\to", r"\leftarrow"), (r"\to", r"\gets"), (r"\to", r"\Leftarrow"), (r"\subset", r"\supset"),
    (r"\implies", r"\impliedby"), (r"\subseteq", r"\supseteq"), (r"\in", r"\ni"),
    (r"\prec", r"\succ"), (r"\ll", r"\gg"),
]  # fmt: skip
_FLIP = frozenset(_TURNED) | frozenset((b, a) for a, b in _TURNED)
_SIGN = re.compile(
    r"\\[{}]|[{(\[]|[})\]]|\\[A-Za-z]+|[+-]|[←⇐⇔↦∈∉∋⊂⊃⊆⊇⊢⊨≺≻≪≫≅⊥∥∩∪∧∨⊕⊗∖∘¬]"
    r"|(?<=[A-Za-z)}'])\s*°(?=\s*[A-Za-z\\({])"
)
_INDEX = re.compile(r"_\s*\{[^{}]*\}")

_ATOM = (
    r"\\(?:nabla(?![A-Za-z])|(?:vec|overrightarrow|hat)\s*"
    r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|[A-Za-z]))(?:\s*_\s*\{[^{}]*\})?"
)
_PRODUCT = re.compile(rf"({_ATOM})\s*([×⋅])\s*({_ATOM})")
_ANY_VECTOR = rf"(?:{_ATOM}|\\vectorproduct_\{{[^{{}}]*\}})"
_LEFT_OVER = re.compile(rf"⋅|(?:{_ANY_VECTOR}|\))\s*×\s*(?:{_ANY_VECTOR}|\()")


def name_products(text: str) -> str:
    r"""Replace each product of two vectors in a tidied formula by an ordered symbol."""

    def name_product(match: re.Match[str]) -> str:
        left, sign, right = (re.sub(r"[\s{}\\]", "", group) for group in match.groups())
        if sign == "⋅" and "nabla" not in (left, right):
            left, right = sorted((left, right))
        kind = "scalar" if sign == "⋅" else "vector"
        return rf" \{kind}product_{{{left},{right}}} "

    return _PRODUCT.sub(name_product, text) if "⋅" in text or "×" in text else text


def same_in_order(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Return whether two formulas have equal sides around the same operators.

    None if neither has an operator. Relations bind last, then joins such as a union, then sums.
    An operator inside brackets, or a product of vectors without a name, makes them different.
    """
    if _has_unnamed_product(gold) or _has_unnamed_product(pred):
        return False
    if not any(map(_is_operator, _signs(gold) | _signs(pred))):
        return None
    for level in (_RELATIONS.__contains__, _JOINS.__contains__, _is_sum, _is_operator):
        (g, gold_signs), (p, pred_signs) = _sides(gold, level), _sides(pred, level)
        if gold_signs or pred_signs:
            return _same_sides((g, gold_signs), (p, pred_signs), is_same)
    return False


def is_ordered(text: str) -> bool:
    """Return whether a formula has an operator or product whose sides do not commute."""
    return (
        "product_" in name_products(text)
        or _has_unnamed_product(text)
        or any(map(_is_operator, _signs(text)))
    )


def same_set(entries: Sequence[str], parts: Sequence[str], is_same: Equality) -> bool:
    """Return whether entries and parts match one to one, in any order."""
    remaining = list(parts)
    for entry in entries:
        hit = next((part for part in remaining if is_same(entry, part)), None)
        if hit is None:
            return False
        remaining.remove(hit)
    return not remaining


Sides = tuple[list[str], list[str]]


def _same_sides(gold: Sides, pred: Sides, is_same: Equality) -> bool:
    (g, gold_signs), (p, pred_signs) = gold, pred

    def equal(a: str, b: str) -> bool:
        if not a or not b or a.startswith("{"):  # the braces of an unknown command
            return a == b or same_text(a, b)
        mixed = gold_signs[0] in _JOINS and (_sides(a, _is_sum)[1] or _sides(b, _is_sum)[1])
        return same_text(a, b) if mixed else is_same(a, b)

    if len(g) == len(p) == 2 and (gold_signs[0], pred_signs[0]) in _FLIP:
        return equal(g[0], p[1]) and equal(g[1], p[0])
    if gold_signs != pred_signs:
        return False
    if len(set(gold_signs)) == 1 and gold_signs[0] in _COMMUTE:
        return same_set(g, p, equal)
    return all(map(equal, g, p))


def _is_operator(sign: str) -> bool:
    return sign not in SYMBOLS and sign not in "+-{}()[]\\{\\}"


def _is_sum(sign: str) -> bool:
    return sign in ("+", "-")


def _signs(text: str) -> set[str]:
    return {match.group().strip() for match in _SIGN.finditer(_INDEX.sub("", text))}


def _sides(text: str, level: Callable[[str], bool]) -> Sides:
    """Split one level outside all brackets into operands and signs."""
    sides, signs, start, depth = list[str](), list[str](), 0, 0
    for match in _SIGN.finditer(text):
        sign = match.group().strip()
        if sign[-1] in "{([":
            depth += 1
        elif sign[-1] in "})]":
            depth -= 1
        elif depth == 0 and level(sign):
            sides.append(text[start : match.start()].strip())
            signs.append(sign)
            start = match.end()
    return [*sides, text[start:].strip()], signs


def _has_unnamed_product(text: str) -> bool:
    return ("⋅" in text or "×" in text) and _LEFT_OVER.search(name_products(text)) is not None


# Equality of formulas, with a LaTeX parser only for texts it can decide.

_NAMES = (
    "sin|cos|tan|cot|sec|csc|cosec|arcsin|arccos|arctan|arccot|ln|log|lg|exp|sinh|cosh|tanh|coth|sech"
    "|csch|arcsinh|arccosh|arctanh|max|min|gcd|lcm|semifactorial"
)
_TOKEN = re.compile(
    rf"\\(?:{_NAMES}|frac|sqrt|pi|times|cdot|[dt]?binom|bmod|[lr]floor|[lr]ceil)(?![A-Za-z])"
    r"|\\(?:sum|prod)(?=\s*_\s*\{\s*\\?[A-Za-z]+\s*=)"
    rf"|(?P<word>\b(?:{_NAMES})\b)"
    r"|(?P<symbol>\\(?:angle|triangle)(?:\s*[A-Z]){1,4}(?![a-z])"
    r"|\\(?:overrightarrow|vec)\s*\{\s*[A-Z]\s*[A-Z]\s*\}|\\[A-Za-z]+|[^\W\d_])"
    r"\s*(?P<index>'*(?:\s*_\{[^{}]*\})?'*)"
)
_ENDS_IN_UNIT = re.compile(
    r"(.*?[\d})°])\s*((?:\\[A-Za-z]+\s*)?[A-Za-z°%][^(){}]*(?:\^\{-?\d\})?)", re.DOTALL
)
_OPERATORS = frozenset(
    rf"\{name}"
    for name in "sum prod int oint vec dot ddot bar hat overline tilde overrightarrow".split()  # noqa: SIM905
)
_BOTH_OR_NONE = ("±", "∞", "!", "%", "...", "|", r"\to", ",", "<", ">", "=")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_BINOMIAL = re.compile(r"\\[dt]?binom\s*\{\s*(\d{1,2})\s*\}\s*\{\s*(\d{1,2})\s*\}")
_DOUBLE_FACTORIAL = re.compile(r"(?<![\w.)}])(\d+|[a-z]|\([^()]*\))\s*!\s*!(?!\s*!)")
_FACTORIAL = re.compile(r"(?<![\w.)}])(1?\d)\s*!(?!\s*!)")
_RECURRING = re.compile(
    r"(?<![\d.])(\d*)\.(\d*?)(?:\\overline\s*\{\s*(\d{1,12})\s*\}|\(\s*(\d{1,12})\s*\)"
    r"|\\dot\s*\{?\s*(\d)\s*\}?(?:(\d*)\s*\\dot\s*\{?\s*(\d)\s*\}?)?"
    r"|(?:(\d)\8{2,}|(\d{2,6}?)\9+)\s*\.\.\.)"
)
_CONSTANT = re.compile(
    r"(.*[xytuvz\d)}|].*?)\s*\+\s*(?:C|c|K|k|const)(?:\s*_\{\d\})?|(?:C|c|K|k)(?:\s*_\{\d\})?\s*\+\s*(.*[xytuvz].*)",
    re.DOTALL,
)
_IS_C = re.compile(r"(?<![A-Za-z\\])(?:C|const)(?![A-Za-z])")
_CALCULUS = re.compile(
    r"\\int(?![A-Za-z])|\\lim(?![A-Za-z])|\\frac\s*\{\s*d\s*\}\s*\{\s*d\s*[a-z]\s*\}|∞"
)
_COMBINATIONS = re.compile(
    r"C\s*_\{([^{}]{1,8})\}\s*\^\{([^{}]{1,8})\}|(?:\{\s*\}\s*)?[_^]\{(\d{1,3}|n)\}\s*C\s*_\{([^{}]{1,8})\}"
    r"|(?<![A-Za-z\\])C\s*\(\s*(\d{1,3}|n)\s*,\s*(\d{1,3}|[a-z])\s*\)"
)
_NOT_A_VALUE = re.compile(r"\d_\{|\\emptyset")
"""A number in another base (101_2), and a set."""
_SIGMA = re.compile(r"\\Sigma(?=\s*\{)")
_ANGLE = re.compile(r"\\angle([A-Z])([A-Z])([A-Z])")
_POWER_FIRST = re.compile(r"(\^\s*\{[^{}]*\})\s*(_\s*\{[^{}]*\})")


def same_formula(gold: str, pred: str) -> bool:
    """Return whether two tidied formulas are equal; either can have a trailing unit.

    Both must contain the same symbols (`R` is not `r`, `I_{0}` is not `I_{1}`) and agree on ±, ∞
    and similar signs, because a parser that drops one of these must not decide. Names and
    sequences are equal only as texts; ratios are compared term by term.
    """
    gold, pred = (name_products(_compute_counts(_index_first(text))) for text in (gold, pred))
    if ":" in gold or ":" in pred:
        terms, pred_terms = gold.split(":"), pred.split(":")
        return len(terms) == len(pred_terms) and all(map(same_formula, terms, pred_terms))
    if symbols(gold) != symbols(pred):
        pred = without_unit(pred)
    if symbols(gold) != symbols(pred):
        gold = without_unit(gold)
    if squash(gold) == squash(pred):
        return squash(gold) != ""
    in_order = same_in_order(gold, pred, same_formula)
    if in_order is not None:
        return in_order
    if _are_names(gold, pred) or _NOT_A_VALUE.search(gold + pred):
        return False
    return _same_up_to_constant(gold, pred) or _same_value(gold, pred)


def _same_up_to_constant(gold: str, pred: str) -> bool:
    """Compare two antiderivatives, each with a constant; that of the gold answer is called C."""
    if not _IS_C.search(gold):
        return False
    rest = _without_constant(gold), _without_constant(pred)
    if rest[0] and rest[1]:
        names = sorted(symbols(rest[0]) | symbols(rest[1]))
        places = {symbol: place for place, symbol in enumerate(names)}
        return differ_by_constant(neutral(rest[0], places), neutral(rest[1], places))
    return False


def _same_value(gold: str, pred: str) -> bool:
    r"""Compare two formulas by value: degrees, `i` and `C_n^k` have two readings each.

    A formula that only a parser in a worker reads must have the same symbols and signs.
    """
    names = sorted(symbols(gold) | symbols(pred))
    places = {symbol: place for place, symbol in enumerate(names)}
    if _CALCULUS.search(gold) or _CALCULUS.search(pred):
        return same_calculus(gold, pred)
    pair = neutral(gold, places), neutral(pred, places)
    # A remaining prime after a digit or bracket is a unit: 30' is minutes of arc.
    if any("'" in text for text in pair):
        return False
    equal = same_at_samples(*pair)
    if equal or any(same_at_samples(*other) for other in _other_readings(gold, pred, places)):
        return True
    if equal is False:
        return False
    if symbols(gold) != symbols(pred) or _marks(gold) != _marks(pred):
        return False
    return symbolically_equal(*pair)


def _other_readings(gold: str, pred: str, places: dict[str, int]) -> Iterator[tuple[str, str]]:
    both = gold + pred
    degrees = gold.replace("°", r" \degree "), pred.replace("°", r" \degree ")
    if "°" in both:
        yield neutral(degrees[0], places), neutral(degrees[1], places)
    if "i" in places and not re.search(r"_\s*\{\s*i\s*=", both):
        real = {symbol: place for symbol, place in places.items() if symbol != "i"}
        yield neutral(gold, real, True), neutral(pred, real, True)
        if "°" in both:
            yield neutral(degrees[0], real, True), neutral(degrees[1], real, True)
    if _COMBINATIONS.search(both):
        chosen = (_COMBINATIONS.sub(r"\\binom{\1\3\5}{\2\4\6}", text) for text in (gold, pred))
        first, second = (neutral(text, places) for text in chosen)
        yield first, second


def _without_constant(text: str) -> str | None:
    """Return an antiderivative without its constant: x^2 of x^2 + C; None if it has none."""
    match = _CONSTANT.fullmatch(text.strip()) if len(text) <= MAX_CHARS else None
    return match and (match.group(1) or match.group(2))


def _are_names(gold: str, pred: str) -> bool:
    return (is_name(gold) and is_name(pred)) or is_numbered(gold) or is_numbered(pred)


def _index_first(text: str) -> str:
    """Move the index of a symbol before its power, r_{0}^{2}; read a sigma with braces as a sum."""
    if r"\Sigma" in text:
        text = _SIGMA.sub(r"\\sum", text)
    if "^" in text and "_" in text:
        text = _POWER_FIRST.sub(r"\2\1", text)
    return text.strip()


def _compute_counts(text: str) -> str:
    """Replace recurring decimals, small factorials and binomial coefficients by their values."""
    if "." in text and any(sign in text for sign in ("overline", "(", "dot", "...")):
        text = _RECURRING.sub(_write_recurring, text)
    if "!" not in text and "binom" not in text:
        return text
    text = _DOUBLE_FACTORIAL.sub(r" \\semifactorial(\1)", text)
    text = _BINOMIAL.sub(lambda m: str(math.comb(int(m.group(1)), int(m.group(2)))), text)
    return _FACTORIAL.sub(lambda m: f"({math.factorial(int(m.group(1)))})", text)


def _write_recurring(match: re.Match[str]) -> str:
    r"""Return 0.1\overline{6} as \frac{15}{90}."""
    whole, fixed, *repeats = match.groups(default="")
    repeat = "".join(repeats)
    top = int(f"0{whole}{fixed}{repeat}") - int(f"0{whole}{fixed}")
    return rf"\frac{{{top}}}{{{'9' * len(repeat)}{'0' * len(fixed)}}}"


def _marks(text: str) -> list[bool]:
    text = _THOUSANDS.sub("", text)
    return [mark in text for mark in _BOTH_OR_NONE]


def proportional(gold: str, pred: str) -> bool:
    """Return whether one formula is a constant multiple of the other: f(x) g(y) for all x and y."""
    gold, pred = _index_first(gold), _index_first(pred)
    names = symbols(gold)
    if (
        is_ordered(gold)
        or not names
        or names != symbols(pred)
        or any(m in gold + pred for m in _BOTH_OR_NONE)
    ):
        return False
    places = {symbol: place for place, symbol in enumerate(sorted(names))}
    other_places = {symbol: place + len(places) for symbol, place in places.items()}
    f, g = neutral(gold, places), neutral(pred, places)
    other_f, other_g = neutral(gold, other_places), neutral(pred, other_places)
    return symbolically_equal(f"({f})({other_g})", f"({other_f})({g})")


@lru_cache(maxsize=4096)
def symbols(text: str) -> set[str]:
    """Return the symbols of a formula with their indices and primes, without the constant e."""
    return {_symbol(m) for m in _TOKEN.finditer(text) if m["symbol"]} - {"e"}


def neutral(text: str, places: dict[str, int], complex_i: bool = False) -> str:
    """Rename the symbols of a formula to x_{0}, x_{1}, ...

    A parser reads `E`, `I` and `S` as constants and can read `M` as `m`; in physics they are names.
    With `complex_i`, `i` is the imaginary unit.
    """

    def rename(match: re.Match[str]) -> str:
        if match["word"]:
            return f"\\{match['word']}"
        if match["symbol"] in _OPERATORS and not match["index"]:
            return match.group()
        symbol = _symbol(match) if match["symbol"] else ""
        if complex_i and symbol == "i":
            return r" \imaginary "
        place = places.get(symbol)
        return match.group() if place is None else f" x_{{{place}}} "

    return " ".join(_TOKEN.sub(rename, text).replace("°", " ").split())


def rename_symbols(text: str, names: dict[str, str]) -> str:
    """Return a tidied formula with other names for some of its symbols."""
    return _TOKEN.sub(
        lambda m: f" {names[_symbol(m)]} " if m["symbol"] and _symbol(m) in names else m.group(),
        text,
    )


def without_unit(text: str) -> str:
    """Return the formula without a trailing known unit."""
    match = _ENDS_IN_UNIT.fullmatch(text)
    if match is None or text.lstrip()[:1] in "^_":  # the C of ^{14}C is not coulomb
        return text
    return match.group(1) if parse_unit(match.group(2)) else text


def _symbol(match: re.Match[str]) -> str:
    if not match["index"] and len(match["symbol"]) == 1:
        return match["symbol"]
    name = "".join(match["symbol"].split())
    angle = _ANGLE.fullmatch(name) if name.startswith(r"\angle") else None
    if angle:
        first, vertex, last = angle.groups()
        name = rf"\angle{min(first, last)}{vertex}{max(first, last)}"
    index = re.sub(r"[\s']", "", match["index"])
    return name + "'" * match["index"].count("'") + index


# Sets of numbers as intervals or inequalities: (0, 1] is 0 < x <= 1.

_UNION = re.compile(r"\\cup(?![A-Za-z])|∪|\sor\s|\sU\s")
_MEMBER = re.compile(r"^\s*\\?[A-Za-z](?:_\{\w+\})?\s*(?:\\in(?![A-Za-z])|∈)\s*")
_BRACKETS = re.compile(r"([(\[\]])(.*)([)\]\[])", re.DOTALL)
_COMPARISON_SIGN = re.compile(r"\\leq(?![A-Za-z])|\\geq(?![A-Za-z])|[<>]")
_VARIABLE = re.compile(r"\\?[A-Za-z]+(?:\s*_\{\s*\w+\s*\})?(?:\s*\(\w+\))?|[A-Z](?:\s?[A-Z])")
_MINUS = re.compile(r"-\s*∞")
_NOT_AN_END = re.compile(r"[=,≈;]|\\neq(?![A-Za-z])|\s(?:and|or)\s")
FLIPPED = {"<": ">", ">": "<", r"\leq": r"\geq", r"\geq": r"\leq"}
"""The sign of an inequality read from the other side."""


class Interval(NamedTuple):
    """Both ends ("" if infinite), whether they are included, and the variable's name."""

    low: str
    low_closed: bool
    high: str
    high_closed: bool
    variable: str


def same_intervals(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Return whether two tidied texts are the same union of intervals; None for other texts.

    Applies only if one text has a union, an infinite end or a half-open bracket, or if the two
    differ in kind: a pair (1, 2) can be a point.
    """
    g, p = intervals(gold), intervals(pred)
    if g is None or p is None or not (_is_set(gold, p) or _is_set(pred, g)):
        return None
    named = {i.variable for i in (*g, *p) if i.variable}
    if len(g) != len(p) or len(named) > 1:
        return False
    remaining = list(p)
    for interval in g:
        hit = next(
            (candidate for candidate in remaining if _same_interval(interval, candidate, is_same)),
            None,
        )
        if hit is None:
            return False
        remaining.remove(hit)
    return True


def _is_set(text: str, intervals_beside: list[Interval]) -> bool:
    written = _UNION.search(text) or "∞" in text or re.search(r"^\s*(?:\[.*\)|\(.*\])$", text)
    return bool(written) or any(interval.variable for interval in intervals_beside)


def _same_interval(gold: Interval, pred: Interval, is_same: Equality) -> bool:
    ends = ((gold.low, pred.low), (gold.high, pred.high))
    closed = (gold.low_closed, gold.high_closed) == (pred.low_closed, pred.high_closed)
    return closed and all(a == b == "" or (a and b and is_same(a, b)) for a, b in ends)


def intervals(text: str) -> list[Interval] | None:
    """Return the intervals of a union in order; None if a piece is not one or an inequality."""
    if len(text) > 300:
        return None
    pieces = [piece.strip() for piece in _UNION.split(text)]
    readings = [_read_brackets(piece) or _inequality(piece) for piece in pieces]
    readable = [interval for interval in readings if interval]
    return readable if len(readable) == len(readings) else None


def _read_brackets(text: str) -> Interval | None:
    match = _BRACKETS.fullmatch(_MEMBER.sub("", text).strip())
    entries = [part.text for part in by_comma(match.group(2))] if match else []
    if match is None or len(entries) != 2:
        return None
    if entries[0].strip() in ("∞", "+∞") or _MINUS.fullmatch(entries[1].strip()):
        return None
    low, high = (_end(entry) for entry in entries)
    return Interval(low, match.group(1) == "[", high, match.group(3) == "]", "")


def _inequality(text: str) -> Interval | None:
    """Parse x < 3, -1 < x <= 3 or 3 > x, in which the variable is a plain name."""
    signs = _COMPARISON_SIGN.findall(text)
    sides = [side.strip() for side in _COMPARISON_SIGN.split(text)]
    if not 1 <= len(signs) <= 2 or any(not side or _NOT_AN_END.search(side) for side in sides):
        return None
    if signs[0] in (">", r"\geq"):
        sides, signs = sides[::-1], [FLIPPED[sign] for sign in reversed(signs)]
    names = [_VARIABLE.fullmatch(side) is not None for side in sides]
    if any(sign not in ("<", r"\leq") for sign in signs) or sum(names) != 1:
        return None
    at, ends = names.index(True), [_end(side) for side in sides]
    if len(sides) == 3 and at != 1:
        return None
    closed = [sign == r"\leq" for sign in signs]
    low, low_closed = (ends[0], closed[0]) if at > 0 else ("", False)
    high, high_closed = (ends[-1], closed[-1]) if at + 1 < len(sides) else ("", False)
    return Interval(low, low_closed, high, high_closed, _name(sides[at]))


def _end(text: str) -> str:
    plain = text.strip().lstrip("+").strip()
    return "" if plain == "∞" or _MINUS.fullmatch(plain) else text.strip()


def _name(text: str) -> str:
    return re.sub(r"\s", "", text)


# Equations, inequalities, tuples, intervals and sets, compared side by side.
#
# Every function returns None if the texts are of another kind.

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
_BETWEEN_POINTS = re.compile(
    r"((?:m\s*)?\\angle(?![A-Za-z])|\\overline(?![A-Za-z])|\||)\s*\{?\s*((?:[A-Z]\s*){2,3})\}?\s*\|?"
)
_ANY_INDEX = re.compile(r"_\s*(\{[^{}]*\}|\\?[A-Za-z0-9]+)")
_OPERATION = re.compile(
    rf"[+*/^−-]|\\(?:frac|sqrt|times|angle|{_NAMES})(?![A-Za-z])|\d\s*[A-Za-z\\]|\|"
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
    names = sorted(symbols("".join(gold)) | symbols("".join(pred)))
    if not {"x", "y"} <= set(names) <= {"x", "y", "z"}:
        return False
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
        joined = any(_sides(label, _JOINS.__contains__)[1] for label in (gold, pred))
        return not joined or is_same(gold, pred)
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
    greek = commands <= _GREEK_LETTERS and not commands & _NOT_FACTORS
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
