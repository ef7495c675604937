"""Correlations of two series over a few dozen models: three coefficients, intervals, influence.

For verdicts over problems, which are tied and clustered, use `statistics.clustered_correlation`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import permutations
from math import atanh, inf, isnan, nan, sqrt, tanh
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from omibench.extras import require_extra
from omibench.results.statistics.intervals import (
    Floats,
    estimate_design_effects,
    estimate_sum_variance,
    sum_values,
    t_tails,
    t_value,
    z_value,
)

Coefficient = Literal["pearson", "spearman", "kendall"]
COEFFICIENTS: Final[tuple[Coefficient, ...]] = ("pearson", "spearman", "kendall")
RESAMPLES = 2000
_FLAT = 1e-18
"""A product of two variances of standardised values below this is rounding error: one series does
not vary.
"""
MOST_PERMUTED = 8
"""Up to this many models, all permutations are enumerated: 40,320 for eight."""
FEWEST = 3
"""With fewer models a coefficient is meaningless: two are always perfectly correlated."""


class CoefficientInterval(NamedTuple):
    """Two bounds in [-1, 1]; NaN if there are too few models."""

    lo: float
    hi: float


class Influence(NamedTuple):
    """Coefficient with each model left out; NaN for fewer than four models."""

    place: int
    """Index of the model whose removal changes the coefficient most."""
    without: float
    """Coefficient without it."""
    lowest: float
    highest: float


class Correlation(NamedTuple):
    """One coefficient of two series over n models."""

    coefficient: Coefficient
    value: float
    interval: CoefficientInterval
    """Interval by Fisher's transformation."""
    resampled: CoefficientInterval
    """Interval by resampling models with replacement."""
    p: float
    """Two-sided p of no correlation."""
    n: int
    influence: Influence


def correlate(
    first: Sequence[float],
    second: Sequence[float],
    coefficient: Coefficient,
    confidence: float = 0.95,
) -> Correlation:
    """Correlate two series, such as accuracies of the same models on two benchmarks.

    The interval is Fisher's: atanh(r) with the standard error 1 / sqrt(n - 3) for Pearson's r,
    sqrt((1 + r^2 / 2) / (n - 3)) for Spearman's and sqrt(0.437 / (n - 4)) for Kendall's tau-b
    (Bonett and Wright 2000, eq. 2 to 4). The second one is the percentile interval over
    resampled models, with a seed derived from n. p is Student's for Pearson's, exact for
    Kendall's without ties and for Spearman's over up to eight models, Student's beyond.

    Args:
        first: One value per model.
        second: Values of the same models, in the same order.
        coefficient: One of the three coefficients.
        confidence: Two-sided level of both intervals, in (0, 1).

    Returns:
        The coefficient; all NaN if one series is constant.

    Raises:
        ValueError: If the series differ in length or have fewer than three models.
        MissingExtraError: If scipy is not installed.
    """
    n = len(first)
    if n != len(second) or n < FEWEST:
        raise ValueError(f"{n} and {len(second)} models; give the same {FEWEST} or more")
    require_extra("stats", "the correlation of models", "scipy")
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    compute = _COMPUTE[coefficient]
    x, y = _standardise(x), _standardise(y)
    value = float(compute(x, y, np.ones((1, n)))[0])
    return Correlation(
        coefficient,
        value,
        fisher_interval(value, n, coefficient, confidence),
        _resample(x, y, compute, confidence),
        nan if isnan(value) else _test(x, y, coefficient),
        n,
        _leave_out(x, y, compute, value),
    )


def fisher_interval(
    value: float, n: int, coefficient: Coefficient, confidence: float = 0.95
) -> CoefficientInterval:
    """Compute the interval of a coefficient by Fisher's transformation (Bonett and Wright 2000).

    Args:
        value: Coefficient, in [-1, 1].
        n: Number of models.
        coefficient: Type of the coefficient.
        confidence: Two-sided level, in (0, 1).

    Returns:
        Its bounds; NaN for too few models and for a perfect correlation, which has no error
        estimate.
    """
    spare = n - (4 if coefficient == "kendall" else 3)
    if spare < 1 or isnan(value) or abs(value) > 1 - 1e-12:
        return CoefficientInterval(nan, nan)
    scale = {"pearson": 1.0, "spearman": 1 + value**2 / 2, "kendall": 0.437}[coefficient]
    half = z_value(confidence) * sqrt(scale / spare)
    return CoefficientInterval(tanh(atanh(value) - half), tanh(atanh(value) + half))


def _pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Compute Pearson's coefficient for each row of weights of the models; NaN without spread."""
    total = weights.sum(axis=-1)
    x_mean, y_mean = weights @ x / total, weights @ y / total
    together = weights @ (x * y) / total - x_mean * y_mean
    x_spread, y_spread = (weights @ (v * v) / total - m * m for v, m in ((x, x_mean), (y, y_mean)))
    return _divide(together, x_spread * y_spread)


def _spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Compute Pearson's coefficient of midranks, which follow from the weights."""
    total = weights.sum(axis=-1, keepdims=True)
    a, b = (weights @ _count_below(values).T - total / 2 for values in (x, y))
    together = (weights * a * b).sum(axis=-1)
    return _divide(together, (weights * a * a).sum(axis=-1) * (weights * b * b).sum(axis=-1))


def _kendall(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Compute Kendall's tau-b, adjusted for ties in both series (Kendall 1945)."""
    a, b = (np.sign(v[:, None] - v[None, :]) for v in (x, y))
    together, a_spread, b_spread = (
        ((weights @ pairs) * weights).sum(axis=-1) for pairs in (a * b, a * a, b * b)
    )
    return _divide(together, a_spread * b_spread)


def _count_below(values: Floats) -> Floats:
    """Entry i, j: 1 if value j is less than value i, one half if they are equal."""
    below, equal = (values[None, :] < values[:, None]), (values[None, :] == values[:, None])
    return np.asarray(below + 0.5 * equal, dtype=float)


def _divide(together: Floats, spreads: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = together / np.sqrt(np.maximum(spreads, 0))
    return np.asarray(np.where(spreads > _FLAT, np.clip(ratio, -1, 1), np.nan))


_Compute = Callable[[Floats, Floats, Floats], Floats]
_COMPUTE: Final[dict[Coefficient, _Compute]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
}


def _standardise(values: Floats) -> Floats:
    """Return values with mean 0 and deviation 1: same coefficients, exact sums."""
    centred = values - values.mean()
    deviation = centred.std()
    return np.asarray(centred / deviation if deviation > 0 else centred)


def _resample(x: Floats, y: Floats, compute: _Compute, confidence: float) -> CoefficientInterval:
    n = len(x)
    counts = np.random.default_rng(n).multinomial(n, np.full(n, 1 / n), RESAMPLES)
    values = compute(x, y, counts.astype(float))
    # The same model n times has no coefficient.
    values = values[~np.isnan(values)]
    if not len(values):
        return CoefficientInterval(nan, nan)
    tail = 50 * (1 - confidence)
    lo, hi = np.percentile(values, [tail, 100 - tail])
    return CoefficientInterval(float(lo), float(hi))


def _leave_out(x: Floats, y: Floats, compute: _Compute, value: float) -> Influence:
    n = len(x)
    if n <= FEWEST or isnan(value):
        return Influence(0, nan, nan, nan)
    values = compute(x, y, 1.0 - np.eye(n))
    if np.isnan(values).all():
        return Influence(0, nan, nan, nan)
    place = int(np.where(np.isnan(values), -inf, np.abs(values - value)).argmax())
    return Influence(
        place, float(values[place]), float(np.nanmin(values)), float(np.nanmax(values))
    )


def _test(x: Floats, y: Floats, coefficient: Coefficient) -> float:
    from scipy import stats

    if coefficient == "spearman" and len(x) <= MOST_PERMUTED:
        return _permute(_count_below(x).sum(axis=1), _count_below(y).sum(axis=1))

    test = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall": stats.kendalltau,
    }[coefficient]
    return float(test(x, y).pvalue)


def _permute(x_ranks: Floats, y_ranks: Floats) -> float:
    """Return the share of permutations whose correlation is at least as far from zero."""
    a, b = x_ranks - x_ranks.mean(), y_ranks - y_ranks.mean()
    orders = np.asarray(list(permutations(b)))
    return float(np.mean(np.abs(orders @ a) >= abs(float(a @ b)) - 1e-9))


# Correlations over clustered problems: Pearson's and Spearman's, with intervals and p.
#
# The variance is that of the infinitesimal jackknife over clusters: the influence of each value on
# the coefficient, summed by cluster (Efron 1982, chapter 6). For Spearman's coefficient it
# includes that ranks are estimated from the sample; ties have their midrank. If one side is
# binary, Pearson's coefficient is the point-biserial correlation.
#
# p tests independence: Student's test of the coefficient at the effective number of pairs, whose
# variance does not shrink with a few extreme values as that of the interval can. The interval can
# exclude zero even if p is not small.

Clusters: TypeAlias = Sequence[Hashable] | npt.NDArray[Any]
_FULL = 1 - 1e-9
"""A coefficient beyond which the transformation has no finite value."""


class ClusteredCorrelation(NamedTuple):
    """A coefficient in [-1, 1], its numbers of values and clusters, its interval and two-sided p.

    All are NaN if one side does not vary; the interval is NaN if there are too few clusters.
    """

    value: float
    low: float
    high: float
    p: float
    n: int
    clusters: int


def correlate_values(
    first: Sequence[float] | Floats,
    second: Sequence[float] | Floats,
    clusters: Clusters,
    confidence: float = 0.95,
) -> ClusteredCorrelation:
    """Compute Pearson's correlation of two lists of values.

    Args:
        first: Values of the first side.
        second: Values of the second side, in the same order.
        clusters: Cluster of each pair.
        confidence: Two-sided level of the interval, in (0, 1).

    Raises:
        ValueError: If the lists differ in length.
        MissingExtraError: If scipy is not installed.
    """
    x, y = _read_sides(first, second, clusters)
    if not _vary(x, y):
        return _make_undefined(clusters)
    a, b = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    value = float((a * b).mean())
    return _infer(value, a * b - value / 2 * (a**2 + b**2), clusters, confidence)


def correlate_by_rank(
    first: Sequence[float] | Floats,
    second: Sequence[float] | Floats,
    clusters: Clusters,
    confidence: float = 0.95,
) -> ClusteredCorrelation:
    """Compute Spearman's correlation of two lists of values, with midranks for ties.

    Args:
        first: Values of the first side.
        second: Values of the second side, in the same order.
        clusters: Cluster of each pair.
        confidence: Two-sided level of the interval, in (0, 1).

    Raises:
        ValueError: If the lists differ in length.
        MissingExtraError: If scipy is not installed.
    """
    x, y = _read_sides(first, second, clusters)
    if not _vary(x, y):
        return _make_undefined(clusters)
    u, v = _grade(x, np.ones(len(x))), _grade(y, np.ones(len(y)))
    a, b = 0.5 - u, 0.5 - v
    spread_a, spread_b, together = (float((m * n).mean()) for m, n in ((a, a), (b, b), (a, b)))
    value = together / sqrt(spread_a * spread_b)
    pull = a * b + _grade(x, b) + _grade(y, a) - 3 * together
    pull_a = a**2 + 2 * _grade(x, a) - 3 * spread_a
    pull_b = b**2 + 2 * _grade(y, b) - 3 * spread_b
    influence = pull / sqrt(spread_a * spread_b) - value / 2 * (
        pull_a / spread_a + pull_b / spread_b
    )
    return _infer(value, influence, clusters, confidence)


def _read_sides(
    first: Sequence[float] | Floats, second: Sequence[float] | Floats, clusters: Clusters
) -> tuple[Floats, Floats]:
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not len(x) == len(y) == len(clusters):
        raise ValueError(f"{len(x)} values, {len(y)} others, {len(clusters)} clusters")
    return x, y


def _vary(first: Floats, second: Floats) -> bool:
    return len(first) > 1 and bool(np.ptp(first) > 0 and np.ptp(second) > 0)


def _make_undefined(clusters: Clusters) -> ClusteredCorrelation:
    return ClusteredCorrelation(nan, nan, nan, nan, len(clusters), len(set(clusters)))


def _grade(values: Floats, weights: Floats) -> Floats:
    """Return for each value the mean weight of larger ones; equal ones count half."""
    _, places = np.unique(values, return_inverse=True)
    sums = np.bincount(places, weights=weights)
    above = sums[::-1].cumsum()[::-1] - sums
    return np.asarray((above + sums / 2)[places] / len(values))


def _infer(
    value: float, influence: Floats, clusters: Clusters, confidence: float
) -> ClusteredCorrelation:
    _, places = np.unique(np.asarray(clusters), return_inverse=True)
    n, groups = len(influence), int(places.max()) + 1
    if groups < 3 or abs(value) > _FULL:
        return ClusteredCorrelation(value, nan, nan, nan, n, groups)
    error = sqrt(estimate_sum_variance(influence, places)) / n / (1 - value**2)
    half = t_value(confidence, groups - 1) * error
    pairs = n / float(estimate_design_effects(sum_values(influence, places))[0])
    freedom = min(pairs, groups) - 2
    ratio = abs(value) * sqrt(max(pairs - 2, 0.0) / (1 - value**2))
    p = float(t_tails(ratio, freedom)) if freedom > 0 else nan
    centre = atanh(value)
    return ClusteredCorrelation(value, tanh(centre - half), tanh(centre + half), p, n, groups)


def spearman(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[str], confidence: float
) -> tuple[float, float, float]:
    """Return the rank correlation (midranks for ties) and the interval over resampled clusters.

    For verdicts, which have few distinct values: ties are frequent, and Fisher's interval is far
    too narrow (it covered the true value in 79 of 100 simulations). Resamples are tables of
    counts, all computed together.

    The value is NaN if one side is constant. The bounds are also NaN if the sample is perfectly
    correlated or a single cluster, because resampling then shows no variation.
    """
    tables = _tables(first, second, clusters)
    value = float(_rho(tables.sum(axis=0)))
    if np.isnan(value) or abs(value) > 1 - 1e-12 or len(tables) < 2:
        return value, np.nan, np.nan
    draw = np.random.default_rng(len(first))
    drawn = draw.multinomial(len(tables), np.full(len(tables), 1 / len(tables)), RESAMPLES)
    resampled = _rho(np.tensordot(drawn.astype(float), tables, axes=1))
    tail = 50 * (1 - confidence)
    lo, hi = np.nanpercentile(resampled, [tail, 100 - tail])
    return value, float(min(lo, value)), float(max(hi, value))


def _tables(first: Sequence[float], second: Sequence[float], clusters: Sequence[str]) -> Floats:
    """Count every pair of values, one table per cluster: [cluster, first value, second value]."""
    codes = [np.unique(np.asarray(values), return_inverse=True)[1] for values in (first, second)]
    places = np.unique(np.asarray(clusters), return_inverse=True)[1]
    shape = [int(c.max(initial=0)) + 1 for c in (places, *codes)]
    tables = np.zeros(shape)
    np.add.at(tables, (places, *codes), 1)
    return tables


def _rho(tables: Floats) -> Floats:
    """Compute Spearman's rho of count tables [..., first value, second value]; NaN if constant."""
    n = tables.sum(axis=(-2, -1))
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    middle = (n[..., None] + 1) / 2
    a = np.cumsum(rows, axis=-1) - (rows - 1) / 2 - middle
    b = np.cumsum(columns, axis=-1) - (columns - 1) / 2 - middle
    together = np.einsum("...i,...ij,...j->...", a, tables, b)
    spread = np.sqrt((rows * a**2).sum(axis=-1) * (columns * b**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(spread > 0, together / spread, np.nan))
