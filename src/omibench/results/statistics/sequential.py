"""Candidates that cannot be the best any more, found at several looks at growing data.

A pair of candidates is tested at every look. The levels of the tests spend `alpha` over the looks,
so that the better of two is found behind at any of them with probability at most `alpha`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from functools import lru_cache
from math import e, log1p, sqrt
from typing import NamedTuple

import numpy as np

from omibench.extras import require_extra
from omibench.results.statistics.intervals import Floats
from omibench.results.statistics.paired import compare_sums, sum_pairs
from omibench.schemas.adaptive import Spending

_NODES = 400
"""Nodes of the numerical integrals; 800 change no level by more than a millionth of itself."""
_LEAST = 1e-280
"""A level below this is that of a bound that nothing exceeds."""
_FAR = 9.0
"""Standard deviations beyond which a normal density counts as zero."""


def spend_alpha(fraction: float, alpha: float, spending: Spending) -> float:
    """Return the part of a one-sided level that is spent when a fraction of the data is known.

    `obrien-fleming` is 2 - 2 Phi(z_(alpha/2) / sqrt(t)), which is near the boundary of O'Brien and
    Fleming (1979, Biometrics 35, 549-556) and spends almost nothing early; `pocock` is
    alpha log(1 + (e - 1) t) (Lan and DeMets 1983, Biometrika 70, 659-663, section 3).

    Args:
        fraction: Share of the planned data, t in (0, 1].
        alpha: One-sided level over all looks, in (0, 1).
        spending: The spending function.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    require_extra("stats", "looks at a part of the problems", "scipy")
    from scipy.special import ndtr, ndtri

    if spending == "pocock":
        return alpha * log1p((e - 1) * fraction)
    return float(2 * ndtr(ndtri(alpha / 2) / sqrt(fraction)))


@lru_cache(maxsize=64)
def find_levels(
    fractions: tuple[float, ...], alpha: float, spending: Spending
) -> tuple[float, ...]:
    """Return the nominal one-sided level of the test at each look.

    A test rejects if its p is at most the level of its look. Without a difference, the tests of
    all looks together reject with probability `alpha`: the boundaries are those of a Brownian
    motion, by recursive numerical integration (Armitage, McPherson and Rowe 1969, Journal of the
    Royal Statistical Society A 132, 235-244; Jennison and Turnbull 2000, section 19.2).

    Args:
        fractions: Share of the planned data at each look, ascending, in (0, 1].
        alpha: One-sided level over all looks, in (0, 1).
        spending: The spending function.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    require_extra("stats", "looks at a part of the problems", "scipy")
    from scipy.optimize import brentq
    from scipy.special import ndtr

    abscissae, weights = np.polynomial.legendre.leggauss(_NODES)
    levels: list[float] = []
    spent = before = 0.0
    places, masses = np.zeros(1), np.ones(1)  # the motion starts at zero and has not crossed
    for fraction in fractions:
        step = sqrt(fraction - before)
        total = spend_alpha(fraction, alpha, spending)

        def find_excess(bound: float, goal: float, step: float = step) -> float:
            return float(masses @ ndtr((places - bound) / step)) - goal  # noqa: B023

        far = 4 * _FAR * sqrt(fraction)
        goal = total - spent
        bound = (
            far
            if goal < _LEAST
            else float(brentq(find_excess, -far, far, args=(goal,), xtol=1e-13))
        )
        levels.append(float(ndtr(-bound / sqrt(fraction))))
        low = -_FAR * sqrt(fraction)
        nodes = low + (bound - low) * (abscissae + 1) / 2
        density = np.exp(-(((nodes[:, None] - places) / step) ** 2) / 2) @ masses
        masses = density / (step * sqrt(2 * np.pi)) * weights * (bound - low) / 2
        places, spent, before = nodes, total, fraction
    return tuple(levels)


class StoppedCandidate(NamedTuple):
    """A candidate found to be behind the leader."""

    candidate: int
    difference: float
    """Mean of the leader minus that of the candidate, on the problems of both."""
    p: float
    """One-sided p of the test, at most the level of the look."""


class LookResult(NamedTuple):
    """What one look found: the candidate with the highest mean, and those behind it."""

    leader: int
    stops: list[StoppedCandidate]


def compare_with_leader(
    values: Floats, groups: Sequence[Hashable], level: float, keep: Collection[int] = ()
) -> LookResult:
    """Test which candidates are behind the leader, the one with the highest mean.

    Each is compared with the leader on the problems with a value of both, by the paired test of
    `compare_sums`, one-sided.

    Args:
        values: Values in [0, 1] so far: [problems, candidates]; NaN if unknown.
        groups: Cluster of each problem.
        level: Nominal one-sided level of each test at this look.
        keep: Columns of candidates that are never stopped; they can lead.

    Returns:
        The leader, and the candidates that stop, in order.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    known = ~np.isnan(values)
    means = np.where(known, values, 0.0).sum(axis=0) / np.maximum(1, known.sum(axis=0))
    leader = int(means.argmax())
    labels = np.array([str(group) for group in groups])
    stops = []
    for candidate in range(values.shape[1]):
        both = known[:, leader] & known[:, candidate]
        if candidate == leader or candidate in keep or not both.any():
            continue
        sums = sum_pairs(values[both, leader], values[both, candidate], labels[both].tolist())
        tests = compare_sums(sums)
        difference, p = float(tests.difference[0]), float(tests.p[0]) / 2
        if difference > 0 and p <= level:
            stops.append(StoppedCandidate(candidate, difference, p))
    return LookResult(leader, stops)


class LooksResult(NamedTuple):
    """The result of all looks at complete values."""

    asked: list[int]
    """Number of problems that each candidate was asked."""
    left: list[int]
    """Candidates that no look stopped."""


class LookPlan(NamedTuple):
    """When looks are held, and how much they decide."""

    sizes: Sequence[int]
    """Number of problems known at each look, ascending."""
    alpha: float
    """Probability with which the best candidate may be stopped."""
    spending: Spending = "obrien-fleming"


def hold_looks(
    values: Floats, groups: Sequence[Hashable], plan: LookPlan, keep: Collection[int] = ()
) -> LooksResult:
    """Hold all looks at values that are known in full, such as simulated ones.

    Args:
        values: Values in [0, 1]: [problems, candidates], in the order in which they are asked.
        groups: Cluster of each problem.
        plan: The looks.
        keep: Candidates that are never stopped.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    count, sizes = values.shape[1], plan.sizes
    left, asked = list(range(count)), [sizes[-1]] * count
    fractions = tuple(size / sizes[-1] for size in sizes)
    levels = find_levels(fractions, share_alpha(plan.alpha, count), plan.spending)
    for size, level in zip(sizes, levels, strict=True):
        if len(left) < 2:
            break
        kept = [place for place, candidate in enumerate(left) if candidate in keep]
        result = compare_with_leader(values[:size, left], groups[:size], level, kept)
        behind = [left[stop.candidate] for stop in result.stops]
        left = [candidate for candidate in left if candidate not in behind]
        for candidate in behind:
            asked[candidate] = size
    return LooksResult(asked, left)


def share_alpha(alpha: float, candidates: int) -> float:
    """Return the level of each pair.

    The best candidate is stopped only if one of the others is found ahead of it, so that the
    levels of these pairs add up to `alpha` (Bonferroni).
    """
    return alpha / max(1, candidates - 1)
