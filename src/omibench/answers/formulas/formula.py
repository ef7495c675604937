"""Equality of formulas, with a LaTeX parser only for texts it can decide."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from omibench.answers.formulas.latex import squash
from omibench.answers.formulas.operators import is_ordered, name_products, same_in_order
from omibench.answers.formulas.symbolic import symbolically_equal
from omibench.answers.names import is_name, is_numbered
from omibench.answers.quantities.units import parse_unit

_NAMES = "sin|cos|tan|cot|arcsin|arccos|arctan|ln|log|exp|sinh|cosh|tanh"
_TOKEN = re.compile(
    rf"\\(?:{_NAMES}|frac|sqrt|pi|times|cdot)(?![A-Za-z])"
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
_FACTORIAL = re.compile(r"(?<![\w.!)}])(1?\d)\s*!(?!!)")
_SIGMA = re.compile(r"\\Sigma(?=\s*\{)")
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
    if symbols(gold) != symbols(pred) or _marks(gold) != _marks(pred) or _are_names(gold, pred):
        return False
    # An index on a number is its base: 101_2.
    if re.search(r"\d_\{", gold + pred):
        return False
    places = {symbol: place for place, symbol in enumerate(sorted(symbols(gold)))}
    gold, pred = neutral(gold, places), neutral(pred, places)
    # A remaining prime after a digit or bracket is a unit: 30' is minutes of arc.
    return "'" not in gold + pred and symbolically_equal(gold, pred)


def _are_names(gold: str, pred: str) -> bool:
    return (is_name(gold) and is_name(pred)) or is_numbered(gold) or is_numbered(pred)


def _index_first(text: str) -> str:
    """Move the index of a symbol before its power, r_{0}^{2}; read a sigma with braces as a sum."""
    return _POWER_FIRST.sub(r"\2\1", _SIGMA.sub(r"\\sum", text)).strip()


def _compute_counts(text: str) -> str:
    """Replace small factorials and binomial coefficients of numbers by their values."""
    if "!" not in text and "binom" not in text:
        return text
    text = _BINOMIAL.sub(lambda m: str(math.comb(int(m.group(1)), int(m.group(2)))), text)
    return _FACTORIAL.sub(lambda m: str(math.factorial(int(m.group(1)))), text)


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


def neutral(text: str, places: dict[str, int]) -> str:
    """Rename the symbols of a formula to x_{0}, x_{1}, ...

    A parser reads `E`, `I` and `S` as constants and can read `M` as `m`; in physics they are names.
    """

    def rename(match: re.Match[str]) -> str:
        if match["word"]:
            return f"\\{match['word']}"
        if match["symbol"] in _OPERATORS and not match["index"]:
            return match.group()
        place = places.get(_symbol(match)) if match["symbol"] else None
        return match.group() if place is None else f" x_{{{place}}} "

    return " ".join(_TOKEN.sub(rename, text).replace("°", " ").split())


def without_unit(text: str) -> str:
    """Return the formula without a trailing known unit."""
    match = _ENDS_IN_UNIT.fullmatch(text)
    return match.group(1) if match and parse_unit(match.group(2)) else text


def _symbol(match: re.Match[str]) -> str:
    name = re.sub(r"\s", "", match["symbol"])
    angle = re.fullmatch(r"\\angle([A-Z])([A-Z])([A-Z])", name)
    if angle:
        first, vertex, last = angle.groups()
        name = rf"\angle{min(first, last)}{vertex}{max(first, last)}"
    index = re.sub(r"[\s']", "", match["index"])
    return name + "'" * match["index"].count("'") + index
