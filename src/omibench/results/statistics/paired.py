"""Differences of two accuracies, on the same or on different problems: intervals, tests, power.

`compare_sums` and `bound_differences` take the sums of any number of comparisons;
`paired_difference` is the latter for a single one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from omibench.extras import require_extra
from omibench.results.statistics.intervals import (
    FLAT,
    Booleans,
    Estimate,
    Floats,
    Sums,
    bound_means,
    count_effective,
    estimate_design_effects,
    number_labels,
    sum_values,
    t_tails,
    z_value,
)

EQUAL = 1e-9
"""Differences this close are equal."""
ALPHA = 0.05
POWER = 0.8
DISCORDANT = (0.2, 0.3, 0.5)
"""Shares of problems on which exactly one model is right: 0.5 for two independent models with
accuracy 0.5, less for models that find the same problems hard.
"""
RESAMPLES = 10_000
_AT_ONCE = 500
"""Number of resamples whose weights are in memory together."""


class AccuracyDifference(NamedTuple):
    """First minus second, in [-1, 1], over n pairs (0 if unpaired)."""

    value: float
    lo: float
    hi: float
    n: int

    @property
    def distinguishable(self) -> bool:
        """Whether the interval excludes zero, the only criterion for reporting a difference."""
        return self.lo > 0 or self.hi < 0


@dataclass(frozen=True)
class PairSums(Sums):
    """Sums over the differences, first minus second, of each comparison's problems.

    `binary` are comparisons of one sample per problem, right or wrong.
    """

    gained: Floats
    """Sum of the positive differences."""
    lost: Floats
    """Sum of the absolute negative differences."""
    alike: Booleans
    """Whether all differences are equal."""


def sum_pairs(
    first: Sequence[float] | Floats,
    second: Sequence[float] | Floats,
    groups: Sequence[Hashable],
) -> PairSums:
    """Return the sums of a single comparison from the values of each problem.

    Raises:
        ValueError: If the sequences differ in length.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} first and {len(second)} second values")
    deltas = np.subtract(first, second, dtype=float)
    sums = sum_values(deltas, groups, (-1, 0, 1))
    return PairSums(
        **vars(sums),
        gained=deltas.sum(where=deltas > 0, keepdims=True),
        lost=-deltas.sum(where=deltas < 0, keepdims=True),
        alike=np.ptp(deltas, keepdims=True) <= EQUAL,
    )


def bound_differences(sums: PairSums, level: float) -> tuple[Floats, Floats]:
    """Return the interval of each mean difference of two values in [0, 1].

    For binary answers: the adjusted Wald interval for paired shares (Bonett and Price 2012, eq.
    4), the interval form of McNemar's comparison, at the effective number of pairs of clustered
    problems. For other differences, such as those of means of several samples: Student's
    interval of their mean at clusters - 1 degrees of freedom, with the clustered variance; a
    single cluster gives no variance, and the result is (-1, 1).

    Args:
        sums: Sums over the problems of each comparison.
        level: Two-sided level of each interval, in (0, 1).

    Raises:
        MissingExtraError: If scipy is needed and not installed.
    """
    pairs = count_effective(sums, level)
    up, down = ((part * pairs / sums.n + 1) / (pairs + 2) for part in (sums.gained, sums.lost))
    half = z_value(level) * np.sqrt((up + down - (up - down) ** 2) / (pairs + 2))
    low, high = up - down - half, up - down + half
    means = ~(sums.binary | sums.alike)
    if means.any():
        low[means], high[means] = bound_means(sums.select(means), level)
    # `fmax` and `fmin` ignore the NaN of a single cluster.
    return np.fmax(-1.0, low), np.fmin(1.0, high)


def paired_difference(
    first: Sequence[float] | Floats,
    second: Sequence[float] | Floats,
    groups: Sequence[Hashable],
    confidence: float = 0.95,
    comparisons: int = 1,
) -> AccuracyDifference:
    """Return the mean of first - second over the same problems (values in [0, 1]).

    The interval is `bound_differences` of one comparison; `comparisons` is the number of
    simultaneous differences (Bonferroni). Without pairs the result is (-1, 1). Raises ValueError
    if the sequences differ in length.
    """
    if not len(first) + len(second):
        return AccuracyDifference(float("nan"), -1.0, 1.0, 0)
    sums = sum_pairs(first, second, groups)
    (low,), (high,) = (
        bounds.tolist() for bounds in bound_differences(sums, adjust_level(confidence, comparisons))
    )
    return AccuracyDifference(float(sums.mean[0]), low, high, len(first))


def adjust_level(confidence: float, comparisons: int) -> float:
    """Return the level of each of several simultaneous intervals (Bonferroni)."""
    return 1 - (1 - confidence) / max(1, comparisons)


def independent_difference(first: Estimate, second: Estimate) -> AccuracyDifference:
    """Return first - second on different problems, by Newcombe's Wilson hybrid (1998, 10)."""
    value = first.mean - second.mean
    lo = value - sqrt((first.mean - first.lo) ** 2 + (second.hi - second.mean) ** 2)
    hi = value + sqrt((first.hi - first.mean) ** 2 + (second.mean - second.lo) ** 2)
    return AccuracyDifference(value, max(-1.0, lo), min(1.0, hi), 0)


class PairedTests(NamedTuple):
    """Result of `compare_sums`, one number per comparison."""

    difference: Floats
    """First minus second, in [-1, 1]."""
    p: Floats
    """Two-sided; NaN for a single cluster of several problems."""
    detectable: Floats
    """Smallest true difference that the comparison would detect, in [0, 1]."""


def compare_sums(sums: PairSums, alpha: float = ALPHA, power: float = POWER) -> PairedTests:
    """Test whether the mean difference of each comparison is zero.

    One sample per problem and no clusters: McNemar's mid-p test. Otherwise Student's test of the
    mean difference with its clustered variance, at clusters - 1 degrees of freedom; if all
    differences are equal, McNemar's with one vote per cluster.

    The detectable difference is that of `omibench plan` (`detectable_differences`) at the
    effective number of problems, n over the design effect of the differences, and at the
    observed spread, with one problem added in each direction.

    Args:
        sums: Sums over the problems of each comparison.
        alpha: Level of each test for `detectable`; for a family, that of its strictest step.
        power: Power for the detectable difference.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    difference, several = (sums.gained - sums.lost) / sums.n, sums.clusters > 1
    flat = (sums.squares < FLAT * sums.n) | ~several
    simple = sums.binary & (sums.clusters == sums.n)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = sums.between * sums.clusters / (sums.clusters - 1)
        ratio = np.where(flat, np.nan, difference * sums.n / np.sqrt(between))
    student = t_tails(ratio, np.maximum(sums.clusters - 1, 1))
    votes = np.where(np.abs(difference) > FLAT, sums.clusters, 0.0)
    alike = np.where(several | (sums.n == 1), mcnemar_p(votes, np.zeros_like(votes)), np.nan)
    pairs = mcnemar_p(np.where(simple, sums.gained, 0.0), np.where(simple, sums.lost, 0.0))
    worth = sums.n / estimate_design_effects(sums)
    spread = (sums.squares / sums.n + difference**2) * worth
    detectable = detectable_differences(
        worth, np.minimum(1.0, (spread + 2) / (worth + 2)), alpha, power
    )
    return PairedTests(
        difference, np.where(simple, pairs, np.where(flat, alike, student)), detectable
    )


def mcnemar_p(gained: npt.ArrayLike, lost: npt.ArrayLike, *, mid: bool = True) -> Floats:
    """Return the two-sided p of equally frequent gains and losses, for many comparisons.

    Exact: each of the gained + lost problems goes either way with probability 1/2 (McNemar
    1947). The mid-p counts half the probability of the observed result, which keeps the level
    and is less conservative (Fagerland, Lydersen and Laake 2013, section "The McNemar mid-p
    test").

    Args:
        gained: Number of problems that only the first answered correctly.
        lost: Number of problems that only the second answered correctly.
        mid: Whether to compute the mid-p instead of the exact p.

    Returns:
        p in [0, 1]; 1 if no problem is gained or lost.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    require_extra("stats", "McNemar's test", "scipy")
    from scipy.special import bdtr

    up, down = np.asarray(gained, dtype=np.int64), np.asarray(lost, dtype=np.int64)
    fewer, total = np.minimum(up, down), up + down
    tail = bdtr(fewer, total, 0.5)
    if mid:
        below = np.where(fewer > 0, bdtr(np.maximum(fewer - 1, 0), total, 0.5), 0.0)
        return np.asarray(np.minimum(1.0, tail + below), dtype=float)
    return np.asarray(np.minimum(1.0, 2 * tail), dtype=float)


def detectable_difference(
    n: float, discordant: float, alpha: float = ALPHA, power: float = POWER
) -> float:
    """Return the smallest true difference that a paired test of n problems detects with `power`.

    See `detectable_differences`. n can be fractional. Infinite if no difference up to
    `discordant` would be detected.
    """
    difference = float(detectable_differences(n, discordant, alpha, power))
    return difference if difference <= discordant else float("inf")


def detectable_differences(
    n: npt.ArrayLike, spread: npt.ArrayLike, alpha: float = ALPHA, power: float = POWER
) -> Floats:
    """Return the smallest true differences that paired tests of n problems detect.

    Solves Connor (1987), Biometrics 43, p. 209, for the difference d of McNemar's test: n =
    ((z_alpha sqrt(p) + z_power sqrt(p - d^2)) / d)^2, a quadratic equation in d. p is the share
    of problems on which the two differ; for means of several samples it is the mean squared
    difference, which has the same role in the variance.

    Args:
        n: Effective numbers of problems; can be fractional.
        spread: p of each test, in (0, 1].
        alpha: Two-sided level of each test; for a family, that of its strictest step.
        power: Probability of detecting the difference.

    Returns:
        Differences in [0, 1]; infinite if n is too small.
    """
    normal = NormalDist()
    z_alpha, z_power = normal.inv_cdf(1 - alpha / 2), normal.inv_cdf(power)
    sizes, shares = np.asarray(n, dtype=float), np.asarray(spread, dtype=float)
    room = sizes + z_power**2 - z_alpha**2
    root = np.sqrt(np.maximum(room, 0.0))
    difference = (
        np.sqrt(shares)
        * (np.sqrt(np.maximum(sizes, 0.0)) * z_alpha + z_power * root)
        / (np.maximum(sizes, 0.0) + z_power**2)
    )
    return np.asarray(np.where((room > 0) & (difference <= 1), difference, np.inf), dtype=float)


class Bootstrap(NamedTuple):
    """A mean difference in [-1, 1] with its percentile interval and two-sided p."""

    value: float
    low: float
    high: float
    p: float


def bootstrap_difference(
    differences: Sequence[float],
    groups: Sequence[Hashable],
    confidence: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Bootstrap:
    """Bootstrap the mean difference over the same problems, with clusters drawn with replacement.

    Percentile interval (Efron and Tibshirani 1993, section 13.3); p is twice the smaller share
    of resamples on either side of zero, each count increased by one (Davison and Hinkley 1997,
    section 4.2.1).

    Args:
        differences: First minus second of each problem, in [-1, 1].
        groups: Cluster of each problem.
        confidence: Two-sided level of the interval, in (0, 1).
        seed: Random seed; equal seeds give equal results.
        resamples: Number of resamples.

    Raises:
        ValueError: If the two differ in length or are empty.
    """
    deltas = np.asarray(differences, dtype=float)
    if not len(deltas) or len(deltas) != len(groups):
        raise ValueError(f"{len(deltas)} differences but {len(groups)} groups")
    places = number_labels(groups)
    sums, sizes = np.bincount(places, weights=deltas), np.bincount(places)
    generator = np.random.default_rng(seed)
    means = np.concatenate(
        [
            _draw_means(generator, sums, sizes, min(_AT_ONCE, resamples - start))
            for start in range(0, resamples, _AT_ONCE)
        ]
    )
    tail = 50 * (1 - confidence)
    low, high = np.percentile(means, [tail, 100 - tail])
    sides = min(int((means <= 0).sum()), int((means >= 0).sum()))
    p = min(1.0, 2 * (sides + 1) / (resamples + 1))
    return Bootstrap(float(deltas.mean()), float(low), float(high), p)


def _draw_means(
    generator: np.random.Generator, sums: np.ndarray, sizes: np.ndarray, resamples: int
) -> np.ndarray:
    clusters = len(sums)
    weights = generator.multinomial(clusters, np.full(clusters, 1 / clusters), resamples)
    return np.asarray((weights @ sums) / (weights @ sizes), dtype=float)
