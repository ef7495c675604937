"""Correlations of two series over a few dozen models: three coefficients, intervals, influence.

Of verdicts over problems, which are tied and clustered, `statistics.rank` is the one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import atanh, inf, isnan, nan, sqrt, tanh
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from omibench.extras import require_extra
from omibench.statistics.quantiles import z_value

Floats = npt.NDArray[np.float64]
Coefficient = Literal["pearson", "spearman", "kendall"]
COEFFICIENTS: Final[tuple[Coefficient, ...]] = ("pearson", "spearman", "kendall")
RESAMPLES = 2000
COMPARISONS = 4_000_000
"""Pairs of models that are compared at once: what bounds the memory."""
FEWEST = 3
"""Below this many models no coefficient says anything: two are always perfectly correlated."""


class Interval(NamedTuple):
    """Two bounds in [-1, 1]; NaN where there are too few models for them."""

    lo: float
    hi: float


class Influence(NamedTuple):
    """The coefficient without one model at a time; NaN for fewer than four models."""

    place: int
    """The model whose absence moves the coefficient most, as an index of the series."""
    without: float
    """The coefficient without it."""
    lowest: float
    highest: float


class Correlation(NamedTuple):
    """One coefficient of two series over n models."""

    coefficient: Coefficient
    value: float
    interval: Interval
    """By Fisher's transformation."""
    resampled: Interval
    """By drawing models again with replacement."""
    p: float
    """Two-sided, against no correlation."""
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
    (Bonett and Wright 2000, eq. 2 to 4). The other one is the percentile interval over models drawn
    again, with a seed that follows from n. p is Student's for Pearson's and Spearman's, exact for
    Kendall's without ties.

    Args:
        first: One value a model.
        second: The values of the same models, in the same order.
        coefficient: Which of the three.
        confidence: The two-sided level of both intervals, in (0, 1).

    Returns:
        The coefficient; all NaN where one of the series has a single value.

    Raises:
        ValueError: The series differ in length, or hold fewer than three models.
        MissingExtraError: scipy is not installed.
    """
    n = len(first)
    if n != len(second) or n < FEWEST:
        raise ValueError(f"{n} and {len(second)} models: give the same, {FEWEST} or more")
    require_extra("stats", "the correlation of models", "scipy")
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    compute = _COMPUTE[coefficient]
    value = float(compute(x, y))
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
) -> Interval:
    """The interval of a coefficient by Fisher's transformation (Bonett and Wright 2000).

    Args:
        value: The coefficient, in [-1, 1].
        n: Over how many models.
        coefficient: Which of the three it is.
        confidence: The two-sided level, in (0, 1).

    Returns:
        Its bounds; NaN for too few models and for a perfect correlation, which tells no error.
    """
    spare = n - (4 if coefficient == "kendall" else 3)
    if spare < 1 or isnan(value) or abs(value) > 1 - 1e-12:
        return Interval(nan, nan)
    scale = {"pearson": 1.0, "spearman": 1 + value**2 / 2, "kendall": 0.437}[coefficient]
    half = z_value(confidence) * sqrt(scale / spare)
    return Interval(tanh(atanh(value) - half), tanh(atanh(value) + half))


def _pearson(x: Floats, y: Floats) -> Floats:
    """Over the last axis; NaN without spread."""
    a, b = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    spread = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(spread > 1e-15, (a * b).sum(axis=-1) / spread, np.nan))


def _spearman(x: Floats, y: Floats) -> Floats:
    """Pearson's coefficient of midranks."""
    return _pearson(_rank(x), _rank(y))


def _kendall(x: Floats, y: Floats) -> Floats:
    """Kendall's tau-b: ties count in neither series (Kendall 1945)."""
    a, b = (np.sign(v[..., :, None] - v[..., None, :]) for v in (x, y))
    together = (a * b).sum(axis=(-2, -1))
    spread = np.sqrt((a * a).sum(axis=(-2, -1)) * (b * b).sum(axis=(-2, -1)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(spread > 0, together / spread, np.nan))


def _rank(values: Floats) -> Floats:
    """Midranks over the last axis: how many are less, and half of those that are equal."""
    below = (values[..., None, :] < values[..., :, None]).sum(axis=-1)
    equal = (values[..., None, :] == values[..., :, None]).sum(axis=-1)
    return np.asarray(below + equal / 2.0)


_COMPUTE: Final[dict[Coefficient, Callable[[Floats, Floats], Floats]]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
}


def _resample(
    x: Floats, y: Floats, compute: Callable[[Floats, Floats], Floats], confidence: float
) -> Interval:
    n = len(x)
    drawn = np.random.default_rng(n).integers(0, n, (RESAMPLES, n))
    parts = np.array_split(drawn, 1 + RESAMPLES * n * n // COMPARISONS)
    values = np.concatenate([compute(x[part], y[part]) for part in parts])
    # The same model n times over has no coefficient.
    values = values[~np.isnan(values)]
    if not len(values):
        return Interval(nan, nan)
    tail = 50 * (1 - confidence)
    lo, hi = np.percentile(values, [tail, 100 - tail])
    return Interval(float(lo), float(hi))


def _leave_out(
    x: Floats, y: Floats, compute: Callable[[Floats, Floats], Floats], value: float
) -> Influence:
    n = len(x)
    if n <= FEWEST:
        return Influence(0, nan, nan, nan)
    kept = np.asarray([[other for other in range(n) if other != place] for place in range(n)])
    values = compute(x[kept], y[kept])
    if isnan(value) or np.isnan(values).all():
        return Influence(0, nan, nan, nan)
    moves = np.where(np.isnan(values), -inf, np.abs(values - value))
    place = int(moves.argmax())
    return Influence(
        place, float(values[place]), float(np.nanmin(values)), float(np.nanmax(values))
    )


def _test(x: Floats, y: Floats, coefficient: Coefficient) -> float:
    from scipy import stats

    test = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall": stats.kendalltau,
    }[coefficient]
    return float(test(x, y).pvalue)
