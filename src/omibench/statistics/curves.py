"""Shapes of curves: the line on the logarithm of a quantity, and the size where gains end."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import inf, nan
from typing import Final, NamedTuple

import numpy as np

from omibench.statistics.intervals import Estimate, clustered_mean, number_labels
from omibench.statistics.quantiles import Floats

FEWEST_PLACES = 3
"""Minimum number of places; every line fits fewer."""
LEAST_GAIN: Final = 0.005
"""Minimum gain that counts: 0.5 points (OMIBench, H.2)."""
RESAMPLES: Final = 2000
_EQUAL: Final = 1e-9
"""Tolerance for comparing a gain with the minimum, because scores are quotients."""


class LogTrend(NamedTuple):
    """Least squares of means on log2 of their places: mean = intercept + slope * log2(place).

    `slope` is the gain per doubling, `intercept` the value at 1; both in units of the values.
    """

    slope: Estimate
    intercept: Estimate
    r_squared: float
    """Share of the variance between the means explained by the line; NaN if there is none."""


def fit_log_trend(
    places: Sequence[float],
    values: Floats,
    clusters: Sequence[Hashable],
    confidence: float = 0.95,
) -> LogTrend | None:
    """Fit mean values against log2 of their places (OMIBench, H.3, figure 5c).

    Slope and intercept are means of each problem's own, because both are linear in the values.
    Their intervals are Student's at clusters - 1 degrees of freedom with the clustered variance,
    which accounts for the same problems at all places.

    Args:
        places: Places of the means, such as numbers of samples; all above 0.
        values: [problem, place], each problem at every place.
        clusters: Cluster of each problem.
        confidence: Two-sided level of the intervals, in (0, 1).

    Returns:
        The line; None for fewer than three different places, or without problems.

    Raises:
        ValueError: If a place is not above 0, or the shapes do not match.
        MissingExtraError: If scipy is not installed.
    """
    if values.shape != (len(clusters), len(places)):
        raise ValueError(
            f"values are {values.shape}, not {(len(clusters), len(places))}: problems, places"
        )
    if any(place <= 0 for place in places):
        raise ValueError("a place is not above 0")
    if len(set(places)) < FEWEST_PLACES or not len(clusters):
        return None
    x = np.log2(np.asarray(places, dtype=float))
    weights = (x - x.mean()) / float(((x - x.mean()) ** 2).sum())
    slopes = values @ weights
    intercepts = values.mean(axis=1) - x.mean() * slopes
    slope, intercept = (
        clustered_mean(terms.tolist(), clusters, confidence, -inf, inf)
        for terms in (slopes, intercepts)
    )
    return LogTrend(slope, intercept, _explain(values.mean(axis=0), x))


def _explain(means: Floats, x: Floats) -> float:
    if float(np.ptp(means)) < 1e-12:
        return nan
    return float(np.corrcoef(x, means)[0, 1] ** 2)


def find_saturation(scores: Mapping[float, float], least_gain: float = LEAST_GAIN) -> float | None:
    """Find the smallest size beyond which every larger model gains less than `least_gain`
    (OMIBench, H.2, figure 5b).

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
    values: Floats,
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
    members = number_labels(clusters)
    sizes_of_clusters = np.bincount(members)
    count = len(sizes_of_clusters)
    sums = np.zeros((count, values.shape[1]))
    np.add.at(sums, members, values)
    draw = np.random.default_rng(len(clusters))
    weights = draw.multinomial(count, np.full(count, 1 / count), RESAMPLES)
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
