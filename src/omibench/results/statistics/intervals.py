"""Quantiles, tails and confidence intervals of shares and means, with clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from math import nan
from statistics import NormalDist
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from omibench.extras import require_extra

# Quantiles and tails of the normal and Student's distributions, by two-sided level.

Floats = npt.NDArray[np.float64]
"""Values for many groups or cells, one each."""


@cache
def z_value(confidence: float) -> float:
    """Return the standard normal quantile of a two-sided level: 1.96 for 0.95."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


@cache
def t_value(confidence: float, freedom: int) -> float:
    """Return Student's quantile of a two-sided level.

    Args:
        confidence: Two-sided level, in (0, 1).
        freedom: Degrees of freedom, at least 1.

    Returns:
        For example 4.303 for 0.95 and 2 degrees of freedom.

    Raises:
        MissingExtraError: If scipy, part of the extra `stats`, is not installed.
    """
    require_extra("stats", "an interval of few values or few clusters", "scipy")
    # scipy.stats has the same quantile but takes ten times as long to import.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + confidence) / 2))


def t_values(confidence: float, freedom: npt.ArrayLike) -> Floats:
    """Return Student's quantile at each number of degrees of freedom (see `t_value`)."""
    numbers = np.asarray(freedom)
    if numbers.size == 1:
        return np.full(numbers.shape, t_value(confidence, int(numbers.item())))
    unique, places = np.unique(numbers, return_inverse=True)
    quantiles = np.array([t_value(confidence, int(number)) for number in unique], dtype=float)
    return np.asarray(quantiles[places].reshape(numbers.shape), dtype=float)


def t_tails(t: npt.ArrayLike, freedom: npt.ArrayLike) -> Floats:
    """Return both tails of Student's distribution beyond t: the p of a two-sided t test.

    Args:
        t: Test statistics; NaN gives NaN.
        freedom: Degrees of freedom of each, at least 1.

    Returns:
        For example 0.05 for 4.303 and 2 degrees of freedom.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    require_extra("stats", "a p value", "scipy")
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(freedom, -np.abs(t)), dtype=float)


# Intervals of accuracies and means of clustered problems, for many groups at once.
#
# Problems that share a stem are a cluster: n of them carry the information of fewer independent
# ones (Kish 1965). Every estimate follows from `Sums` over the values of its group. The functions
# `bound_...` take the sums of any number of groups; `clustered_...` are the same on one group.
#
# Every accuracy is a share in [0, 1]; `confidence` is the two-sided level in (0, 1).

Codes = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

FLAT = 1e-12
"""A mean squared deviation below this is rounding error: all values are equal."""
SHARED_STEM = 0.2
"""Assumed correlation of differences between problems that share a stem."""


class Estimate(NamedTuple):
    """A mean of n values with its interval and its effective number of independent values."""

    mean: float
    lo: float
    hi: float
    n: int
    n_eff: float


@dataclass(frozen=True)
class Sums:
    """Sums over the values of each group, as arrays with one number per group."""

    n: Floats
    """Number of values, at least 1."""
    mean: Floats
    squares: Floats
    """Sum of the squared deviations from the mean."""
    clusters: Floats
    sizes_squared: Floats
    """Sum over clusters of their squared number of values."""
    between: Floats
    """Sum over clusters of the squared sum of their deviations."""
    binary: Booleans
    """Whether every value is 0 or 1; of differences, whether every one is -1, 0 or 1."""

    def select(self, chosen: Booleans) -> Self:
        """Return the sums of some groups."""
        return type(self)(*(getattr(self, field.name)[chosen] for field in fields(self)))


def number_labels(labels: Iterable[Hashable]) -> Codes:
    """Return the number of each label, from 0 in order of appearance."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind == "i":
        _, starts, places = np.unique(labels, return_index=True, return_inverse=True)
        return np.asarray(np.argsort(np.argsort(starts))[places], dtype=np.int64)
    numbers: dict[Hashable, int] = {}
    # An array of numpy numbers takes twice as long to walk as a list.
    labels = labels.tolist() if isinstance(labels, np.ndarray) else labels
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)


def sum_values(
    values: Sequence[float] | Floats,
    groups: Sequence[Hashable] | Codes,
    ends: Sequence[float] = (0, 1),
) -> Sums:
    """Return the sums of a single group of values, at least one.

    Args:
        values: The values.
        groups: Cluster of each value.
        ends: The values that count as `binary`.

    Raises:
        ValueError: If the two sequences differ in length.
    """
    if len(values) != len(groups):
        raise ValueError(f"{len(values)} values but {len(groups)} groups")
    array = np.asarray(values, dtype=float)
    places = number_labels(groups)
    mean = array.mean()
    deviations = array - mean
    sums, sizes = np.bincount(places, weights=deviations), np.bincount(places)
    return Sums(
        n=np.array([float(len(array))]),
        mean=np.array([mean]),
        squares=np.array([deviations @ deviations]),
        clusters=np.array([float(len(sizes))]),
        sizes_squared=np.array([float(sizes @ sizes)]),
        between=np.array([sums @ sums]),
        binary=np.logical_or.reduce([array == end for end in ends]).all(keepdims=True),
    )


def estimate_design_effects(sums: Sums) -> Floats:
    """Return the factor by which clustering inflates the variance of each mean; at least 1 (Kish
    1965).

    The between-cluster (sandwich) variance over the variance of independent values, each with
    its small-sample factor, so that clusters of size one give exactly 1. Values that are all
    equal do not determine their correlation: the worst case, 1, is assumed.
    """
    n, clusters = sums.n, sums.clusters
    with np.errstate(divide="ignore", invalid="ignore"):
        independent = sums.squares * n / (n - 1)
        effects = np.maximum(1.0, sums.between * clusters / (clusters - 1) / independent)
        alike = (independent < FLAT * n) | (clusters == 1)
    return np.where(n < 2, 1.0, np.where(alike, sums.sizes_squared / n, effects))


def count_effective(sums: Sums, confidence: float) -> Floats:
    """Return the effective number of values: n / design effect, reduced for few clusters.

    With few clusters the design effect is uncertain: the squared ratio of Student's quantiles at
    n - 1 and clusters - 1 degrees of freedom accounts for it (Korn and Graubard 1998, section
    2).
    """
    n, clusters = sums.n, sums.clusters
    sizes = n / estimate_design_effects(sums)
    few = (clusters > 1) & (clusters < n)
    if few.any():
        quantiles = (t_values(confidence, freedom[few] - 1) for freedom in (n, clusters))
        sizes[few] *= np.divide(*quantiles) ** 2
    return sizes


def count_effective_shares(sums: Sums, confidence: float) -> Floats:
    """Return the number of binary answers whose mean would be as certain as that of the values.

    For values of 0 and 1 this is `count_effective`. A value in between is a mean of several
    samples, or partial credit, and varies less: then it is m (1 - m) / v, where m is the mean and
    v the clustered variance of the mean, at the squared ratio of the normal quantile and
    Student's at clusters - 1 degrees of freedom. It can exceed the number n of values, but is at
    most n (1 + n m (1 - m)), because near 0 and 1 few values determine v; it is never less than
    `count_effective`. Values that are all equal are treated as if there were one more problem of
    each kind, always right and always wrong.

    Args:
        sums: Sums of values in [0, 1].
        confidence: Two-sided level of the target interval, in (0, 1).

    Raises:
        MissingExtraError: If scipy is needed and not installed.
    """
    sizes = count_effective(sums, confidence)
    between = ~sums.binary & (sums.clusters > 1)
    if between.any():
        part = sums.select(between)
        n, mean = part.n, part.mean
        squares = np.where(part.squares < FLAT * n, mean**2 + (1 - mean) ** 2, part.squares)
        variance = squares * estimate_design_effects(part) / n**2
        worth = count_independent(mean, variance, part.clusters - 1, confidence)
        most = n * (1 + n * mean * (1 - mean))
        sizes[between] = np.maximum(sizes[between], np.minimum(worth, most))
    return sizes


def count_independent(
    shares: npt.ArrayLike, variances: npt.ArrayLike, freedom: npt.ArrayLike, confidence: float
) -> Floats:
    """Return the number of independent answers whose share has a variance, at Student's quantile.

    Args:
        shares: Shares in [0, 1].
        variances: The variance of each, above 0.
        freedom: Degrees of freedom of each variance.
        confidence: Two-sided level of the target interval, in (0, 1).
    """
    mean = np.asarray(shares, dtype=float)
    ratios = z_value(confidence) / t_values(confidence, freedom)
    return np.asarray(mean * (1 - mean) / np.asarray(variances) * ratios**2, dtype=float)


def estimate_errors(sums: Sums) -> Floats:
    """Return the standard error of each mean, clustered; NaN for a single cluster."""
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = sums.squares / (sums.n - 1) * estimate_design_effects(sums) / sums.n
    return np.sqrt(np.where(sums.clusters > 1, variances, nan))


def bound_wilson(
    successes: npt.ArrayLike, sizes: npt.ArrayLike, confidence: float
) -> tuple[Floats, Floats]:
    """Compute Wilson's score intervals of shares (Wilson 1927, eq. 5; used by USNCO-V, section 4).

    Both can be fractional (an effective sample size).

    Args:
        successes: In [0, size].
        sizes: Above 0.
        confidence: Two-sided level, in (0, 1).
    """
    right, n = np.asarray(successes, dtype=float), np.asarray(sizes, dtype=float)
    z = z_value(confidence)
    share, spread = right / n, z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * np.sqrt(share * (1 - share) / n + spread / (4 * n))
    low = np.where(right == 0, 0.0, np.maximum(0.0, centre - half))
    return low, np.where(right == n, 1.0, np.minimum(1.0, centre + half))


def bound_shares(sums: Sums, confidence: float) -> tuple[Floats, Floats, Floats]:
    """Return Wilson's interval of each mean of values in [0, 1], and its effective sample size.

    With distinct clusters and values of 0 and 1 this is Wilson's interval. For values in between,
    such as means of several samples, the effective size follows from their variance
    (`count_effective_shares`). In simulation, 95 % intervals of accuracies from 20 to 80 % cover
    93 to 97 % at 1 to 16 samples of 30 problems or more, those of 2 to 10 % cover 94 to 98 %.
    """
    sizes = count_effective_shares(sums, confidence)
    return *bound_wilson(np.minimum(sums.mean * sizes, sizes), sizes, confidence), sizes


def bound_means(sums: Sums, confidence: float) -> tuple[Floats, Floats]:
    """Return Student's interval of each mean, with the clustered variance at clusters - 1 degrees
    of freedom.

    A single cluster gives no variance: its bounds are NaN.

    Raises:
        MissingExtraError: If a group has several clusters and scipy is not installed.
    """
    half, several = estimate_errors(sums), sums.clusters > 1
    if several.any():
        half[several] *= t_values(confidence, sums.clusters[several] - 1)
    return sums.mean - half, sums.mean + half


def wilson(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Compute Wilson's score interval of one share, as `bound_wilson` does.

    Without data the result is (0, 1). Raises ValueError if `successes` is not in [0, n].
    """
    if n == 0 and successes == 0:
        return 0.0, 1.0
    if not 0 <= successes <= n:
        raise ValueError(f"successes must be in [0, n], got {successes} of {n}")
    low, high = bound_wilson(successes, n, confidence)
    return float(low), float(high)


def clustered_wilson(
    values: Sequence[float] | Floats, groups: Sequence[Hashable], confidence: float = 0.95
) -> Estimate:
    """Return the mean of `values` (each in [0, 1]) with its interval: `bound_shares` of one group.

    Without values the mean is NaN, in (0, 1). Raises ValueError if the two sequences differ in
    length.
    """
    n = len(values)
    if n == 0:
        return Estimate(nan, 0.0, 1.0, 0, 0.0)
    sums = sum_values(values, groups)
    (low,), (high,), (n_eff,) = (bounds.tolist() for bounds in bound_shares(sums, confidence))
    return Estimate(float(sums.mean[0]), low, high, n, n_eff)


def clustered_mean(
    values: Sequence[float],
    groups: Sequence[Hashable],
    confidence: float,
    lowest: float,
    highest: float,
) -> Estimate:
    """Return the mean of values on a scale, with Student's interval: `bound_means` of one group.

    Args:
        values: Values in [lowest, highest].
        groups: Cluster of each value.
        confidence: Two-sided level, in (0, 1).
        lowest: Lower end of the scale.
        highest: Upper end of the scale.

    Returns:
        The mean and its interval, clipped to the scale; the whole scale for fewer than two
        clusters.

    Raises:
        ValueError: If the two sequences differ in length.
        MissingExtraError: If there are two clusters or more and scipy is not installed.
    """
    n = len(values)
    if n == 0:
        return Estimate(nan, lowest, highest, 0, 0.0)
    sums = sum_values(values, groups)
    low, high = bound_means(sums, confidence)
    n_eff = float(count_effective(sums, confidence)[0])
    mean = float(sums.mean[0])
    # `fmax` and `fmin` ignore the NaN of a single cluster.
    bounds = float(np.fmax(lowest, low)[0]), float(np.fmin(highest, high)[0])
    return Estimate(mean, *bounds, n, n_eff)


def clustered_median(
    values: Sequence[float], groups: Sequence[Hashable], confidence: float = 0.95
) -> Estimate:
    """Return the median of values, with the interval of a share of one half (Woodruff 1952).

    The bounds are the quantiles at the bounds of the share of values up to the median, whose
    interval is that of `clustered_wilson`.

    Args:
        values: Values on any scale, such as seconds.
        groups: Cluster of each value.
        confidence: Two-sided level, in (0, 1).
    """
    n = len(values)
    if n == 0:
        return Estimate(nan, nan, nan, 0, 0.0)
    array = np.asarray(values, dtype=float)
    median = float(np.median(array))
    n_eff = clustered_wilson((array <= median).astype(float), groups, confidence).n_eff
    low, high = np.quantile(array, wilson(n_eff / 2, n_eff, confidence))
    return Estimate(median, float(low), float(high), n, n_eff)


def clustered_ratio(
    parts: Sequence[float],
    wholes: Sequence[float],
    clusters: Sequence[Hashable],
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the sum of the parts over that of the wholes, such as wrong steps of all steps.

    The variance is that of the linearised ratio between clusters (Cochran 1977, section 2.11).
    The interval is Wilson's at the number of independent parts with that variance, which is at
    most their number, and the number of clusters if the share is 0 or 1.

    Args:
        parts: Part of each whole, such as wrong steps of one rationale; at least 0.
        wholes: Wholes, such as the steps of the rationale; each at least its part.
        clusters: Cluster of each whole.
        confidence: Two-sided level of the interval, in (0, 1).

    Returns:
        The share in [0, 1]; `n` is the sum of the wholes. Without wholes it is NaN in (0, 1).

    Raises:
        ValueError: If the lists differ in length, or a part is not in [0, whole].
        MissingExtraError: If scipy is not installed.
    """
    if not len(parts) == len(wholes) == len(clusters):
        raise ValueError(f"{len(parts)} parts, {len(wholes)} wholes, {len(clusters)} clusters")
    part, whole = np.asarray(parts, dtype=float), np.asarray(wholes, dtype=float)
    if not ((part >= 0) & (part <= whole)).all():
        raise ValueError("a part is not between 0 and its whole")
    total = float(whole.sum())
    if total == 0:
        return Estimate(nan, 0.0, 1.0, 0, 0.0)
    share, places = float(part.sum()) / total, number_labels(clusters)
    count = int(places.max()) + 1
    if count < 2 or share in (0.0, 1.0):
        worth = float(count)
    else:
        variance = estimate_sum_variance(part - share * whole, places) / total**2
        worth = total
        if variance > 0:
            worth = float(count_independent(share, variance, count - 1, confidence))
    n_eff = min(total, worth)
    return Estimate(share, *wilson(min(share * n_eff, n_eff), n_eff, confidence), int(total), n_eff)


def estimate_sum_variance(deviations: Floats, places: Codes) -> float:
    """Estimate the variance of a sum whose terms are correlated within clusters; NaN for one
    cluster.

    Args:
        deviations: Deviations of the terms from their mean, or their influence.
        places: Number of the cluster of each, from 0.
    """
    sums = np.bincount(places, weights=deviations)
    clusters = len(sums)
    return float(sums @ sums) * clusters / (clusters - 1) if clusters > 1 else nan


def effective_size(groups: Sequence[Hashable], correlation: float = SHARED_STEM) -> float:
    """Return the number of independent problems equivalent to clustered ones (Kish 1965, 5.4).

    n over the design effect 1 + (b - 1) r, where b = sum of squared cluster sizes / n and r is
    the correlation inside a cluster, assumed before data exist. An empty group is a separate
    cluster.
    """
    n = len(groups)
    if n == 0:
        return 0.0
    sizes = Counter(group if group else ("alone", i) for i, group in enumerate(groups))
    mean_size = sum(size * size for size in sizes.values()) / n
    return n / (1 + (mean_size - 1) * correlation)


# Families of tests: adjusted p values (Holm 1979), and the ranks that they leave possible.


def adjust_holm(p_values: npt.ArrayLike) -> Floats:
    """Return Holm's adjusted p values: each below alpha rejects at family-wise error alpha.

    The i-th smallest of m is multiplied by m - i + 1, and is never below that of a smaller one
    (Holm 1979). The tests can be dependent.

    Args:
        p_values: One p per test; NaN marks a test that could not be made and is not in the family.

    Returns:
        The adjusted values in the same order, at most 1; NaN stays NaN.
    """
    values = np.asarray(p_values, dtype=float)
    adjusted = np.full(values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    steps = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * steps))
    return adjusted


class RankRange(NamedTuple):
    """Best and worst rank consistent with the tests; 1 is the highest accuracy."""

    best: int
    worst: int


def find_rank_ranges(
    differences: npt.ArrayLike, p_values: npt.ArrayLike, alpha: float = 0.05
) -> list[RankRange]:
    """Compute the range of ranks of each of m respondents from the tests of all their pairs.

    The best rank is one more than the number of significantly better respondents, the worst is m
    minus the number of significantly worse ones. With p values adjusted over all pairs (Holm),
    all ranges jointly contain the true ranks with probability 1 - alpha (Mogstad, Romano, Shaikh
    and Wilhelm 2024, section 3).

    Args:
        differences: Matrix [m, m]: accuracy of row minus accuracy of column, paired.
        p_values: Matrix [m, m], symmetric, adjusted; NaN for an untested pair.
        alpha: Family-wise error.

    Returns:
        One range per row.
    """
    difference = np.asarray(differences, dtype=float)
    significant = np.asarray(p_values, dtype=float) < alpha
    np.fill_diagonal(significant, val=False)
    better = (significant & (difference < 0)).sum(axis=1)
    worse = (significant & (difference > 0)).sum(axis=1)
    return [
        RankRange(1 + int(above), len(difference) - int(below))
        for above, below in zip(better, worse, strict=True)
    ]
