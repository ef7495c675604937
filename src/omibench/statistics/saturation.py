"""The size beyond which larger models gain next to nothing (OMIBench, H.2, figure 5b)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LEAST_GAIN: Final = 0.005
"""A gain below this is none: 0.5 points (OMIBench, H.2)."""
_EQUAL: Final = 1e-9
"""Scores are quotients: a gain that is this close to the least one reaches it."""


def find_saturation(scores: Mapping[float, float], least_gain: float = LEAST_GAIN) -> float | None:
    """Find the smallest size beyond which every larger model gains less than `least_gain`.

    A gain is over the score at that size. The largest size has nothing beyond it: a curve that
    still rises there has no such point.

    Args:
        scores: Size -> score in [0, 1], the best where several models have a size.
        least_gain: The gain in score that counts, in [0, 1].

    Returns:
        The size; None where every size but the largest is surpassed, or there are fewer than two.
    """
    sizes = sorted(scores)
    for place, size in enumerate(sizes[:-1]):
        best = max(scores[larger] for larger in sizes[place + 1 :])
        if best - scores[size] < least_gain - _EQUAL:
            return size
    return None
