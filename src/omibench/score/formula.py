"""Are two formulas the same mathematics? Asked of math-verify only where it can tell."""

from __future__ import annotations

import re

from omibench.score.latex import squash
from omibench.score.symbolic import symbolically_equal
from omibench.score.units import parse_unit

_FUNCTIONS = re.compile(
    r"\\(?:frac|sqrt|sin|cos|tan|cot|arcsin|arccos|arctan|ln|log|exp|pi|vec|times|dot|sinh|cosh"
    r"|tanh|cdot)(?![A-Za-z])|\b(?:exp|sin|cos|tan|ln|log)\b"
)
_ENDS_IN_UNIT = re.compile(
    r"(.*?[\d})°])\s*((?:\\[A-Za-z]+\s*)?[A-Za-z°%][^(){}]*(?:\^\{-?\d\})?)", re.DOTALL
)
_BOTH_OR_NONE = ("±", "∞", "!", "%", "...", "|")


def same_formula(gold: str, pred: str) -> bool:
    """Whether two tidied formulas are equal; a unit may stand behind either.

    They must hold the same symbols (`R` is not `r`), and agree in having ±, ∞, ! and the like:
    a parser that drops one of these must not decide.
    """
    gold, pred = gold.strip(), pred.strip()
    if symbols(gold) != symbols(pred):
        pred = without_unit(pred)
    if symbols(gold) != symbols(pred):
        gold = without_unit(gold)
    if squash(gold) == squash(pred):
        return squash(gold) != ""
    if symbols(gold) != symbols(pred) or any((m in gold) != (m in pred) for m in _BOTH_OR_NONE):
        return False
    # A number with an index names a base (101_2); a reaction arrow is no mathematics.
    if r"\to" in gold + pred or re.search(r"\d_\{", gold + pred):
        return False
    return symbolically_equal(gold, pred)


def symbols(text: str) -> set[str]:
    """The letters and named symbols of a formula, functions and the constant e left out."""
    plain = _FUNCTIONS.sub(" ", text)
    return set(re.findall(r"\\[A-Za-z]+|[^\W\d_]", plain)) - {"e"}


def without_unit(text: str) -> str:
    """The formula without the known unit that ends it."""
    match = _ENDS_IN_UNIT.fullmatch(text)
    return match.group(1) if match and parse_unit(match.group(2)) else text
