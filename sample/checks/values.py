"""The values of checks: quantities, formulas and short texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy

from checks.page import Data


@dataclass(frozen=True)
class Quantity:
    """A number with its unit as a key prints it; `asked`: the statement gives the unit."""

    value: float
    unit: str = ""
    asked: bool = False

    def __str__(self) -> str:
        return f"{self.value:.6g} {self.unit}".strip()


Value = Quantity | sympy.Expr | str
NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?(?:/\d+)?")


def number(text: str) -> float:
    """Return the first number in a text, a fraction or a decimal with point or comma.

    Raises ValueError without a number.
    """
    match = NUMBER.search(text.replace("−", "-"))
    if match is None:
        raise ValueError(f"no number in {text!r}")
    return float(Fraction(match[0].replace(",", ".")))


def letter(value: float, choices: Sequence[str | Data]) -> str:
    """Return the letter of the only choice that agrees with `value` to one part in a hundred.

    Raises ValueError if none or several agree, or if the choices are pictures.
    """
    said = [number(choice) for choice in choices if isinstance(choice, str)]
    near = [i for i, n in enumerate(said) if abs(n - value) <= 0.01 * max(abs(value), 1e-9)]
    if len(said) != len(choices) or len(near) != 1:
        raise ValueError(f"{value:.6g} is not exactly one of the choices {list(choices)}")
    return chr(ord("A") + near[0])
