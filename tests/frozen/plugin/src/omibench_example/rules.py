"""The scorer `within-a-percent`: numbers within one percent of the gold answer are right."""

from __future__ import annotations

import math

from omibench.scorers.outcome import make_failed_verdict, passes_through
from omibench.scorers.registry import scorer

from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.text.boxes import find_boxes

NAME = "within-a-percent"
VERSION = 1


@scorer(NAME, VERSION)
def score(item: ScoredItem) -> Verdict:
    """Compare the number in the last box with the gold answer."""
    blocked = passes_through(item, NAME, VERSION)
    if blocked:
        return blocked
    boxes = find_boxes(item.prediction).closed
    number = as_number(boxes[-1]) if boxes else None
    if number is None:
        return make_failed_verdict("unparsed", "no number in a box", NAME, VERSION)
    gold = as_number(item.gold[0])
    right = gold is not None and math.isclose(number, gold, rel_tol=0.01)
    return Verdict(
        extracted=boxes[-1], method="last box", verdict=float(right), rules=NAME, version=VERSION
    )


def as_number(text: str) -> float | None:
    """Return the number in a text, if it is one."""
    try:
        number = float(text.replace(",", "").strip())
    except ValueError:
        return None
    return number if math.isfinite(number) else None
