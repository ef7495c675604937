"""Differences of two accuracies with intervals: on the same problems, and on different ones."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import NamedTuple

from omibench.statistics.design_effect import effective_n, estimate_design_effect
from omibench.statistics.intervals import Estimate
from omibench.statistics.quantiles import t_value, z_value

EQUAL = 1e-9
"""Differences that are this close are the same."""


class AccuracyDifference(NamedTuple):
    """First minus second, in [-1, 1], over n pairs (0 where nothing is paired)."""

    value: float
    lo: float
    hi: float
    n: int

    @property
    def distinguishable(self) -> bool:
        """Whether the interval leaves zero out: the only ground on which a difference is told."""
        return self.lo > 0 or self.hi < 0


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    groups: Sequence[Hashable],
    confidence: float = 0.95,
    comparisons: int = 1,
) -> AccuracyDifference:
    """Mean of first - second over the same problems (values in [0, 1]).

    Between answers that are right or wrong: the adjusted Wald interval for paired shares (Bonett
    and Price 2012, eq. 4), the interval form of McNemar's comparison, at the effective number of
    pairs of clustered problems. Where differences lie between, as those of means of several samples
    do: Student's interval of their mean at clusters - 1 degrees of freedom, with the clustered
    variance. `comparisons` is how many differences are looked at together (Bonferroni). No pairs
    says nothing: (-1, 1).
    """
    deltas = [a - b for a, b in zip(first, second, strict=True)]
    n = len(deltas)
    if n == 0:
        return AccuracyDifference(float("nan"), -1.0, 1.0, 0)
    level = 1 - (1 - confidence) / max(1, comparisons)
    if not all(delta in (-1, 0, 1) for delta in deltas) and max(deltas) - min(deltas) > EQUAL:
        return _compare_means(deltas, groups, level)
    pairs = effective_n(deltas, groups, level)
    effect = n / pairs
    gained = sum(d for d in deltas if d > 0) / effect
    lost = -sum(d for d in deltas if d < 0) / effect
    up, down = (gained + 1) / (pairs + 2), (lost + 1) / (pairs + 2)
    half = z_value(level) * sqrt((up + down - (up - down) ** 2) / (pairs + 2))
    centre = up - down
    return AccuracyDifference(sum(deltas) / n, max(-1.0, centre - half), min(1.0, centre + half), n)


def _compare_means(
    deltas: Sequence[float], groups: Sequence[Hashable], level: float
) -> AccuracyDifference:
    """Student's interval of a mean difference; one cluster alone says nothing of its variance."""
    n, clusters = len(deltas), len(set(groups))
    value = sum(deltas) / n
    if clusters == 1:
        return AccuracyDifference(value, -1.0, 1.0, n)
    variance = sum((delta - value) ** 2 for delta in deltas) / (n - 1)
    half = t_value(level, clusters - 1) * sqrt(
        variance * estimate_design_effect(deltas, groups) / n
    )
    return AccuracyDifference(value, max(-1.0, value - half), min(1.0, value + half), n)


def independent_difference(first: Estimate, second: Estimate) -> AccuracyDifference:
    """first - second on different problems, by Newcombe's hybrid of Wilson intervals (1998, 10)."""
    value = first.mean - second.mean
    lo = value - sqrt((first.mean - first.lo) ** 2 + (second.hi - second.mean) ** 2)
    hi = value + sqrt((first.hi - first.mean) ** 2 + (second.mean - second.lo) ** 2)
    return AccuracyDifference(value, max(-1.0, lo), min(1.0, hi), 0)
