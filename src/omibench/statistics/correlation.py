"""Correlations of two series over a few dozen models: three coefficients, intervals, influence.

For verdicts over problems, which are tied and clustered, use `statistics.clustered_correlation`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from math import atanh, inf, isnan, nan, sqrt, tanh
from typing import Final, Literal, NamedTuple

import numpy as np

from omibench.extras import require_extra
from omibench.statistics.quantiles import Floats, z_value

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
