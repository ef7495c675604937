"""Paired cluster bootstrap: two answers per problem, whole clusters resampled."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

RESAMPLES = 10_000
_AT_ONCE = 500
"""Number of resamples whose weights are in memory together."""


class Bootstrap(NamedTuple):
    """A mean difference in [-1, 1] with its percentile interval and two-sided p."""

    value: float
    low: float
    high: float
    p: float


def bootstrap_difference(
    differences: Sequence[float],
    groups: Sequence[Hashable],
    confidence: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Bootstrap:
    """Bootstrap the mean difference over the same problems, with clusters drawn with replacement.

    Percentile interval (Efron and Tibshirani 1993, section 13.3); p is twice the smaller share
    of resamples on either side of zero, each count increased by one (Davison and Hinkley 1997,
    section 4.2.1).

    Args:
        differences: First minus second of each problem, in [-1, 1].
        groups: Cluster of each problem.
        confidence: Two-sided level of the interval, in (0, 1).
        seed: Random seed; equal seeds give equal results.
        resamples: Number of resamples.

    Raises:
        ValueError: If the two differ in length or are empty.
    """
    deltas = np.asarray(differences, dtype=float)
    if not len(deltas) or len(deltas) != len(groups):
        raise ValueError(f"{len(deltas)} differences but {len(groups)} groups")
    codes = {group: code for code, group in enumerate(dict.fromkeys(groups))}
    places = np.fromiter((codes[group] for group in groups), dtype=int, count=len(groups))
    sums, sizes = np.bincount(places, weights=deltas), np.bincount(places)
    generator = np.random.default_rng(seed)
    means = np.concatenate(
        [
            _draw_means(generator, sums, sizes, min(_AT_ONCE, resamples - start))
            for start in range(0, resamples, _AT_ONCE)
        ]
    )
    tail = 50 * (1 - confidence)
    low, high = np.percentile(means, [tail, 100 - tail])
    sides = min(int((means <= 0).sum()), int((means >= 0).sum()))
    p = min(1.0, 2 * (sides + 1) / (resamples + 1))
    return Bootstrap(float(deltas.mean()), float(low), float(high), p)


def _draw_means(
    generator: np.random.Generator, sums: np.ndarray, sizes: np.ndarray, resamples: int
) -> np.ndarray:
    clusters = len(sums)
    weights = generator.multinomial(clusters, np.full(clusters, 1 / clusters), resamples)
    return np.asarray((weights @ sums) / (weights @ sizes), dtype=float)
