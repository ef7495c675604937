"""Coefficients of agreement beyond chance: 1 - observed / expected disagreement.

scikit-learn has Cohen's kappa and statsmodels Fleiss' (tests compare ours with both); neither
supports missing ratings or thousands of resamples, and neither has Krippendorff's alpha. Each
coefficient here is a function of the weights of all clusters of units, so that all resamples are
computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from omibench.statistics.raters.ratings import Ratings, Unit, number_clusters

Floats = npt.NDArray[np.float64]


class Disagreement(NamedTuple):
    """Mean disagreement of two ratings of a unit, and its chance expectation: [draws]."""

    observed: Floats
    expected: Floats

    @property
    def coefficient(self) -> Floats:
        """Return 1 - observed / expected: [draws]; NaN if no disagreement is expected."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = self.observed / self.expected
        return np.where(self.expected > 0, 1 - ratio, np.nan)


Coefficient = Callable[[Floats], Disagreement]
"""Maps weights of clusters, [draws, clusters], to the disagreement of each draw."""
Level = Literal["nominal", "ordinal", "interval"]
Distance = Callable[[Hashable, Hashable], float]


def make_alpha(ratings: Ratings, level: Level | Distance = "nominal") -> Coefficient:
    """Compute Krippendorff's alpha of any number of annotators, with missing ratings.

    Krippendorff, Content Analysis (2019), section 12.3: coincidences of each unit count 1 / (m -
    1) for its m ratings. The ordinal distance is that of midranks, squared.

    Args:
        ratings: Units with at least two ratings.
        level: Scale of the values; numbers for `interval`; for another distance, a function of
            two values that is 0 if they are equal.
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
    """Return the disagreement of ordinal values, whose distances depend on the value counts."""
    totals = weights @ margins
    ranks = np.cumsum(totals, axis=1) - totals / 2
    squares = (ranks[:, :, None] - ranks[:, None, :]) ** 2
    observed = np.einsum("bck,bck->b", np.tensordot(weights, coincidences, axes=1), squares)
    expected = np.einsum("bc,bck,bk->b", totals, squares, totals, optimize=True)
    number = totals.sum(axis=1)
    return _divide(observed, expected / (number - 1), number)


def _divide(observed: Floats, expected: Floats, number: Floats) -> Disagreement:
    """Return the disagreement per rating; NaN without ratings."""
    with np.errstate(invalid="ignore"):
        return Disagreement(observed / number, expected / number)


def make_fleiss_kappa(ratings: Ratings) -> Coefficient:
    """Compute Fleiss' kappa of any annotators, with at least two ratings per unit.

    Fleiss 1971, equations 2 to 8; if units differ in their number of ratings, the share of each
    value is that among all ratings (Fleiss, Levin and Paik 2003, section 18.3).
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
    """Compute Cohen's kappa of two annotators.

    Cohen 1960; `quadratic` weights a disagreement by the squared distance of the values on the
    scale (Cohen 1968), which must be numbers.

    Args:
        units: Units rated by both.
        sides: Names of the two in `Unit.values`.
        order: Values of the scale.
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
    """Return the share of pairs of annotators that agree on each unit, in [0, 1] (Fleiss 1971, eq.
    2).
    """
    sizes = ratings.counts.sum(axis=1)
    pairs = (ratings.counts * (ratings.counts - 1)).sum(axis=1)
    return np.asarray(pairs / (sizes * (sizes - 1)))


def measure_distances(values: Sequence[Hashable], level: Level | Distance) -> Floats:
    """Return the distance of every two values: [values, values].

    Args:
        values: Values of the scale.
        level: `nominal` is 1 for any two different values, `interval` their squared difference.
    """
    if callable(level):
        return np.array([[level(a, b) for b in values] for a in values], dtype=float)
    if level == "interval":
        numbers = np.array([float(str(value)) for value in values])
        return np.asarray((numbers[:, None] - numbers[None, :]) ** 2)
    return 1 - np.eye(len(values))
