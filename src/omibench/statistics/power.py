"""Smallest difference of two accuracies that a study can detect on the same problems."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from omibench.statistics.quantiles import Floats

ALPHA = 0.05
POWER = 0.8
DISCORDANT = (0.2, 0.3, 0.5)
"""Shares of problems on which exactly one model is right: 0.5 for two independent models with
accuracy 0.5, less for models that find the same problems hard.
"""


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
