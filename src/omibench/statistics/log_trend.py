"""Linear fit of means against the logarithm of their places, such as numbers of samples."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import inf, nan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from omibench.statistics.intervals import Estimate, clustered_mean

FEWEST_PLACES = 3
"""Minimum number of places; every line fits fewer."""


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
    values: npt.NDArray[np.float64],
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


def _explain(means: npt.NDArray[np.float64], x: npt.NDArray[np.float64]) -> float:
    if float(np.ptp(means)) < 1e-12:
        return nan
    return float(np.corrcoef(x, means)[0, 1] ** 2)
