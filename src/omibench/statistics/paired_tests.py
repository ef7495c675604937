"""Tests of many paired comparisons at once, from sums over the problems of each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from omibench.statistics.mcnemar import mcnemar_p
from omibench.statistics.power import ALPHA, POWER, detectable_differences
from omibench.statistics.quantiles import Floats, t_tails

_FLAT = 1e-12
"""A mean squared deviation below this is rounding: all differences are the same."""


class PairSums(NamedTuple):
    """Sums over the problems that two cells share; each field has one number a comparison.

    d is the difference of a problem's two values, D the sum of d over a cluster and m its number
    of problems.
    """

    n: Floats
    """Problems."""
    clusters: Floats
    gained: Floats
    """Sum of the positive d."""
    lost: Floats
    """Sum of the negative d, without their sign."""
    squares: Floats
    """Sum of d^2."""
    cluster_squares: Floats
    """Sum of D^2 over clusters."""
    cluster_products: Floats
    """Sum of D m over clusters."""
    size_squares: Floats
    """Sum of m^2 over clusters."""
    single: Floats
    """1 where every d is -1, 0 or 1: one sample a problem, right or wrong."""

    @property
    def difference(self) -> Floats:
        """The mean of d."""
        return (self.gained - self.lost) / self.n

    @property
    def independent(self) -> Floats:
        """Variance of the mean if problems were independent, times n^2: the sum of squares."""
        mean = self.difference
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.squares - self.n * mean**2) * self.n / (self.n - 1)

    @property
    def between(self) -> Floats:
        """The same with clustered problems: the sandwich over clusters, with G / (G - 1)."""
        mean = self.difference
        raw = self.cluster_squares - 2 * mean * self.cluster_products + mean**2 * self.size_squares
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.maximum(raw, 0.0) * self.clusters / (self.clusters - 1)


class PairedTests(NamedTuple):
    """What `compare_sums` finds, one number a comparison."""

    difference: Floats
    """First minus second, in [-1, 1]."""
    p: Floats
    """Two-sided; NaN for a single cluster of several problems."""
    detectable: Floats
    """The smallest true difference that the comparison would have found, in [0, 1]."""


def sum_pairs(
    first: Sequence[float], second: Sequence[float], groups: Sequence[Hashable]
) -> PairSums:
    """The sums of one comparison, from the values of each problem; arrays of one number."""
    deltas = np.subtract(np.asarray(first, dtype=float), np.asarray(second, dtype=float))
    codes = {group: code for code, group in enumerate(dict.fromkeys(groups))}
    places = np.fromiter((codes[group] for group in groups), dtype=int, count=len(groups))
    sums, sizes = np.bincount(places, weights=deltas), np.bincount(places)
    numbers = (
        len(deltas), len(sums), deltas[deltas > 0].sum(), -deltas[deltas < 0].sum(),
        deltas @ deltas, sums @ sums, sums @ sizes, sizes @ sizes,
        np.isin(deltas, (-1, 0, 1)).all(),
    )  # fmt: skip
    return PairSums(*(np.array([number], dtype=float) for number in numbers))


def compare_sums(sums: PairSums, alpha: float = ALPHA, power: float = POWER) -> PairedTests:
    """Test whether the mean difference of each comparison is zero.

    One sample a problem and no clusters: McNemar's mid-p test. Otherwise Student's test of the
    mean difference with its clustered variance, at clusters - 1 degrees of freedom; where all
    differences are equal, McNemar's with one vote a cluster.

    The detectable difference is that of `omibench plan` (`power.detectable_differences`) at the
    effective number of problems, n over the design effect of the differences, and at the spread
    that was observed, with one problem more in each direction.

    Args:
        sums: The sums over the problems of each comparison.
        alpha: The level of each test for `detectable`: of a family, that of its strictest step.
        power: Of the detectable difference.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    difference, between = sums.difference, sums.between
    several = sums.clusters > 1
    flat = (sums.independent < _FLAT * sums.n) | ~several
    simple = (sums.single > 0) & (sums.clusters == sums.n)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = difference * sums.n / np.sqrt(between)
        effect = np.where(
            flat, sums.size_squares / sums.n, np.maximum(1.0, between / sums.independent)
        )
    student = t_tails(np.where(flat, np.nan, ratio), np.maximum(sums.clusters - 1, 1))
    votes = np.where(np.abs(difference) > _FLAT, sums.clusters, 0.0)
    alike = np.where(several | (sums.n == 1), mcnemar_p(votes, np.zeros_like(votes)), np.nan)
    pairs = mcnemar_p(np.where(simple, sums.gained, 0.0), np.where(simple, sums.lost, 0.0))
    worth = sums.n / effect
    spread = np.minimum(1.0, (sums.squares / effect + 2) / (worth + 2))
    detectable = detectable_differences(worth, spread, alpha, power)
    return PairedTests(
        difference, np.where(simple, pairs, np.where(flat, alike, student)), detectable
    )
