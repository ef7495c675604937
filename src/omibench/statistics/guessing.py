"""How many problems a guesser gets right: the exact distribution, not only its mean.

Every problem is guessed apart from the others with a chance of its own, so the number of right ones
is Poisson binomial (Wang 1993, section 1): binomials of equal chances, convolved.
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
    """The accuracy of guessing n problems: a share in [0, 1] with its distribution's figures.

    `lo` and `hi` hold the central part of the distribution, `upper` is what guessing exceeds with
    a chance of 1 - confidence at most.
    """

    mean: float
    sd: float
    lo: float
    hi: float
    upper: float
    n: int


def count_distribution(chances: Sequence[float]) -> Floats:
    """P(exactly k right) for k = 0, ..., n.

    Args:
        chances: Of a right guess, one for each problem, in [0, 1].

    Returns:
        n + 1 probabilities that sum to 1.

    Raises:
        ValueError: A chance is not in [0, 1].
    """
    distribution = np.ones(1)
    for chance, problems in sorted(Counter(chances).items()):
        if not 0 <= chance <= 1:
            raise ValueError(f"a chance must be in [0, 1], got {chance}")
        distribution = np.convolve(distribution, _binomial(problems, chance))
    return np.asarray(distribution / distribution.sum())


def guess_accuracy(chances: Sequence[float], confidence: float = 0.95) -> GuessedAccuracy:
    """What guessing gives on some problems.

    Args:
        chances: Of a right guess, one for each problem, in [0, 1].
        confidence: How much of the distribution lies from `lo` to `hi`, and up to `upper`.

    Raises:
        ValueError: There is no problem, or a chance is not in [0, 1].
    """
    n = len(chances)
    if not n:
        raise ValueError("there is no problem to guess")
    below = np.cumsum(count_distribution(chances))
    tail = (1 - confidence) / 2
    # Sums of thousands of terms end a few units of the last place off.
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
