"""A stack machine over complex numbers: what a formula is once it is read (`score.reader`)."""

from __future__ import annotations

import cmath
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Symbol(NamedTuple):
    """Push the value of the symbol in this place."""

    place: int


class Operation(NamedTuple):
    """Replace the top `takes` values by the value of `does`."""

    takes: int
    does: Callable[..., complex]


Step = complex | Symbol | Operation
Program = tuple[Step, ...]


class Unstable(ArithmeticError):
    """A sum cancelled so far that its digits say nothing."""


_CANCELLED = 1e-9


def _add(a: complex, b: complex) -> complex:
    total = a + b
    if abs(total) < _CANCELLED * abs(a):
        raise Unstable
    return total


def _opaque(a: complex) -> complex:
    """What stands for a sum or an integral: equal for equal arguments, and for no others."""
    return cmath.sin(a) + a


ADD, NEGATE = Operation(2, _add), Operation(1, lambda a: -a)
TIMES, OVER = Operation(2, lambda a, b: a * b), Operation(2, lambda a, b: a / b)
POWER, ROOT = Operation(2, lambda a, b: a**b), Operation(2, lambda n, a: a ** (1 / n))
SQUARE_ROOT, SIZE = Operation(1, cmath.sqrt), Operation(1, lambda a: complex(abs(a)))
LOG = Operation(2, lambda base, a: cmath.log(a) / cmath.log(base))
FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "cot": lambda a: 1 / cmath.tan(a),
    "arcsin": cmath.asin, "arccos": cmath.acos, "arctan": cmath.atan, "sinh": cmath.sinh,
    "cosh": cmath.cosh, "tanh": cmath.tanh, "ln": cmath.log, "exp": cmath.exp,
    "log": cmath.log10, "sum": _opaque, "prod": _opaque, "int": _opaque, "oint": _opaque,
}  # fmt: skip
INVERSE = {"sin": cmath.asin, "cos": cmath.acos, "tan": cmath.atan}


def evaluate(program: Program, point: Sequence[complex]) -> complex | None:
    """The value of a program at a point; None where it has none, or none that can be trusted."""
    stack: list[complex] = []
    try:
        for step in program:
            if isinstance(step, complex):
                stack.append(step)
            elif isinstance(step, Symbol):
                stack.append(point[step.place])
            else:
                values = stack[-step.takes :]
                del stack[-step.takes :]
                stack.append(step.does(*values))
    except (ArithmeticError, ValueError):
        return None
    return stack[0] if cmath.isfinite(stack[0]) else None
