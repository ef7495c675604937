"""A mean over all problems, from values of a sample of them and a predictor known for all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import compress

import numpy as np

from omibench.results.statistics.intervals import (
    FLAT,
    Estimate,
    Floats,
    bound_wilson,
    clustered_wilson,
    count_independent,
    number_labels,
)

FEWEST = 30
"""The minimum number of clusters in the sample; with fewer, the slope is too uncertain."""


def estimate_from_sample(
    values: Floats, predictor: Floats, groups: Sequence[Hashable], confidence: float
) -> Estimate:
    """Estimate the mean over all problems by regression on a predictor.

    The mean of the sample plus slope times (mean of the predictor over all problems minus that over
    the sample): the difference estimator with the coefficient of least squares (Cochran 1977,
    Sampling Techniques, section 7.2-7.4). The variance sums, by cluster, the weighted residuals of
    the sample and the slope's share of all problems (Särndal, Swensson and Wretman 1992, section
    6.6): all problems are a sample too, as in every interval of the report. Wilson's interval is at
    the number of independent answers with this variance, as in `count_effective_shares`.

    Args:
        values: Value of each problem in [0, 1]; NaN outside the sample.
        predictor: A number for each problem, such as the mean verdict of other models.
        groups: Cluster of each problem.
        confidence: Two-sided level, in (0, 1).

    Returns:
        The mean; `n` is the size of the sample, `n_eff` the number of independent problems whose
        plain mean would be as certain. The plain mean of the sample if it has fewer than `FEWEST`
        clusters, or if its values or their predictor are all equal.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    known = ~np.isnan(values)
    sample, codes = values[known], number_labels(groups)
    size, clusters = len(sample), len(np.unique(codes[known]))
    centred = predictor - predictor.mean()
    shift = centred[known].mean() if size else 0.0
    deviations = centred[known] - shift
    squares = float(deviations @ deviations)
    plain = clustered_wilson(sample, [*compress(groups, known)], confidence)
    if clusters < FEWEST or squares < FLAT * size or np.ptp(sample) == 0:
        return plain
    slope = float(deviations @ sample) / squares
    mean = float(np.clip(sample.mean() - slope * shift, 0, 1))
    residuals = sample - sample.mean() - slope * deviations
    parts = slope * centred / len(values)
    parts[known] += (1 / size - shift * deviations / squares) * residuals
    sums = np.bincount(codes, weights=parts)
    variance = float(sums @ sums) * clusters / (clusters - 2)
    share = mean * (1 - mean)
    worth = float(count_independent(mean, max(variance, FLAT), clusters - 2, confidence))
    n_eff = min(max(worth, 1.0), size * (1 + size * share))
    low, high = bound_wilson(mean * n_eff, n_eff, confidence)
    return Estimate(mean, float(low), float(high), size, n_eff)
