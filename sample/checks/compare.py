"""Compare a printed answer with the value of a check."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import sympy

from checks.values import Quantity, Value

PART = re.compile(r"^\(?[a-h]\)\s*")
NAME = re.compile(r"^[^\W\d]\w*\s*(?:\([^)]*\)\s*)?[=≈]\s*")
QUANTITY = re.compile(
    r"(?P<whole>[-+]?\d+)(?:[.](?P<decimals>\d+))?"
    r"(?:\s*[/:]\s*(?P<below>\d+))?"
    r"(?:\s*[×·]\s*10\^?(?P<power>[-+]?\d+))?"
    r"\s*(?P<unit>.*)"
)
SUPERSCRIPTS = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")


def _tidy(text: str) -> str:
    """Normalise signs, exponents and spaces: `m²` and `m^2`, `−` and `-` become equal."""
    raised = SUPERSCRIPTS.sub(lambda run: "^" + unicodedata.normalize("NFKC", run[0]), text)
    plain = unicodedata.normalize("NFKC", raised).replace("−", "-").strip().strip("$")
    return NAME.sub("", PART.sub("", " ".join(plain.split())))


def _is_quantity(printed: str, found: Quantity, comma: bool) -> bool:
    """Return whether two values agree within half a unit in the last printed digit (ratios:
    exactly), with the same unit."""
    text = printed.replace(",", "." if comma else "")
    match = QUANTITY.fullmatch(text)
    if match is None:
        return False
    scale = 10.0 ** int(match["power"] or 0) / int(match["below"] or 1)
    value = float(f"{match['whole']}.{match['decimals'] or 0}") * scale
    half = 0.0 if match["below"] else 0.5 * 10.0 ** -len(match["decimals"] or "") * scale
    unit, wanted = match["unit"], _tidy(found.unit)
    same_unit = unit == wanted or (found.asked and not unit)
    return same_unit and abs(value - found.value) <= half + 1e-9 * max(1.0, abs(value))


def _is_formula(printed: str, found: sympy.Expr) -> bool:
    """Return whether two formulas are equal as expressions; unreadable ones are not."""
    from latex2sympy2_extended import latex2sympy

    try:
        read = latex2sympy(printed.replace("·", r"\cdot ").replace("*", r"\cdot "))
    except Exception:  # the parser raises whatever its grammar raises
        return False
    return bool(sympy.simplify(sympy.nsimplify(read - found, rational=True)) == 0)


def agrees(printed: Sequence[str], found: Sequence[Value], comma: bool = False) -> bool:
    """Return whether the parts of a printed answer are the given values, in order.

    Numbers agree within half a unit in the last printed digit, units and texts after normalisation,
    formulas as expressions. `comma`: a comma is the decimal sign.
    """
    if len(printed) != len(found):
        return False
    for text, value in zip(map(_tidy, printed), found, strict=True):
        if isinstance(value, Quantity):
            same = _is_quantity(text, value, comma)
        elif isinstance(value, str):
            same = text.casefold() == _tidy(value).casefold()
        else:
            same = _is_formula(text, value)
        if not same:
            return False
    return True
