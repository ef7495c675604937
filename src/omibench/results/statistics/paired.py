"""Differences of two accuracies, on the same or on different problems: intervals, tests, power.

`compare_sums` and `bound_differences` take the sums of any number of comparisons;
`paired_difference` is the latter for a single one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isnan, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from omibench.extras import require_extra
from omibench.results.statistics.fixed_effects import fit_effect, subtract_means
from omibench.results.statistics.intervals import (
    FLAT,
    Booleans,
    Estimate,
    Floats,
    Sums,
    estimate_design_effects,
    number_labels,
    sum_values,
    t_tails,
    t_values,
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
_HALVINGS = 30
"""Steps of the search for a bound, which leave an error of 1e-9."""
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

    It contains the differences that the test of `compare_sums` does not reject, so it excludes
    zero exactly if p < 1 - level: Tango's score interval for single answers to problems without
    shared stems, else Student's interval with the clustered variance. A single cluster of several
    problems gives no variance, and the result is (-1, 1).

    Args:
        sums: Sums over the problems of each comparison.
        level: Two-sided level of each interval, in (0, 1).

    Raises:
        MissingExtraError: If scipy is needed and not installed.
    """
    low, high = np.full(sums.n.shape, -1.0), np.full(sums.n.shape, 1.0)
    scored = _are_scored(sums)
    if scored.any():
        low[scored], high[scored] = _bound_scores(sums.select(scored), level)
    means = ~scored & (sums.clusters > 1)
    if means.any():
        part = sums.select(means)
        half = _estimate_errors(part) * t_values(level, part.clusters - 1)
        low[means], high[means] = part.mean - half, part.mean + half
    return np.maximum(-1.0, low), np.minimum(1.0, high)


def _are_scored(sums: PairSums) -> Booleans:
    """Return which comparisons are tested by scores of pairs, not by the variance of clusters.

    Those with a variance of zero are, because it says nothing.
    """
    flat = sums.alike | (sums.between < FLAT * sums.n)
    simple = sums.binary & (sums.clusters == sums.n)
    return np.asarray(simple | (flat & (sums.clusters > 1)), dtype=bool)


def _estimate_errors(sums: PairSums) -> Floats:
    """Return the standard error of each mean difference of several clusters."""
    return np.asarray(np.sqrt(sums.between * sums.clusters / (sums.clusters - 1)) / sums.n)


def _test_scores(sums: PairSums) -> tuple[Floats, Floats]:
    """Return McNemar's score statistic (gained - lost) / sqrt(gained + lost), and its p.

    The counts are those of the effective number of pairs (McNemar 1947).
    """
    differing = np.maximum(sums.gained + sums.lost, FLAT)
    ratio = (sums.gained - sums.lost) / np.sqrt(differing * estimate_design_effects(sums))
    return ratio, t_tails(ratio, np.inf)


def _bound_scores(sums: PairSums, level: float) -> tuple[Floats, Floats]:
    """Return the score interval of each difference at the effective number of pairs n.

    The bounds solve (gained - lost - n d) / sqrt(n (2 q + d (1 - d))) = +-z for d, where q is the
    most likely share of lost pairs if the difference is d (Tango 1998, Statistics in Medicine 17,
    891-908). The test decides on which side of zero to search, so that rounding cannot.
    """
    ratio, p = _test_scores(sums)
    excluded = p < 1 - level
    worth = sums.n / estimate_design_effects(sums)
    gained, lost = (part * worth / sums.n for part in (sums.gained, sums.lost))
    # The upper bound is the lower one of the reverse difference.
    up, down, pairs = np.stack([gained, lost]), np.stack([lost, gained]), np.stack([worth] * 2)
    above = np.stack([excluded & (ratio > 0), excluded & (ratio < 0)])
    mean, limit = (up - down) / pairs, z_value(level) * np.sqrt(pairs)
    left, right = np.where(above, 0.0, -1.0), np.where(above, mean, np.minimum(mean, 0.0))
    for _ in range(_HALVINGS):
        d = (left + right) / 2
        linear = (2 * pairs - up + down) * d - up - down
        root = np.sqrt(np.maximum(0.0, linear**2 + 8 * pairs * down * d * (1 - d)))
        variance = np.maximum(0.0, (root - linear) / (2 * pairs) + d * (1 - d))
        inside = pairs * (mean - d) <= limit * np.sqrt(variance)
        left, right = np.where(inside, left, d), np.where(inside, d, right)
    low, high = np.where(above, right, left)
    return low, -high


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


def adjusted_difference(
    values: Sequence[float] | Floats,
    first: Sequence[bool] | Booleans,
    strata: Sequence[Hashable],
    groups: Sequence[Hashable],
    confidence: float = 0.95,
) -> AccuracyDifference:
    """Return the difference of two kinds of problems, adjusted for their mix of strata.

    It is the mean of the differences within the strata, with weights a b / (a + b) for a and b
    problems (Mantel and Haenszel; Greenland and Robins 1985, Biometrics 41, 55-68), which is the
    coefficient of the kind in a linear regression with the stratum as covariate: `fit_effect`,
    whose interval holds its level with few problems of one kind.

    Args:
        values: Value of each problem, in [0, 1].
        first: Whether a problem is of the first kind, not the second.
        strata: Stratum of each problem, such as its subject.
        groups: Cluster of each problem.
        confidence: Two-sided level, in (0, 1).

    Returns:
        First minus second over the n problems of the strata with both kinds; NaN in (-1, 1) if
        there are none, and the interval (-1, 1) if the values determine no variance.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    kept = np.abs(subtract_means(first, number_labels(strata))) > EQUAL
    n = int(kept.sum())
    if not n:
        return AccuracyDifference(float("nan"), -1.0, 1.0, 0)
    stratum, group = (number_labels(column)[kept].tolist() for column in (strata, groups))
    outcomes, kinds = np.asarray(values, dtype=float)[kept], np.asarray(first, dtype=bool)[kept]
    effect = fit_effect(outcomes, kinds, stratum, group, confidence)
    if isnan(effect.low):
        return AccuracyDifference(effect.value, -1.0, 1.0, n)
    return AccuracyDifference(effect.value, effect.low, effect.high, n)


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

    One sample per problem and no shared stems: McNemar's score test. Otherwise Student's test of
    the mean difference with its clustered variance, at clusters - 1 degrees of freedom; if that
    is zero, the score test at the effective number of problems.

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
    difference = (sums.gained - sums.lost) / sums.n
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(sums.clusters > 1, difference / _estimate_errors(sums), np.nan)
    student = t_tails(ratio, np.maximum(sums.clusters - 1, 1))
    p = np.where(_are_scored(sums), _test_scores(sums)[1], student)
    worth = sums.n / estimate_design_effects(sums)
    spread = (sums.squares / sums.n + difference**2) * worth
    detectable = detectable_differences(
        worth, np.minimum(1.0, (spread + 2) / (worth + 2)), alpha, power
    )
    return PairedTests(difference, p, detectable)


def mcnemar_p(gained: npt.ArrayLike, lost: npt.ArrayLike) -> Floats:
    """Return the exact two-sided p of equally frequent gains and losses, for many comparisons.

    Each of the gained + lost problems goes either way with probability 1/2 (McNemar 1947).

    Args:
        gained: Number of problems that only the first answered correctly.
        lost: Number of problems that only the second answered correctly.

    Returns:
        p in [0, 1]; 1 if no problem is gained or lost.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    require_extra("stats", "McNemar's test", "scipy")
    from scipy.special import bdtr

    up, down = np.asarray(gained, dtype=np.int64), np.asarray(lost, dtype=np.int64)
    tail = bdtr(np.minimum(up, down), up + down, 0.5)
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
