"""Tests of many paired comparisons at once, from sums over the problems of each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from omibench.statistics.mcnemar import mcnemar_p
from omibench.statistics.power import ALPHA, POWER, detectable_differences
from omibench.statistics.quantiles import Floats, t_tails

_FLAT = 1e-12
"""A mean squared deviation below this is rounding error: all differences are equal."""


class PairSums(NamedTuple):
    """Sums over the problems that two cells share; each field has one number per comparison.

    d is the difference of a problem's two values, and m its mean.
    """

    n: Floats
    """Number of problems."""
    clusters: Floats
    gained: Floats
    """Sum of the positive d."""
    lost: Floats
    """Sum of the absolute negative d."""
    squares: Floats
    """Sum of (d - m)^2."""
    between: Floats
    """Sum over clusters of the squared sum of d - m."""
    size_squares: Floats
    """Sum over clusters of the squared number of problems."""
    single: Floats
    """1 if every d is -1, 0 or 1: one sample per problem, right or wrong."""

    @property
    def difference(self) -> Floats:
        """Mean of d."""
        return (self.gained - self.lost) / self.n


class PairedTests(NamedTuple):
    """Result of `compare_sums`, one number per comparison."""

    difference: Floats
    """First minus second, in [-1, 1]."""
    p: Floats
    """Two-sided; NaN for a single cluster of several problems."""
    detectable: Floats
    """Smallest true difference that the comparison would detect, in [0, 1]."""


def sum_pairs(
    first: Sequence[float], second: Sequence[float], groups: Sequence[Hashable]
) -> PairSums:
    """Return the sums of one comparison from the values of each problem, as arrays of one."""
    deltas = np.subtract(np.asarray(first, dtype=float), np.asarray(second, dtype=float))
    codes = {group: code for code, group in enumerate(dict.fromkeys(groups))}
    places = np.fromiter((codes[group] for group in groups), dtype=int, count=len(groups))
    deviations = deltas - deltas.mean()
    sums, sizes = np.bincount(places, weights=deviations), np.bincount(places)
    numbers = (
        len(deltas), len(sums), deltas[deltas > 0].sum(), -deltas[deltas < 0].sum(),
        deviations @ deviations, sums @ sums, sizes @ sizes, np.isin(deltas, (-1, 0, 1)).all(),
    )  # fmt: skip
    return PairSums(*(np.array([number], dtype=float) for number in numbers))


def compare_sums(sums: PairSums, alpha: float = ALPHA, power: float = POWER) -> PairedTests:
    """Test whether the mean difference of each comparison is zero.

    One sample per problem and no clusters: McNemar's mid-p test. Otherwise Student's test of the
    mean difference with its clustered variance, at clusters - 1 degrees of freedom; if all
    differences are equal, McNemar's with one vote per cluster.

    The detectable difference is that of `omibench plan` (`power.detectable_differences`) at the
    effective number of problems, n over the design effect of the differences, and at the
    observed spread, with one problem added in each direction.

    Args:
        sums: Sums over the problems of each comparison.
        alpha: Level of each test for `detectable`; for a family, that of its strictest step.
        power: Power for the detectable difference.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    difference, several = sums.difference, sums.clusters > 1
    flat = (sums.squares < _FLAT * sums.n) | ~several
    simple = (sums.single > 0) & (sums.clusters == sums.n)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = sums.between * sums.clusters / (sums.clusters - 1)
        independent = sums.squares * sums.n / (sums.n - 1)
        ratio = np.where(flat, np.nan, difference * sums.n / np.sqrt(between))
        effect = np.where(flat, sums.size_squares / sums.n, np.maximum(1.0, between / independent))
    student = t_tails(ratio, np.maximum(sums.clusters - 1, 1))
    votes = np.where(np.abs(difference) > _FLAT, sums.clusters, 0.0)
    alike = np.where(several | (sums.n == 1), mcnemar_p(votes, np.zeros_like(votes)), np.nan)
    pairs = mcnemar_p(np.where(simple, sums.gained, 0.0), np.where(simple, sums.lost, 0.0))
    worth = sums.n / effect
    spread = (sums.squares / sums.n + difference**2) * worth
    detectable = detectable_differences(
        worth, np.minimum(1.0, (spread + 2) / (worth + 2)), alpha, power
    )
    return PairedTests(
        difference, np.where(simple, pairs, np.where(flat, alike, student)), detectable
    )
