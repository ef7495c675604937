"""Intervals of accuracies and means, also for clustered problems.

Every accuracy is a share in [0, 1]; `confidence` is the two-sided level in (0, 1).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from omibench.statistics.design_effect import effective_n, effective_share_n
from omibench.statistics.quantiles import t_value, z_value


class Estimate(NamedTuple):
    """A mean of n values with its interval and its effective number of independent values."""

    mean: float
    lo: float
    hi: float
    n: int
    n_eff: float


def wilson(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Compute Wilson's score interval of a share (Wilson 1927, eq. 5; used by USNCO-V, section 4).

    `successes` and `n` can be fractional (an effective sample size). Without data the result is
    (0, 1). Raises ValueError if `successes` is not in [0, n].
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


def clustered_wilson(
    values: Sequence[float], groups: Sequence[Hashable], confidence: float = 0.95
) -> Estimate:
    """Return the mean of `values` (each in [0, 1]) with Wilson's interval at the effective n.

    With distinct groups and values of 0 and 1 this is Wilson's interval. For values in between,
    such as means of several samples, the effective size follows from their variance
    (`effective_share_n`). In simulation, 95 % intervals of accuracies from 20 to 80 % cover 93
    to 97 % at 1 to 16 samples of 30 problems or more, those of 2 to 10 % cover 94 to 98 %.
    """
    n = len(values)
    if n == 0:
        return Estimate(nan, 0.0, 1.0, 0, 0.0)
    mean = float(np.mean(values))
    n_eff = effective_share_n(values, groups, confidence)
    lo, hi = wilson(min(mean * n_eff, n_eff), n_eff, confidence)
    return Estimate(mean, lo, hi, n, n_eff)


def clustered_mean(
    values: Sequence[float],
    groups: Sequence[Hashable],
    confidence: float,
    lowest: float,
    highest: float,
) -> Estimate:
    """Return the mean of values on a scale, with Student's interval at the effective sample size.

    Args:
        values: Values in [lowest, highest].
        groups: Cluster of each value.
        confidence: Two-sided level, in (0, 1).
        lowest: Lower end of the scale.
        highest: Upper end of the scale.

    Returns:
        The mean and its interval, clipped to the scale; the whole scale for fewer than two values.

    Raises:
        MissingExtraError: If there are two values or more and scipy is not installed.
    """
    n = len(values)
    if n < 2:
        return Estimate(values[0] if values else nan, lowest, highest, n, float(n))
    mean = sum(values) / n
    n_eff = effective_n(values, groups, confidence)
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    half = t_value(confidence, n - 1) * sqrt(variance / n_eff)
    return Estimate(mean, max(lowest, mean - half), min(highest, mean + half), n, n_eff)


def clustered_median(
    values: Sequence[float], groups: Sequence[Hashable], confidence: float = 0.95
) -> Estimate:
    """Return the median of values, with the interval of a share of one half (Woodruff 1952).

    The bounds are the quantiles at the bounds of the share of values up to the median, whose
    interval is that of `clustered_wilson`.

    Args:
        values: Values on any scale, such as seconds.
        groups: Cluster of each value.
        confidence: Two-sided level, in (0, 1).
    """
    n = len(values)
    if n == 0:
        return Estimate(nan, nan, nan, 0, 0.0)
    array = np.asarray(values, dtype=float)
    median = float(np.median(array))
    share = clustered_wilson([float(value <= median) for value in values], groups, confidence)
    lo, hi = wilson(share.n_eff / 2, share.n_eff, confidence)
    bounds = np.quantile(array, [lo, hi])
    return Estimate(median, float(bounds[0]), float(bounds[1]), n, share.n_eff)
