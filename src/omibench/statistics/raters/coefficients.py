"""Coefficients of agreement beyond chance: 1 - observed / expected disagreement.

scikit-learn has Cohen's kappa and statsmodels Fleiss' (tests hold ours to both); neither takes
missing ratings or draws units again by the thousand, and neither has Krippendorff's alpha. Each
coefficient here is a function of how often every cluster of units counts, so that all resamples
are computed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from omibench.statistics.raters.ratings import Ratings, Unit, number_clusters

Floats = npt.NDArray[np.float64]


class Disagreement(NamedTuple):
    """The mean disagreement of two ratings of a unit, and what chance would make it: [draws]."""

    observed: Floats
    expected: Floats

    @property
    def coefficient(self) -> Floats:
        """1 - observed / expected: [draws]; NaN where no disagreement is expected."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = self.observed / self.expected
        return np.where(self.expected > 0, 1 - ratio, np.nan)


Coefficient = Callable[[Floats], Disagreement]
"""From how often each cluster counts, [draws, clusters], to the disagreement of each draw."""
Level = Literal["nominal", "ordinal", "interval"]
Distance = Callable[[Hashable, Hashable], float]


def make_alpha(ratings: Ratings, level: Level | Distance = "nominal") -> Coefficient:
    """Krippendorff's alpha of any number of people, with missing ratings.

    Krippendorff, Content Analysis (2019), section 12.3: coincidences of each unit count 1 / (m - 1)
    for its m ratings. The ordinal distance is that of midranks, squared.

    Args:
        ratings: The units that two people or more rated.
        level: The scale of the values; numbers for `interval`; a function of two values, 0 where
            they are equal, for another distance.
    """
    sizes = ratings.counts.sum(axis=1)
    scaled = ratings.counts / (sizes - 1)[:, None]
    margins = ratings.sum_clusters(ratings.counts)
    if level == "ordinal":
        each = np.einsum("uc,uk->uck", scaled, ratings.counts)
        coincidences = ratings.sum_clusters(each)
        return lambda weights: _compare_ranks(weights, margins, coincidences)
    distances = measure_distances(ratings.values, level)
    disagreements = ratings.sum_clusters(
        np.einsum("uc,ck,uk->u", scaled, distances, ratings.counts, optimize=True)
    )

    def compute(weights: Floats) -> Disagreement:
        totals = weights @ margins
        number = totals.sum(axis=1)
        expected = np.einsum("bc,bc->b", totals @ distances, totals) / (number - 1)
        return _divide(weights @ disagreements, expected, number)

    return compute


def _compare_ranks(weights: Floats, margins: Floats, coincidences: Floats) -> Disagreement:
    """Disagreement of ordinal values, whose distances depend on how often each value is given."""
    totals = weights @ margins
    ranks = np.cumsum(totals, axis=1) - totals / 2
    squares = (ranks[:, :, None] - ranks[:, None, :]) ** 2
    observed = np.einsum("bck,bck->b", np.tensordot(weights, coincidences, axes=1), squares)
    expected = np.einsum("bc,bck,bk->b", totals, squares, totals, optimize=True)
    number = totals.sum(axis=1)
    return _divide(observed, expected / (number - 1), number)


def _divide(observed: Floats, expected: Floats, number: Floats) -> Disagreement:
    """Disagreement per rating; NaN without any."""
    with np.errstate(invalid="ignore"):
        return Disagreement(observed / number, expected / number)


def make_fleiss_kappa(ratings: Ratings) -> Coefficient:
    """Fleiss' kappa of any people, each unit rated by two or more.

    Fleiss 1971, equations 2 to 8; where units differ in their number of ratings, the share of
    each value is that among all ratings (Fleiss, Levin and Paik 2003, section 18.3).
    """
    disagreements = ratings.sum_clusters(1 - share_of_pairs(ratings))
    margins = ratings.sum_clusters(ratings.counts)
    units = ratings.sum_clusters(np.ones(len(ratings.clusters)))

    def compute(weights: Floats) -> Disagreement:
        totals = weights @ margins
        shares = totals / totals.sum(axis=1, keepdims=True)
        observed = weights @ disagreements / (weights @ units)
        return Disagreement(observed, 1 - (shares**2).sum(axis=1))

    return compute


def make_cohen_kappa(
    units: Sequence[Unit], sides: tuple[str, str], order: Sequence[Hashable], quadratic: bool
) -> Coefficient:
    """Cohen's kappa of two readers.

    Cohen 1960; `quadratic` weighs a disagreement by the square of the distance of the values on the
    scale (Cohen 1968), which must be numbers.

    Args:
        units: What both rated.
        sides: The names of the two in `Unit.values`.
        order: The values of the scale.
        quadratic: Whether values are numbers whose distance counts.
    """
    codes = {value: code for code, value in enumerate(order)}
    first, second = ([codes[unit.values[side]] for unit in units] for side in sides)
    distances = measure_distances(order, "interval" if quadratic else "nominal")
    clusters = number_clusters(unit.cluster for unit in units)
    tables = np.zeros((int(clusters.max(initial=-1)) + 1, 2, len(codes)))
    disagreements = np.zeros(len(tables))
    for side, values in enumerate((first, second)):
        np.add.at(tables, (clusters, np.full(len(values), side), np.array(values, dtype=int)), 1)
    np.add.at(disagreements, clusters, distances[first, second])

    def compute(weights: Floats) -> Disagreement:
        totals = np.tensordot(weights, tables, axes=1)
        number = totals[:, 0].sum(axis=1)
        expected = np.einsum("bc,bc->b", totals[:, 0] @ distances, totals[:, 1]) / number**2
        return Disagreement(weights @ disagreements / number, expected)

    return compute


def share_of_pairs(ratings: Ratings) -> Floats:
    """The share of pairs of people that agree on each unit, in [0, 1] (Fleiss 1971, eq. 2)."""
    sizes = ratings.counts.sum(axis=1)
    pairs = (ratings.counts * (ratings.counts - 1)).sum(axis=1)
    return np.asarray(pairs / (sizes * (sizes - 1)))


def measure_distances(values: Sequence[Hashable], level: Level | Distance) -> Floats:
    """The distance of every two values: [values, values].

    Args:
        values: The values of the scale.
        level: `nominal` is 1 for any two values, `interval` their squared difference.
    """
    if callable(level):
        return np.array([[level(a, b) for b in values] for a in values], dtype=float)
    if level == "interval":
        numbers = np.array([float(str(value)) for value in values])
        return np.asarray((numbers[:, None] - numbers[None, :]) ** 2)
    return 1 - np.eye(len(values))
