"""Numeric comparison: formulas are equal if they agree at random points.

Points are positive, so that sqrt(gh) equals sqrt(g) sqrt(h), as intended in physics. A formula
with two readings (1/2 x) equals either. The comparison takes milliseconds in this process;
formulas that the reader cannot parse go to the workers (`omibench.answers.formulas.symbolic`).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from random import Random

from omibench.answers.formulas.machine import (
    ADD,
    BINOMIAL,
    CEILING,
    CONSTANTS,
    DOUBLE_FACTORIAL,
    FACTORIAL,
    FLOOR,
    MAX_STEPS,
    NEGATE,
    OF_TWO,
    OVER,
    POWER,
    REMAINDER,
    SIZE,
    TIMES,
    Loop,
    Operation,
    Program,
    Step,
    Symbol,
    evaluate,
    find_free_symbols,
    list_steps,
)
from omibench.answers.formulas.reader import MAX_SYMBOLS, readings

REL_TOLERANCE, EXACT_TOLERANCE = 1e-6, 1e-9
"""Of values, and of constants without decimals."""
_RANDOM = Random(20)  # noqa: S311 (sample points, not a secret)
POINTS = [[complex(_RANDOM.uniform(0.6, 2.4)) for _ in range(MAX_SYMBOLS)] for _ in range(3)]
SIGNED = [[-x if (i + n) % 2 else x for i, x in enumerate(p)] for n, p in enumerate(POINTS)]
"""Sample points of formulas with bars, which would not count at positive ones."""
COMPLEX = [[cmath.rect(abs(x), i + n) for i, x in enumerate(p)] for n, p in enumerate(POINTS, 1)]
"""Sample points of moduli of complex numbers: |z - i| is not |z + i|."""
INTEGERS = [[complex(_RANDOM.randint(2, 9)) for _ in range(MAX_SYMBOLS)] for _ in range(3)]
"""Sample points of formulas that are defined for integers only."""
WIDE = [[complex(_RANDOM.uniform(0.1, 9.9)) for _ in range(MAX_SYMBOLS)] for _ in range(12)]
"""More sample points of formulas with integer parts, which agree at many points by chance."""
GRID = [[complex(1 + (n * (2 * i + 1) + i) % 24) for i in range(MAX_SYMBOLS)] for n in range(24)]
"""Sample points of formulas with integer parts of integers, of all remainders."""
_NAMED = frozenset((*CONSTANTS.values(), complex(math.e)))
_STEPPED = frozenset((FLOOR, CEILING, REMAINDER))
_KINKED = frozenset((SIZE, OF_TWO["max"], OF_TWO["min"]))
"""Operations whose value changes its formula beyond a constant: max(x, 3), |x - 3|, n mod 10."""
_FACTORS, _MOST = (2, 5, 20), 1e7
_SMALL, _LARGE = 0.01, 6
"""At a small point, terms count that are lost beside a large power: n^{100} + n, 10^{6n} - 1."""


_EXACT_BITS, _EXACT_FACTORIAL = 100_000, 3_000
"""Largest integer of a fraction, in bits, and largest number with an exact factorial."""


def _small(number: Fraction) -> int:
    if number.denominator != 1 or not 0 <= number <= _EXACT_FACTORIAL:
        raise ValueError
    return int(number)


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction:
    bits = (abs(base.numerator) * base.denominator).bit_length()
    if exponent.denominator != 1 or bits * abs(exponent) > _EXACT_BITS:
        raise ValueError
    return base ** int(exponent)


_EXACT: dict[Operation, Callable[..., Fraction]] = {
    ADD: lambda a, b: a + b, NEGATE: lambda a: -a, TIMES: lambda a, b: a * b,
    OVER: lambda a, b: a / b, POWER: _exact_power,
    FACTORIAL: lambda n: Fraction(math.factorial(_small(n))),
    BINOMIAL: lambda n, k: Fraction(math.comb(_small(n), _small(k))),
}  # fmt: skip


def _evaluate_exactly(program: Program) -> Fraction | None:
    """Return the value of a program of integers and the operations of fractions; else None."""
    stack: list[Fraction] = []
    try:
        for step in program:
            if isinstance(step, complex) and step.imag == 0 and step.real.is_integer():
                stack.append(Fraction(int(step.real)))
            elif isinstance(step, Operation) and step in _EXACT:
                values = stack[-step.takes :]
                del stack[-step.takes :]
                stack.append(_EXACT[step](*values))
                if max(map(int.bit_length, stack[-1].as_integer_ratio())) > _EXACT_BITS:
                    return None
            else:
                return None
    except (ArithmeticError, ValueError):
        return None
    return stack[0]


def same_at_samples(gold: str, pred: str) -> bool | None:
    """Return whether two formulas agree at three points to six digits; None if undecidable."""
    if "±" in gold or "±" in pred:
        verdicts = [same_at_samples(gold.replace("±", s), pred.replace("±", s)) for s in "+-"]
        return None if None in verdicts else all(verdicts)
    golds, preds = readings(gold), readings(pred)
    if not golds or not preds:
        return None
    left = [MAX_STEPS]
    pairs = [_agree(g, p, left) for g in golds for p in preds]
    if any(pairs):
        return True
    return None if None in pairs else False


def agree_at_integers(gold: str, pred: str) -> bool:
    """Return whether two formulas of integers agree on a grid: ceil(n/2) and floor((n+1)/2)."""
    golds, preds = readings(gold), readings(pred)
    if len(golds) != 1 or len(preds) != 1 or _has_loop((*golds[0], *preds[0])):
        return False
    further = _list_further_points((*golds[0], *preds[0]), INTEGERS)
    pairs = [(evaluate(golds[0], at), evaluate(preds[0], at)) for at in (*GRID, *further)]
    found = [(a, b) for a, b in pairs if a is not None and b is not None]
    return len(found) > len(GRID) // 2 and all(
        abs(a - b) <= REL_TOLERANCE * max(1.0, abs(a)) for a, b in found
    )


def differ_by_constant(gold: str, pred: str) -> bool:
    """Return whether the difference of two formulas with symbols is the same at every point."""
    pairs = ((g, p) for g in readings(gold) if find_free_symbols(g) for p in readings(pred))
    return any(_differ_by_constant(g, p) for g, p in pairs)


def value_at_samples(text: str) -> float | None:
    """Return the real value of a text without symbols; None if absent or ambiguous."""
    programs = readings(text)
    if len(programs) != 1 or find_free_symbols(programs[0]):
        return None
    number = evaluate(programs[0], POINTS[0])
    return None if number is None or number.imag else number.real


def _differ_by_constant(gold: Program, pred: Program) -> bool:
    differences = list[complex]()
    for ours, theirs in _values(gold, pred, [MAX_STEPS]):
        if ours is None or theirs is None:
            return False
        differences.append(ours - theirs)
    size = max(map(abs, differences), default=0.0)
    return all(abs(d - differences[0]) <= REL_TOLERANCE * max(size, 1.0) for d in differences)


START = 0.3819660112501051
"""Not a root of an equation in an answer: a sum that cancels has no digits."""


def solve_linear(
    program: Program, place: int, point: Sequence[complex]
) -> tuple[float, float] | None:
    """Return slope and root of a program in one symbol; None if it is not linear and real in it.

    Args:
        program: Program of a formula.
        place: Index of the symbol.
        point: Values of the other symbols.
    """
    at, values = list(point), list[float]()
    for x in (START, START + 1, START + 3):
        at[place] = complex(x)
        value = evaluate(program, at)
        if value is None or value.imag:
            return None
        values.append(value.real)
    slope = values[1] - values[0]
    linear = math.isclose(values[2] - values[0], 3 * slope, rel_tol=REL_TOLERANCE)
    return (slope, START - values[0] / slope) if linear and slope else None


def _has_loop(steps: Program) -> bool:
    return any(isinstance(step, Loop) for step in steps)


def _agree(gold: Program, pred: Program, left: list[int]) -> bool | None:
    exact = _evaluate_exactly(gold), _evaluate_exactly(pred)
    if exact[0] is not None and exact[1] is not None:
        return exact[0] == exact[1]
    tolerance = EXACT_TOLERANCE if all(map(_is_exact, (*gold, *pred))) else REL_TOLERANCE
    for ours, theirs in _values(gold, pred, left):
        if ours is None or theirs is None:
            return None
        if abs(ours - theirs) > tolerance * max(abs(ours), abs(theirs)):
            return False
    return True


def _is_exact(step: Step) -> bool:
    """Return whether a step has no decimals and no symbol: 355/113 is near pi, and is not it."""
    if isinstance(step, Symbol | Loop):
        return False
    return not isinstance(step, complex) or step in _NAMED or step.real.is_integer()


def _values(
    gold: Program, pred: Program, left: list[int]
) -> Iterator[tuple[complex | None, complex | None]]:
    """Yield the values of two programs at their points; at further points, those of both."""
    steps = (*gold, *pred)
    if not find_free_symbols(steps):
        yield evaluate(gold, POINTS[0], left), evaluate(pred, POINTS[0], left)
        return
    has_loop = _has_loop(steps)
    if has_loop:
        steps = tuple(list_steps(steps))
    whole = has_loop or any(step in (REMAINDER, DOUBLE_FACTORIAL) for step in steps)
    points = INTEGERS if whole else SIGNED if SIZE in steps else POINTS
    if SIZE in steps and CONSTANTS["imaginary"] in steps:
        points = COMPLEX
    if not has_loop and (FLOOR in steps or CEILING in steps):
        points = [*points, *INTEGERS, *WIDE]
    for point in points:
        yield evaluate(gold, point, left), evaluate(pred, point, left)
    for point in _list_further_points(steps, points):
        values = evaluate(gold, point, left), evaluate(pred, point, left)
        if values[0] is not None and values[1] is not None:
            yield values


def _list_further_points(steps: Program, near: list[list[complex]]) -> Iterator[list[complex]]:
    """Yield points beyond the constants of formulas that change there, and a small point."""
    kinked, stepped = not _KINKED.isdisjoint(steps), not _STEPPED.isdisjoint(steps)
    if near is COMPLEX or not (kinked or stepped or POWER in steps):
        return
    largest = max((abs(step) for step in steps if isinstance(step, complex)), default=1.0)
    if near is POINTS and largest >= _LARGE:
        yield [_SMALL * x for x in POINTS[0]]
    if not (kinked or stepped):
        return
    if stepped:
        yield from GRID
    sizes = [min(factor * max(largest, 1.0), _MOST) for factor in (*_FACTORS, 3 * largest)]
    signs = (1, -1) if kinked and not _has_loop(steps) else (1,)
    for n, _ in enumerate(sizes):
        # The order of the symbols is another at each point.
        far = [round(sizes[(n + i) % len(sizes)]) + x for i, x in enumerate(INTEGERS[n % 3])]
        for sign in signs:
            yield [x * (sign if (n + i) % 2 else 1) for i, x in enumerate(far)]
            if sign < 0:
                yield [-x for x in far]
