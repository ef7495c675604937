"""Intervals of an accuracy: Wilson's, the same for clustered problems, and failure bounds.

Every accuracy here is a share in [0, 1]; `confidence` is the two-sided level in (0, 1).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import sqrt
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


class Bounds(NamedTuple):
    """The accuracy with every failure counted as wrong, and with every failure as right."""

    pessimistic: float
    optimistic: float


def z_value(confidence: float) -> float:
    """The standard normal quantile of a two-sided level: 1.96 for 0.95."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


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


def clustered_wilson(
    values: Sequence[float], groups: Sequence[Hashable], confidence: float = 0.95
) -> Estimate:
    """The mean of `values` (each in [0, 1]) with Wilson's interval at the effective sample size.

    n_eff = n / design effect (Kish). With all groups distinct this is Wilson's interval.
    Verdicts strictly between 0 and 1 make it wider than needed, never narrower.
    """
    n = len(values)
    if n == 0:
        return Estimate(float("nan"), 0.0, 1.0, 0, 0.0)
    mean = float(np.mean(values))
    n_eff = n / design_effect(values, groups)
    lo, hi = wilson(min(mean * n_eff, n_eff), n_eff, confidence)
    return Estimate(mean, lo, hi, n, n_eff)


def failure_bounds(values: Sequence[float], failed: Sequence[bool]) -> Bounds:
    """Accuracy with failures (no scorable answer) as wrong, and as right. NaN without data."""
    n = len(values)
    if n == 0:
        return Bounds(float("nan"), float("nan"))
    right = sum(value for value, fail in zip(values, failed, strict=True) if not fail)
    return Bounds(right / n, (right + sum(failed)) / n)
