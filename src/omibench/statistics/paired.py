"""Differences of two accuracies with intervals, on the same or on different problems."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import NamedTuple

from omibench.statistics.design_effect import effective_n, estimate_design_effect
from omibench.statistics.intervals import Estimate
from omibench.statistics.quantiles import t_value, z_value

EQUAL = 1e-9
"""Differences this close are equal."""


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


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    groups: Sequence[Hashable],
    confidence: float = 0.95,
    comparisons: int = 1,
) -> AccuracyDifference:
    """Return the mean of first - second over the same problems (values in [0, 1]).

    For binary answers: the adjusted Wald interval for paired shares (Bonett and Price 2012, eq.
    4), the interval form of McNemar's comparison, at the effective number of pairs of clustered
    problems. For other differences, such as those of means of several samples: Student's
    interval of their mean at clusters - 1 degrees of freedom, with the clustered variance.
    `comparisons` is the number of simultaneous differences (Bonferroni). Without pairs the
    result is (-1, 1).
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
    """Return Student's interval of a mean difference; a single cluster gives no variance."""
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
    """Return first - second on different problems, by Newcombe's Wilson hybrid (1998, 10)."""
    value = first.mean - second.mean
    lo = value - sqrt((first.mean - first.lo) ** 2 + (second.hi - second.mean) ** 2)
    hi = value + sqrt((first.hi - first.mean) ** 2 + (second.mean - second.lo) ** 2)
    return AccuracyDifference(value, max(-1.0, lo), min(1.0, hi), 0)
