"""Quantiles and tails of the normal and Student's distributions, by two-sided level."""

from __future__ import annotations

from functools import cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from omibench.extras import require_extra

Floats = npt.NDArray[np.float64]
"""Values for many groups or cells, one each."""


@cache
def z_value(confidence: float) -> float:
    """Return the standard normal quantile of a two-sided level: 1.96 for 0.95."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


@cache
def t_value(confidence: float, freedom: int) -> float:
    """Return Student's quantile of a two-sided level.

    Args:
        confidence: Two-sided level, in (0, 1).
        freedom: Degrees of freedom, at least 1.

    Returns:
        For example 4.303 for 0.95 and 2 degrees of freedom.

    Raises:
        MissingExtraError: If scipy, part of the extra `stats`, is not installed.
    """
    require_extra("stats", "an interval of few values or few clusters", "scipy")
    # scipy.stats has the same quantile but takes ten times as long to import.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + confidence) / 2))


def t_values(confidence: float, freedom: npt.ArrayLike) -> Floats:
    """Return Student's quantile at each number of degrees of freedom (see `t_value`)."""
    numbers = np.asarray(freedom)
    if numbers.size == 1:
        return np.full(numbers.shape, t_value(confidence, int(numbers.item())))
    unique, places = np.unique(numbers, return_inverse=True)
    quantiles = np.array([t_value(confidence, int(number)) for number in unique], dtype=float)
    return np.asarray(quantiles[places].reshape(numbers.shape), dtype=float)


def t_tails(t: npt.ArrayLike, freedom: npt.ArrayLike) -> Floats:
    """Return both tails of Student's distribution beyond t: the p of a two-sided t test.

    Args:
        t: Test statistics; NaN gives NaN.
        freedom: Degrees of freedom of each, at least 1.

    Returns:
        For example 0.05 for 4.303 and 2 degrees of freedom.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    require_extra("stats", "a p value", "scipy")
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(freedom, -np.abs(t)), dtype=float)
