"""Ratios of numbers: 3:1 is 6:2 and 3/1, but not 3."""

from __future__ import annotations

import math
import re

from omibench.answers.formulas.symbolic import numeric_value
from omibench.answers.quantities.quantity import quantity

REL_TOLERANCE = 1e-6
_NUMERIC = re.compile(r"(?:\\(?:frac|sqrt|pi)(?![A-Za-z])|[\d.{}()\s+×/-])+")
_FRACTION = re.compile(r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}|([^/]+)/([^/]+)")


def same_ratio(gold: str, pred: str) -> bool | None:
    """Return whether two tidied texts are the same ratio; None if neither is one.

    A ratio of two terms can be a fraction; a single number is not a ratio.
    """
    g, p = _terms(gold), _terms(pred)
    if g is None and p is None:
        return None
    g, p = g or _fraction(gold), p or _fraction(pred)
    if g is None or p is None:
        number = gold if g is None else pred
        return False if quantity(number) is not None else None
    return len(g) == len(p) and all(
        math.isclose(a * p[-1], b * g[-1], rel_tol=REL_TOLERANCE) for a, b in zip(g, p, strict=True)
    )


def _terms(text: str) -> list[float] | None:
    """Return the terms of a:b or a:b:c; None for labels and clock times (3:05)."""
    pieces = text.split(":")
    if len(pieces) < 2 or any(re.match(r"\s*0\d", piece) for piece in pieces):
        return None
    return _values(pieces)


def _fraction(text: str) -> list[float] | None:
    match = _FRACTION.fullmatch(text.strip())
    return _values([piece for piece in match.groups() if piece is not None]) if match else None


def _values(pieces: list[str]) -> list[float] | None:
    values = [_value(piece.strip()) for piece in pieces]
    readable = [value for value in values if value is not None]
    return readable if len(readable) == len(values) and readable[-1] != 0 else None


def _value(text: str) -> float | None:
    if not _NUMERIC.fullmatch(text):
        return None
    number = quantity(text)
    return number.value if number else numeric_value(text)
