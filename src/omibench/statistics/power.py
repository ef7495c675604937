"""The smallest difference of two accuracies that a study can detect on the same problems."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

ALPHA = 0.05
POWER = 0.8
DISCORDANT = (0.2, 0.3, 0.5)
"""Shares of problems on which one model is right and the other wrong: 0.5 for two independent
models that are right half of the time, less for models that find the same problems hard."""


def detectable_difference(
    n: float, discordant: float, alpha: float = ALPHA, power: float = POWER
) -> float:
    """The smallest true difference that a two-sided paired test of n problems finds with `power`.

    Solves Connor (1987), Biometrics 43, p. 209, for the difference d of McNemar's test:
    n = ((z_alpha sqrt(p) + z_power sqrt(p - d^2)) / d)^2, where p is the share of `discordant`
    problems. n may be fractional. Infinite when no difference up to p would be found.
    """
    normal = NormalDist()
    z_alpha, z_power = normal.inv_cdf(1 - alpha / 2), normal.inv_cdf(power)

    def compute_sample_size(d: float) -> float:
        return ((z_alpha * sqrt(discordant) + z_power * sqrt(discordant - d * d)) / d) ** 2

    if n <= 0 or compute_sample_size(discordant) > n:
        return float("inf")
    low, high = 0.0, discordant
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if middle == 0 or compute_sample_size(middle) > n else (low, middle)
        )
    return high
