"""Means over people and problems: both are samples, and both correlate the answers.

Answers of one person share the person's ability, answers to one problem (or to problems that
share a stem) its difficulty. An interval that applies to other people and other problems of the
same kinds needs the variance of both (two-way clustering: Cameron, Gelbach and Miller 2011,
section 2).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import nan, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from omibench.statistics.intervals import wilson
from omibench.statistics.quantiles import t_value, z_value

FEW_PEOPLE = 3
"""Below this many people, 95 % intervals over people and problems cover 90 to 97.5 % in simulation,
from here on 94 to 97.3 % (52 problems; tests/statistics/test_crossed.py).
"""
Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
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
        ratio = z_value(confidence) / t_value(confidence, variance.freedom)
        worth = mean * (1 - mean) / variance.value * ratio**2
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
    person, cluster = _number(people), _number(clusters)
    if not len(values) or not person.max() or not cluster.max():
        raise ValueError("an estimate over people and problems needs at least two of each")
    return np.asarray(values, dtype=float), person, cluster


def _number(labels: Labels) -> Codes:
    if isinstance(labels, np.ndarray):
        return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)
    codes = {label: code for code, label in enumerate(dict.fromkeys(labels))}
    return np.fromiter((codes[label] for label in labels), dtype=np.int64, count=len(labels))


def _estimate_variance(values: Floats, person: Codes, cluster: Codes) -> _Variance:
    """Compute the two-way clustered variance of the mean, at Satterthwaite's degrees of freedom.

    The sum of the variances by person and by cluster minus that of their cells, which both
    include; never less than either alone (MacKinnon, Nielsen and Webb 2021, section 3). The
    degrees of freedom are those of the sum of the two (Satterthwaite 1946, eq. 17).
    """
    deviations = values - values.mean()
    _, cell = np.unique(person * (cluster.max() + 1) + cluster, return_inverse=True)
    by_person, by_cluster, by_cell = (
        _sum_squares(deviations, codes) for codes in (person, cluster, cell)
    )
    value = max(by_person + by_cluster - by_cell, by_person, by_cluster)
    people, clusters = int(person.max()), int(cluster.max())
    weight = by_person**2 / people + by_cluster**2 / clusters
    freedom = int(value**2 / weight) if weight > 0 else 1
    return _Variance(value, max(1, min(people, clusters), min(freedom, people + clusters)))


def _sum_squares(deviations: Floats, codes: Codes) -> float:
    """Compute the variance of the mean if only values of one code are correlated."""
    sums = np.bincount(codes, weights=deviations)
    groups = len(sums)
    if groups < 2:
        return nan
    return float(sums @ sums) / len(deviations) ** 2 * groups / (groups - 1)
