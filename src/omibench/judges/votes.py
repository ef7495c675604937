"""Combines several judges' verdicts. A tie gives None."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from statistics import median
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def most(votes: Sequence[T]) -> T | None:
    """Return the value with more votes than any other; None on a tie and without votes."""
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def middle(votes: Sequence[float]) -> float | None:
    """Return the median; None without votes."""
    return float(median(votes)) if votes else None
