"""Accuracy of people, who are a sample as problems are, and of guessing.

Answers of one person share the person's ability, answers to one problem (or to problems that
share a stem) its difficulty. An interval that applies to other people and other problems of the
same kinds needs the variance of both (two-way clustering: Cameron, Gelbach and Miller 2011,
section 2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import lgamma, log, sqrt
from typing import NamedTuple

import numpy as np

from omibench.results.statistics.intervals import (
    Codes,
    Floats,
    count_independent,
    estimate_sum_variance,
    number_labels,
    t_value,
    wilson,
)

FEW_PEOPLE = 3
"""Below this many people, 95 % intervals over people and problems cover 90 to 97.5 % in simulation,
from here on 94 to 97.3 % (52 problems; tests/statistics/test_people.py).
"""
Labels = Sequence[Hashable] | Codes
"""Person or problem of each value: names, or numbers as a numpy array."""


class CrossedEstimate(NamedTuple):
    """A mean over answers of several people, with its interval and the numbers of people and
    problems.
    """

    mean: float
    lo: float
    hi: float
    n: int
    people: int
    clusters: int


class _Variance(NamedTuple):
    """Variance of a mean, and its degrees of freedom."""

    value: float
    freedom: int


def estimate_crossed_share(
    values: Sequence[float] | Floats,
    people: Labels,
    clusters: Labels,
    confidence: float = 0.95,
) -> CrossedEstimate:
    """Estimate the share of correct answers of a population of people and problems.

    Wilson's interval at the number of independent answers implied by the variance of people and
    problems together, with Student's quantile in place of the normal one. Answers that are all
    right, or all wrong, count as many as the people or the clusters, whichever are fewer.

    Args:
        values: Verdicts in [0, 1].
        people: Author of each answer; at least two people.
        clusters: Problem of each answer, or the stem that it shares.
        confidence: Two-sided level, in (0, 1).

    Raises:
        ValueError: If the sequences differ in length, or there are fewer than two people or
            clusters.
        MissingExtraError: If scipy is not installed.
    """
    array, person, cluster = _encode(values, people, clusters)
    count, stems = int(person.max()) + 1, int(cluster.max()) + 1
    mean, variance = float(array.mean()), _estimate_variance(array, person, cluster)
    if variance.value < 1e-15:
        worth = float(min(count, stems))
    else:
        worth = float(count_independent(mean, variance.value, variance.freedom, confidence))
    lo, hi = wilson(min(mean * worth, worth), worth, confidence)
    return CrossedEstimate(mean, lo, hi, len(array), count, stems)


def estimate_crossed_mean(
    values: Sequence[float] | Floats,
    people: Labels,
    clusters: Labels,
    confidence: float = 0.95,
    limits: tuple[float, float] = (-1.0, 1.0),
) -> CrossedEstimate:
    """Estimate the mean of values on a scale, such as differences, for a population.

    Student's interval with the variance of people and problems together.

    Args:
        values: Values within `limits`.
        people: Person of each value; at least two people.
        clusters: Problem of each value, or the stem that it shares.
        confidence: Two-sided level, in (0, 1).
        limits: Ends of the scale, to which the interval is clipped.

    Raises:
        ValueError: If the sequences differ in length, or there are fewer than two people or
            clusters.
        MissingExtraError: If scipy is not installed.
    """
    array, person, cluster = _encode(values, people, clusters)
    count, stems = int(person.max()) + 1, int(cluster.max()) + 1
    mean, variance = float(array.mean()), _estimate_variance(array, person, cluster)
    lowest, highest = limits
    if variance.value < 1e-15:
        return CrossedEstimate(mean, lowest, highest, len(array), count, stems)
    half = t_value(confidence, variance.freedom) * sqrt(variance.value)
    return CrossedEstimate(
        mean, max(lowest, mean - half), min(highest, mean + half), len(array), count, stems
    )


def _encode(
    values: Sequence[float] | Floats, people: Labels, clusters: Labels
) -> tuple[Floats, Codes, Codes]:
    if not len(values) == len(people) == len(clusters):
        raise ValueError(f"{len(values)} values, {len(people)} people, {len(clusters)} clusters")
    person, cluster = number_labels(people), number_labels(clusters)
    if not len(values) or not person.max() or not cluster.max():
        raise ValueError("an estimate over people and problems needs at least two of each")
    return np.asarray(values, dtype=float), person, cluster


def _estimate_variance(values: Floats, person: Codes, cluster: Codes) -> _Variance:
    """Compute the two-way clustered variance of the mean, at Satterthwaite's degrees of freedom.

    The sum of the variances by person and by cluster minus that of their cells, which both
    include; never less than either alone (MacKinnon, Nielsen and Webb 2021, section 3). The
    degrees of freedom are those of the sum of the two (Satterthwaite 1946, eq. 17).
    """
    deviations = values - values.mean()
    _, cell = np.unique(person * (cluster.max() + 1) + cluster, return_inverse=True)
    by_person, by_cluster, by_cell = (
        estimate_sum_variance(deviations, codes) / len(values) ** 2
        for codes in (person, cluster, cell)
    )
    value = max(by_person + by_cluster - by_cell, by_person, by_cluster)
    people, clusters = int(person.max()), int(cluster.max())
    weight = by_person**2 / people + by_cluster**2 / clusters
    freedom = int(value**2 / weight) if weight > 0 else 1
    return _Variance(value, max(1, min(people, clusters), min(freedom, people + clusters)))


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
    """Compute P(exactly k right) of guesses, for k = 0, ..., n.

    Every problem is guessed independently with its own probability, so the number of correct
    guesses is Poisson binomial (Wang 1993, section 1): binomials of equal probabilities,
    convolved.

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
        ValueError: If there are no problems, or a probability is not in [0, 1].
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
