"""Exact distribution of the number of problems that guessing gets right.

Every problem is guessed independently with its own probability, so the number of correct guesses
is Poisson binomial (Wang 1993, section 1): binomials of equal probabilities, convolved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import lgamma, log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class GuessedAccuracy(NamedTuple):
    """Accuracy of guessing n problems: a share in [0, 1] with figures of its distribution.

    The interval `lo` to `hi` contains the central part of the distribution; guessing exceeds
    `upper` with probability of at most 1 - confidence.
    """

    mean: float
    sd: float
    lo: float
    hi: float
    upper: float
    n: int


def count_distribution(chances: Sequence[float]) -> Floats:
    """Compute P(exactly k right) for k = 0, ..., n.

    Args:
        chances: Probability of a correct guess for each problem, in [0, 1].

    Returns:
        n + 1 probabilities that sum to 1.

    Raises:
        ValueError: If a probability is not in [0, 1].
    """
    distribution = np.ones(1)
    for chance, problems in sorted(Counter(chances).items()):
        if not 0 <= chance <= 1:
            raise ValueError(f"a chance must be in [0, 1], got {chance}")
        distribution = np.convolve(distribution, _binomial(problems, chance))
    return np.asarray(distribution / distribution.sum())


def guess_accuracy(chances: Sequence[float], confidence: float = 0.95) -> GuessedAccuracy:
    """Compute the result of guessing on a set of problems.

    Args:
        chances: Probability of a correct guess for each problem, in [0, 1].
        confidence: Probability mass between `lo` and `hi`, and up to `upper`.

    Raises:
        ValueError: If there is no problem, or a probability is not in [0, 1].
    """
    n = len(chances)
    if not n:
        raise ValueError("no problems to guess")
    below = np.cumsum(count_distribution(chances))
    tail = (1 - confidence) / 2
    # Sums of thousands of terms deviate in the last digits.
    lo, hi, upper = (
        int(np.searchsorted(below, share - 1e-12)) for share in (tail, 1 - tail, confidence)
    )
    variance = sum(chance * (1 - chance) for chance in chances)
    return GuessedAccuracy(sum(chances) / n, sqrt(variance) / n, lo / n, hi / n, upper / n, n)


def _binomial(n: int, chance: float) -> Floats:
    if chance in (0, 1):
        certain = np.zeros(n + 1)
        certain[round(n * chance)] = 1.0
        return certain
    logs = [
        lgamma(n + 1)
        - lgamma(k + 1)
        - lgamma(n - k + 1)
        + k * log(chance)
        + (n - k) * log(1 - chance)
        for k in range(n + 1)
    ]
    return np.asarray(np.exp(logs))
