"""Design effects of clustering: estimated from values, or assumed before data exist (Kish 1965).

Problems that share a stem are a cluster: n of them carry the information of fewer independent ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from omibench.statistics.quantiles import t_value, z_value

SHARED_STEM = 0.2
"""Assumed correlation of differences between problems that share a stem."""


def estimate_design_effect(values: Sequence[float], groups: Sequence[Hashable]) -> float:
    """Return the factor by which clustering inflates the variance of the mean; at least 1 (Kish
    1965).

    The between-cluster (sandwich) variance over the variance of independent values, each with
    its small-sample factor, so that clusters of size one give exactly 1. Values that are all
    equal do not determine their correlation: the worst case, 1, is assumed. Raises ValueError if
    the two sequences differ in length.
    """
    if len(values) != len(groups):
        raise ValueError(f"{len(values)} values but {len(groups)} groups")
    n = len(values)
    if n < 2:
        return 1.0
    array = np.asarray(values, dtype=float)
    codes = {group: code for code, group in enumerate(dict.fromkeys(groups))}
    inverse = np.fromiter((codes[group] for group in groups), dtype=int, count=n)
    deviations = array - array.mean()
    independent = float(deviations @ deviations) * n / (n - 1)
    clusters = len(codes)
    if independent < 1e-12 * n or clusters == 1:
        sizes = np.bincount(inverse)
        return float(sizes @ sizes) / n
    sums = np.bincount(inverse, weights=deviations)
    between = float(sums @ sums) * clusters / (clusters - 1)
    return max(1.0, between / independent)


def effective_n(
    values: Sequence[float], groups: Sequence[Hashable], confidence: float = 0.95
) -> float:
    """Return the effective number of values: n / design effect, reduced for few clusters.

    With few clusters the design effect is uncertain: the squared ratio of Student's quantiles at
    n - 1 and clusters - 1 degrees of freedom accounts for it (Korn and Graubard 1998, section
    2).
    """
    n, clusters = len(values), len(set(groups))
    worth = n / estimate_design_effect(values, groups)
    if not 1 < clusters < n:
        return worth
    ratio = t_value(confidence, n - 1) / t_value(confidence, clusters - 1)
    return worth * ratio**2


def effective_share_n(
    values: Sequence[float], groups: Sequence[Hashable], confidence: float = 0.95
) -> float:
    """Return the number of binary answers whose mean would be as certain as that of these values.

    For values of 0 and 1 this is `effective_n`. A value in between is a mean of several samples,
    or partial credit, and varies less: then it is m (1 - m) / v, where m is the mean and v the
    clustered variance of the mean, at the squared ratio of the normal quantile and Student's at
    clusters - 1 degrees of freedom. It can exceed the number n of values, but is at most n (1 +
    n m (1 - m)), because near 0 and 1 few values determine v; it is never less than
    `effective_n`. Values that are all equal are treated as if there were one more problem of
    each kind, always right and always wrong.

    Args:
        values: Values in [0, 1].
        groups: Cluster of each value.
        confidence: Two-sided level of the target interval, in (0, 1).

    Raises:
        ValueError: If the two sequences differ in length.
        MissingExtraError: If scipy is needed and not installed.
    """
    n, clusters = len(values), len(set(groups))
    if clusters < 2 or all(value in (0, 1) for value in values):
        return effective_n(values, groups, confidence)
    array = np.asarray(values, dtype=float)
    mean, deviations = float(array.mean()), array - array.mean()
    spread, most = float(deviations @ deviations), n * mean * (1 - mean)
    if spread < 1e-12 * n:
        spread = mean**2 + (1 - mean) ** 2
    worth = n / estimate_design_effect(values, groups) * most / spread
    worth *= (z_value(confidence) / t_value(confidence, clusters - 1)) ** 2
    return max(effective_n(values, groups, confidence), min(float(worth), n * (1 + most)))


def effective_size(groups: Sequence[Hashable], correlation: float = SHARED_STEM) -> float:
    """Return the number of independent problems equivalent to clustered ones (Kish 1965, 5.4).

    n over the design effect 1 + (b - 1) r, where b = sum of squared cluster sizes / n and r is
    the correlation inside a cluster. An empty group is a separate cluster.
    """
    n = len(groups)
    if n == 0:
        return 0.0
    sizes = Counter(group if group else ("alone", i) for i, group in enumerate(groups))
    mean_size = sum(size * size for size in sizes.values()) / n
    return n / (1 + (mean_size - 1) * correlation)
