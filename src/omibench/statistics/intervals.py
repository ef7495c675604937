"""Intervals of an accuracy: Wilson's, and the same for clustered problems.

Every accuracy here is a share in [0, 1]; `confidence` is the two-sided level in (0, 1).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import pi, sqrt, tan
from statistics import NormalDist
from typing import NamedTuple

import numpy as np


class Estimate(NamedTuple):
    """A mean of n values with its interval and the number of independent values it is worth."""

    mean: float
    lo: float
    hi: float
    n: int
    n_eff: float


def z_value(confidence: float) -> float:
    """The standard normal quantile of a two-sided level: 1.96 for 0.95."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def t_value(confidence: float, freedom: int) -> float:
    """Student's quantile of a two-sided level; 3 % too small at 3 or 4 degrees, else within 1 %.

    Exact for one and two degrees of freedom, else the expansion 26.7.5 of Abramowitz and Stegun.
    """
    if freedom == 1:
        return tan(pi * confidence / 2)
    if freedom == 2:
        return confidence * sqrt(2 / (1 - confidence**2))
    z = z_value(confidence)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(freedom) ** power for power, term in enumerate(terms, 1))


def wilson(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share (Wilson 1927, eq. 5; used by USNCO-V, section 4).

    `successes` and `n` may be fractional (an effective sample size). No data says nothing: (0, 1).
    Raises ValueError when `successes` is not in [0, n].
    """
    if n == 0 and successes == 0:
        return 0.0, 1.0
    if not 0 <= successes <= n:
        raise ValueError(f"successes must be in [0, n], got {successes} of {n}")
    z = z_value(confidence)
    share, spread = successes / n, z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(share * (1 - share) / n + spread / (4 * n))
    lo = 0.0 if successes == 0 else max(0.0, centre - half)
    hi = 1.0 if successes == n else min(1.0, centre + half)
    return lo, hi


def design_effect(values: Sequence[float], groups: Sequence[Hashable]) -> float:
    """How many times clustering inflates the variance of the mean; at least 1 (Kish 1965).

    The between-cluster (sandwich) variance over the variance of independent values, each with
    its small-sample factor, so that clusters of one give exactly 1. Values that are all equal
    tell nothing about their correlation: then the worst, 1, is assumed for it.
    Raises ValueError when the two sequences differ in length.
    """
    if len(values) != len(groups):
        raise ValueError(f"{len(values)} values but {len(groups)} groups")
    n = len(values)
    if n < 2:
        return 1.0
    array = np.asarray(values, dtype=float)
    codes = {group: code for code, group in enumerate(dict.fromkeys(groups))}
    inverse = np.fromiter((codes[group] for group in groups), dtype=int, count=n)
    deviations = array - array.mean()
    independent = float(deviations @ deviations) * n / (n - 1)
    clusters = len(codes)
    if independent < 1e-12 * n or clusters == 1:
        sizes = np.bincount(inverse)
        return float(sizes @ sizes) / n
    sums = np.bincount(inverse, weights=deviations)
    between = float(sums @ sums) * clusters / (clusters - 1)
    return max(1.0, between / independent)


def effective_n(
    values: Sequence[float], groups: Sequence[Hashable], confidence: float = 0.95
) -> float:
    """How many independent values these are worth: n / design effect, less for few clusters.

    Few clusters make the design effect itself uncertain: the squared ratio of Student's quantiles
    at n - 1 and clusters - 1 degrees of freedom allows for it (Korn and Graubard 1998, section 2).
    """
    n, clusters = len(values), len(set(groups))
    worth = n / design_effect(values, groups)
    if not 1 < clusters < n:
        return worth
    ratio = t_value(confidence, n - 1) / t_value(confidence, clusters - 1)
    return worth * ratio**2


def clustered_wilson(
    values: Sequence[float], groups: Sequence[Hashable], confidence: float = 0.95
) -> Estimate:
    """The mean of `values` (each in [0, 1]) with Wilson's interval at the effective sample size.

    With all groups distinct this is Wilson's interval. Verdicts strictly between 0 and 1 make it
    wider than needed, never narrower.
    """
    n = len(values)
    if n == 0:
        return Estimate(float("nan"), 0.0, 1.0, 0, 0.0)
    mean = float(np.mean(values))
    n_eff = effective_n(values, groups, confidence)
    lo, hi = wilson(min(mean * n_eff, n_eff), n_eff, confidence)
    return Estimate(mean, lo, hi, n, n_eff)
