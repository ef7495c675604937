"""Estimate the mean score of exam participants from cut-offs."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from omibench.stages.analyze.inputs.cutoffs import Cutoff
from omibench.statistics.quantiles import t_value

MEDIAN = 50.0


class EstimatedScore(NamedTuple):
    """The mean score of all participants, in [0, 1]; bounds are NaN if unknown."""

    mean: float
    lo: float
    hi: float
    method: str


def estimate_score(cutoffs: Sequence[Cutoff], confidence: float = 0.95) -> EstimatedScore | None:
    """Estimate the mean score of an exam's participants.

    Scores are assumed normal: a cut-off is then mean + deviation x quantile of its percentile, and
    least squares over the cut-offs gives both. USNCO-V (figure 5) estimates people's scores from
    cut-offs without describing the method; this one is ours. The interval is that of the fitted
    mean, from three cut-offs on, and covers only their deviation from a line.

    Args:
        cutoffs: Cut-offs of one exam and year.
        confidence: The two-sided level, in (0, 1).

    Returns:
        The estimate. None for a single cut-off that is not the median.

    Raises:
        MissingExtraError: scipy is not installed and there are at least three cut-offs.
    """
    shares = np.asarray([row.score / row.of for row in cutoffs])
    percentiles = {row.percentile for row in cutoffs}
    if percentiles == {MEDIAN}:
        return EstimatedScore(float(shares.mean()), nan, nan, "median")
    if len(percentiles) < 2:
        return None
    quantiles = np.asarray([NormalDist().inv_cdf(row.percentile / 100) for row in cutoffs])
    centre, spread = quantiles.mean(), float(((quantiles - quantiles.mean()) ** 2).sum())
    slope = float((quantiles - centre) @ shares) / spread
    mean = float(shares.mean() - slope * centre)
    lo = hi = nan
    if len(cutoffs) > 2:
        residuals = shares - mean - slope * quantiles
        variance = float(residuals @ residuals) / (len(cutoffs) - 2)
        half = t_value(confidence, len(cutoffs) - 2) * sqrt(
            variance * (1 / len(cutoffs) + float(centre) ** 2 / spread)
        )
        lo, hi = _limit(mean - half), _limit(mean + half)
    return EstimatedScore(_limit(mean), lo, hi, "normal distribution through the cut-offs")


def _limit(share: float) -> float:
    return min(1.0, max(0.0, share))
