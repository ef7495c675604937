"""The interval of the best of several respondents, which was chosen by the same answers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import NormalDist

import numpy as np

from omibench.results.statistics.intervals import (
    Estimate,
    Floats,
    clustered_wilson,
    number_labels,
    z_value,
)

DRAWS = 20_000
_RIDGE = 1e-9
"""Added to the variances, so that respondents with equal answers have a Cholesky factor."""


def bound_best(
    values: Floats, groups: Sequence[Hashable], best: int, confidence: float = 0.95
) -> Estimate:
    """Return the mean of the best of several respondents, with an interval that knows the choice.

    The highest of several means is too high on average. Its lower bound is Wilson's at the
    quantile of the largest of all errors: in draws of normal errors with the correlations of the
    respondents over clusters (the simultaneous bound of Hothorn, Bretz and Westfall 2008). Its
    upper bound needs no correction: if it is too low, so is that of the truly best one.

    Args:
        values: Values in [0, 1]: [problems, respondents].
        groups: Cluster of each problem.
        best: The column with the highest mean.
        confidence: Two-sided level, in (0, 1).

    Raises:
        MissingExtraError: If scipy is needed and not installed.
    """
    column = values[:, best]
    plain = clustered_wilson(column, groups, confidence)
    if values.shape[1] < 2:
        return plain
    places = number_labels(groups)
    deviations = values - values.mean(axis=0)
    sums = np.zeros((int(places.max()) + 1, values.shape[1]))
    np.add.at(sums, places, deviations)
    products = sums.T @ sums
    scale = np.sqrt(np.maximum(np.diag(products), _RIDGE))
    correlations = products / np.outer(scale, scale)
    np.fill_diagonal(correlations, 1 + _RIDGE)
    errors = np.random.default_rng(0).standard_normal((DRAWS, len(correlations)))
    largest = (errors @ np.linalg.cholesky(correlations).T).max(axis=1)
    quantile = max(z_value(confidence), float(np.quantile(largest, (1 + confidence) / 2)))
    level = 2 * NormalDist().cdf(quantile) - 1
    return plain._replace(lo=clustered_wilson(column, groups, level).lo)
