"""Equality of formulas, with a LaTeX parser only for texts it can decide."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

from glyphtex import lazy_re as re
from omibench.answers.formulas.latex import squash
from omibench.answers.formulas.machine import FUNCTIONS, OF_TWO
from omibench.answers.formulas.operators import is_ordered, name_products, same_in_order
from omibench.answers.formulas.samples import (
    agree_at_integers,
    differ_by_constant,
    same_at_samples,
)
from omibench.answers.formulas.symbolic import MAX_CHARS, same_calculus, symbolically_equal
from omibench.answers.multipart import is_name, is_numbered
from omibench.answers.units import parse_unit

FUNCTION_NAMES = "|".join((*FUNCTIONS, *OF_TWO))
_TOKEN = re.compile(
    rf"\\(?:{FUNCTION_NAMES}|frac|sqrt|pi|times|cdot|[dt]?binom|bmod|[lr]floor|[lr]ceil)(?![A-Za-z])"
    r"|\\(?:sum|prod)(?=\s*_\s*\{\s*\\?[A-Za-z]+\s*=)"
    rf"|(?P<word>\b(?:{FUNCTION_NAMES})\b)"
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
_INTEGER_PART = re.compile(r"\\l(?:floor|ceil)(?![A-Za-z])")
INTEGER_LETTERS = frozenset("ijklmnpqMN")
"""Letters that denote an integer without a word on it."""
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
    if _are_names(gold, pred) or any(map(_NOT_A_VALUE.search, (gold, pred))):
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
    if _INTEGER_PART.search(gold + pred) and set(names) <= INTEGER_LETTERS:
        return agree_at_integers(*pair)
    if equal is False or symbols(gold) != symbols(pred) or _marks(gold) != _marks(pred):
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
