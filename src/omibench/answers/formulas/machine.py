"""Stack machine over complex numbers that evaluates the programs of `reader`.

Nothing is evaluated as code: a step is a number, the index of a symbol, a loop or one of the
functions below.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple


class Symbol(NamedTuple):
    """Push the value of the symbol with this index."""

    place: int


class Operation(NamedTuple):
    """Replace the top `takes` values by the result of `does`."""

    takes: int
    does: Callable[..., complex]


class Loop(NamedTuple):
    r"""Push a sum or product of `body` for each integer from `low` to `high`: \sum_{k=1}^{n}."""

    place: int
    low: Program
    high: Program
    body: Program
    is_product: bool


Step = complex | Symbol | Operation | Loop
Program = tuple[Step, ...]


class Unstable(ArithmeticError):
    """A sum in which cancellation left no significant digits."""


_CANCELLED = 1e-9
_MAX_DOUBLE = 300


def _add(a: complex, b: complex) -> complex:
    total = a + b
    if abs(total) < _CANCELLED * abs(a):
        raise Unstable
    return total


def _root(n: complex, a: complex) -> complex:
    """Return the n-th root; of a negative number, the real one where there is one."""
    if a.imag == 0 > a.real and n.real % 2 == 1 and n.imag == 0:
        return -((-a) ** (1 / n))
    return a ** (1 / n)


def _real(a: complex) -> float:
    if abs(a.imag) > _CANCELLED * abs(a):
        raise Unstable
    return a.real


def _integer(a: complex) -> int:
    nearest = round(_real(a))
    if abs(a.real - nearest) > _CANCELLED * max(1.0, abs(a.real)):
        raise Unstable
    return nearest


def _factorial(a: complex) -> complex:
    return complex(math.gamma(_real(a) + 1))


def _binomial(n: complex, k: complex) -> complex:
    return _factorial(n) / (_factorial(k) * _factorial(n - k))


def _double_factorial(a: complex) -> complex:
    n = _integer(a)
    if not -1 <= n <= _MAX_DOUBLE:
        raise Unstable
    return complex(math.prod(range(n, 0, -2)))


def _opaque(kind: int) -> Callable[[complex], complex]:
    """Return a placeholder for a sum, a mean or a vector: equal only for equal arguments."""
    return lambda a: cmath.sin(kind * a) + a / kind


ADD = Operation(2, _add)
NEGATE = Operation(1, lambda a: 0 - a)  # -a would give -4-0i, whose root is not 2i
TIMES, OVER = Operation(2, lambda a, b: a * b), Operation(2, lambda a, b: a / b + 0)
# + 0: a quotient with -0i would be on the other side of the cut of a logarithm
POWER, ROOT = Operation(2, lambda a, b: a**b), Operation(2, _root)
SQUARE_ROOT, SIZE = Operation(1, cmath.sqrt), Operation(1, lambda a: complex(abs(a)))
LOG = Operation(2, lambda base, a: cmath.log(a) / cmath.log(base))
FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "cot": lambda a: 1 / cmath.tan(a),
    "arcsin": cmath.asin, "arccos": cmath.acos, "arctan": cmath.atan, "sinh": cmath.sinh,
    "cosh": cmath.cosh, "tanh": cmath.tanh, "ln": cmath.log, "exp": cmath.exp,
    "sec": lambda a: 1 / cmath.cos(a), "csc": lambda a: 1 / cmath.sin(a),
    "cosec": lambda a: 1 / cmath.sin(a), "coth": lambda a: 1 / cmath.tanh(a),
    "sech": lambda a: 1 / cmath.cosh(a), "csch": lambda a: 1 / cmath.sinh(a),
    "arcsinh": cmath.asinh, "arccosh": cmath.acosh, "arctanh": cmath.atanh,
    "arccot": lambda a: cmath.pi / 2 - cmath.atan(a), "arcsec": lambda a: cmath.acos(1 / a),
    "arccsc": lambda a: cmath.asin(1 / a), "arccoth": lambda a: cmath.atanh(1 / a),
    "arcsech": lambda a: cmath.acosh(1 / a), "arccsch": lambda a: cmath.asinh(1 / a),
    "lg": cmath.log10, "log": cmath.log10, "semifactorial": _double_factorial,
}  # fmt: skip
INVERSE = {name: FUNCTIONS[f"arc{name}"] for name in FUNCTIONS if f"arc{name}" in FUNCTIONS}
OPAQUE = {"sum": _opaque(1), "prod": _opaque(2), "int": _opaque(3), "oint": _opaque(4)}
"""Commands without bounds that can be read: equal only for equal arguments."""
ACCENTS = {
    name: Operation(1, _opaque(kind))
    for kind, name in enumerate(
        ("vec", "dot", "ddot", "bar", "hat", "overline", "tilde", "overrightarrow"), start=5
    )
}
INDEX = Operation(2, lambda a, index: cmath.sin(a) * cmath.cos(index) + a * index)
FACTORIAL, BINOMIAL = Operation(1, _factorial), Operation(2, _binomial)
DOUBLE_FACTORIAL = Operation(1, FUNCTIONS["semifactorial"])
FLOOR = Operation(1, lambda a: complex(math.floor(_real(a) + _CANCELLED)))
CEILING = Operation(1, lambda a: complex(math.ceil(_real(a) - _CANCELLED)))
REMAINDER = Operation(2, lambda a, b: complex(_integer(a) % _integer(b)))
OF_TWO: dict[str, Operation] = {
    "max": Operation(2, lambda a, b: complex(max(_real(a), _real(b)))),
    "min": Operation(2, lambda a, b: complex(min(_real(a), _real(b)))),
    "gcd": Operation(2, lambda a, b: complex(math.gcd(_integer(a), _integer(b)))),
    "lcm": Operation(2, lambda a, b: complex(math.lcm(_integer(a), _integer(b)))),
}
"""Functions of two or more arguments in brackets."""
CONSTANTS = {"pi": complex(cmath.pi), "imaginary": 1j, "degree": complex(cmath.pi / 180)}
MAX_TERMS, MAX_INNER_TERMS, MAX_STEPS = 1_000, 40, 300_000
"""Most terms of a sum or product, of one around another, and most steps of a comparison."""


def evaluate(
    program: Program, point: Sequence[complex], left: list[int] | None = None
) -> complex | None:
    """Return the value of a program at a point; None if undefined or numerically unreliable.

    `left` is the number of steps that loops may still take; `MAX_STEPS` if it is None.
    """
    stack: list[complex] = []
    left = [MAX_STEPS] if left is None else left
    try:
        for step in program:
            if isinstance(step, complex):
                stack.append(step)
            elif isinstance(step, Symbol):
                stack.append(point[step.place])
            elif isinstance(step, Loop):
                stack.append(_run_loop(step, point, left))
            else:
                values = stack[-step.takes :]
                del stack[-step.takes :]
                stack.append(step.does(*values))
    except (ArithmeticError, ValueError):
        return None
    return stack[0] if cmath.isfinite(stack[0]) else None


def _run_loop(loop: Loop, point: Sequence[complex], left: list[int]) -> complex:
    ends = [evaluate(end, point, left) for end in (loop.low, loop.high)]
    if ends[0] is None or ends[1] is None:
        raise Unstable
    low, high = map(_integer, (ends[0], ends[1]))
    inner = any(isinstance(step, Loop) for step in loop.body)
    if high - low >= (MAX_INNER_TERMS if inner else MAX_TERMS):
        raise Unstable
    total, at = complex(loop.is_product), list(point)
    for number in range(low, high + 1):
        at[loop.place] = complex(number)
        left[0] -= len(loop.body)
        if left[0] < 0:
            raise Unstable
        value = evaluate(loop.body, at, left)
        if value is None:
            raise Unstable
        total = total * value if loop.is_product else total + value
    return total


def list_steps(program: Program) -> Iterator[Step]:
    """Yield the steps of a program, with those inside its sums and products."""
    for step in program:
        yield step
        if isinstance(step, Loop):
            yield from list_steps((*step.low, *step.high, *step.body))


def find_free_symbols(program: Program) -> set[int]:
    """Return the places of the symbols on which a value depends."""
    places = set[int]()
    for step in program:
        if isinstance(step, Symbol):
            places.add(step.place)
        elif isinstance(step, Loop):
            places |= find_free_symbols(step.body) - {step.place}
            places |= find_free_symbols(step.low) | find_free_symbols(step.high)
    return places
