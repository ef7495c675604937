"""Model size beyond which larger models gain next to nothing (OMIBench, H.2, figure 5b)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

LEAST_GAIN: Final = 0.005
"""Minimum gain that counts: 0.5 points (OMIBench, H.2)."""
RESAMPLES: Final = 2000
_EQUAL: Final = 1e-9
"""Tolerance for comparing a gain with the minimum, because scores are quotients."""


def find_saturation(scores: Mapping[float, float], least_gain: float = LEAST_GAIN) -> float | None:
    """Find the smallest size beyond which every larger model gains less than `least_gain`.

    Gains are relative to the score at that size. The largest size has no successor: a curve that
    still rises there does not saturate.

    Args:
        scores: Size -> score in [0, 1], the best if several models have the same size.
        least_gain: Minimum gain in score that counts, in [0, 1].

    Returns:
        The size; None if every size but the largest is surpassed, or there are fewer than two.
    """
    sizes = sorted(scores)
    for place, size in enumerate(sizes[:-1]):
        best = max(scores[larger] for larger in sizes[place + 1 :])
        if best - scores[size] < least_gain - _EQUAL:
            return size
    return None


def resample_saturation(
    places: Sequence[float],
    values: npt.NDArray[np.float64],
    clusters: Sequence[Hashable],
    size: float | None,
    least_gain: float = LEAST_GAIN,
) -> float:
    """Find the share of resamples of the items that saturate at the same size.

    Clusters are drawn with replacement, the same for all models (Efron and Tibshirani 1993,
    section 8.6).

    Args:
        places: Size of each model.
        values: [item, model], in [0, 1].
        clusters: Cluster of each item; at least one.
        size: Result of `find_saturation` for all items.
        least_gain: Minimum gain in score that counts, in [0, 1].

    Returns:
        The share in [0, 1].
    """
    codes = {cluster: code for code, cluster in enumerate(dict.fromkeys(clusters))}
    members = np.fromiter((codes[cluster] for cluster in clusters), dtype=int, count=len(clusters))
    sums = np.zeros((len(codes), values.shape[1]))
    np.add.at(sums, members, values)
    sizes_of_clusters = np.bincount(members)
    draw = np.random.default_rng(len(clusters))
    weights = draw.multinomial(len(codes), np.full(len(codes), 1 / len(codes)), RESAMPLES)
    means = (weights @ sums) / (weights @ sizes_of_clusters)[:, None]
    ordered = sorted(set(places))
    best = np.stack(
        [means[:, [place == other for other in places]].max(axis=1) for place in ordered], axis=1
    )
    beyond = np.maximum.accumulate(best[:, ::-1], axis=1)[:, ::-1][:, 1:]
    ends = beyond - best[:, :-1] < least_gain - _EQUAL
    last = len(ordered) - 1
    places_found = np.where(ends.any(axis=1), ends.argmax(axis=1), last)
    place = last if size is None else ordered.index(size)
    return float((places_found == place).mean())
