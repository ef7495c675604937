"""Stack machine over complex numbers that evaluates the programs of `reader`."""

from __future__ import annotations

import cmath
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Symbol(NamedTuple):
    """Push the value of the symbol with this index."""

    place: int


class Operation(NamedTuple):
    """Replace the top `takes` values by the result of `does`."""

    takes: int
    does: Callable[..., complex]


Step = complex | Symbol | Operation
Program = tuple[Step, ...]


class Unstable(ArithmeticError):
    """A sum in which cancellation left no significant digits."""


_CANCELLED = 1e-9


def _add(a: complex, b: complex) -> complex:
    total = a + b
    if abs(total) < _CANCELLED * abs(a):
        raise Unstable
    return total


def _opaque(kind: int) -> Callable[[complex], complex]:
    """Return a placeholder for a sum, a mean or a vector: equal only for equal arguments."""
    return lambda a: cmath.sin(kind * a) + a / kind


ADD, NEGATE = Operation(2, _add), Operation(1, lambda a: -a)
TIMES, OVER = Operation(2, lambda a, b: a * b), Operation(2, lambda a, b: a / b)
POWER, ROOT = Operation(2, lambda a, b: a**b), Operation(2, lambda n, a: a ** (1 / n))
SQUARE_ROOT, SIZE = Operation(1, cmath.sqrt), Operation(1, lambda a: complex(abs(a)))
LOG = Operation(2, lambda base, a: cmath.log(a) / cmath.log(base))
FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "cot": lambda a: 1 / cmath.tan(a),
    "arcsin": cmath.asin, "arccos": cmath.acos, "arctan": cmath.atan, "sinh": cmath.sinh,
    "cosh": cmath.cosh, "tanh": cmath.tanh, "ln": cmath.log, "exp": cmath.exp,
    "log": cmath.log10, "sum": _opaque(1), "prod": _opaque(2), "int": _opaque(3),
    "oint": _opaque(4),
}  # fmt: skip
ACCENTS = {
    name: Operation(1, _opaque(kind))
    for kind, name in enumerate(
        ("vec", "dot", "ddot", "bar", "hat", "overline", "tilde", "overrightarrow"), start=5
    )
}
INDEX = Operation(2, lambda a, index: cmath.sin(a) * cmath.cos(index) + a * index)
INVERSE = {"sin": cmath.asin, "cos": cmath.acos, "tan": cmath.atan}


def evaluate(program: Program, point: Sequence[complex]) -> complex | None:
    """Return the value of a program at a point; None if undefined or numerically unreliable."""
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
