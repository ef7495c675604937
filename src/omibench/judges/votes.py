"""How several judges make one verdict. A tie is no verdict: a coin is not an instrument."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from statistics import median
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def most(votes: Sequence[T]) -> T | None:
    """The value with more votes than any other; None on a tie and without votes."""
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def middle(votes: Sequence[float]) -> float | None:
    """The median; None without votes."""
    return float(median(votes)) if votes else None
