"""Numeric comparison: formulas are equal if they agree at random points.

Points are positive, so that sqrt(gh) equals sqrt(g) sqrt(h), as intended in physics. A formula
with two readings (1/2 x) equals either. The comparison takes milliseconds in this process;
formulas that the reader cannot parse go to the workers (`omibench.answers.formulas.symbolic`).
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from omibench.answers.formulas.machine import Program, Symbol, evaluate
from omibench.answers.formulas.reader import MAX_SYMBOLS, readings

REL_TOLERANCE = 1e-6
_RANDOM = Random(20)  # noqa: S311 (sample points, not a secret)
POINTS = [[complex(_RANDOM.uniform(0.6, 2.4)) for _ in range(MAX_SYMBOLS)] for _ in range(3)]


def same_at_samples(gold: str, pred: str) -> bool | None:
    """Return whether two formulas agree at three points to six digits; None if undecidable."""
    if "±" in gold or "±" in pred:
        verdicts = [same_at_samples(gold.replace("±", s), pred.replace("±", s)) for s in "+-"]
        return None if None in verdicts else all(verdicts)
    golds, preds = readings(gold), readings(pred)
    if not golds or not preds:
        return None
    pairs = [_agree(g, p) for g in golds for p in preds]
    if any(pairs):
        return True
    return None if None in pairs else False


def value_at_samples(text: str) -> float | None:
    """Return the real value of a text without symbols; None if absent or ambiguous."""
    programs = readings(text)
    if len(programs) != 1 or any(isinstance(step, Symbol) for step in programs[0]):
        return None
    number = evaluate(programs[0], [])
    return None if number is None or number.imag else number.real


def _agree(gold: Program, pred: Program) -> bool | None:
    for left, right in _values(gold, pred):
        if left is None or right is None:
            return None
        if abs(left - right) > REL_TOLERANCE * max(abs(left), abs(right)):
            return False
    return True


def _values(gold: Program, pred: Program) -> Iterator[tuple[complex | None, complex | None]]:
    constant = not any(isinstance(step, Symbol) for step in (*gold, *pred))
    for point in POINTS[:1] if constant else POINTS:
        yield evaluate(gold, point), evaluate(pred, point)
