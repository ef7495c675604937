"""Agreement beyond chance between annotators who rate the same units.

Coefficients are 1 - observed / expected disagreement. scikit-learn has Cohen's kappa and
statsmodels Fleiss' (tests compare ours with both); neither supports missing ratings or thousands
of resamples, and neither has Krippendorff's alpha. Each coefficient here is a function of the
weights of all clusters of units, so that all resamples are computed together. Intervals are for a
fixed set of annotators; the units are the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isnan, nan
from typing import Literal, NamedTuple

import numpy as np

from omibench.statistics.intervals import Codes, Estimate, clustered_wilson, number_labels
from omibench.statistics.quantiles import Floats

RESAMPLES = 2000


class Unit(NamedTuple):
    """A rated unit: the value given by each annotator, and its cluster.

    Units of one cluster are resampled together, such as the steps of one response.
    """

    cluster: Hashable
    values: Mapping[str, Hashable]


@dataclass(frozen=True)
class Ratings:
    """Units with at least two ratings.

    Attributes:
        values: All given values, in the stated order.
        counts: Number of annotators for each value: [units, values].
        clusters: Number of the cluster of each unit: [units].
    """

    values: tuple[Hashable, ...]
    counts: Floats
    clusters: Codes

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.clusters.max(initial=-1)) + 1

    def sum_clusters(self, numbers: Floats) -> Floats:
        """Sum values of the units of each cluster: [units, ...] to [clusters, ...]."""
        sums = np.zeros((self.n_clusters, *numbers.shape[1:]))
        np.add.at(sums, self.clusters, numbers)
        return sums


def count_ratings(units: Iterable[Unit], order: Sequence[Hashable] = ()) -> Ratings:
    """Count the ratings of each unit by value; units with a single rating are dropped.

    Args:
        units: Rated units.
        order: Values of the scale in order; other values follow in order of appearance.
    """
    rated = [unit for unit in units if len(unit.values) > 1]
    values = dict.fromkeys(order) | dict.fromkeys(v for unit in rated for v in unit.values.values())
    codes = {value: code for code, value in enumerate(values)}
    counts = np.zeros((len(rated), len(codes)))
    for number, unit in enumerate(rated):
        for value in unit.values.values():
            counts[number, codes[value]] += 1
    return Ratings(tuple(codes), counts, number_labels(unit.cluster for unit in rated))


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
    clusters = number_labels(unit.cluster for unit in units)
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


class CoefficientEstimate(NamedTuple):
    """A coefficient of agreement, at most 1, with its interval; NaN if undefined."""

    value: float
    low: float
    high: float


def estimate_agreement(ratings: Ratings, confidence: float = 0.95) -> Estimate:
    """Estimate the share of pairs of annotators that agree on a unit, with Wilson's interval.

    Args:
        ratings: Units with at least two ratings.
        confidence: Two-sided level, in (0, 1).
    """
    return clustered_wilson(share_of_pairs(ratings).tolist(), ratings.clusters.tolist(), confidence)


def estimate_nominal(
    coefficient: Coefficient, clusters: int, agreement: Estimate
) -> CoefficientEstimate:
    """Estimate a nominal coefficient with the interval implied by that of the agreement.

    Chance agreement is treated as known, as in Cohen's first interval (1960). In simulation, 95
    % intervals cover 92 to 98 % at 30 and 100 units of two and of four annotators, kappa 0.17 to
    0.90; those of a percentile bootstrap 86 to 100 %.

    Args:
        coefficient: Coefficient with the distance `nominal`.
        clusters: Number of clusters of units.
        agreement: Share of agreeing pairs, with its interval (`estimate_agreement`).

    Returns:
        The lower end is at least -1, the minimum of these coefficients.
    """
    sample = _compute_sample(coefficient, clusters)
    value = float(sample.coefficient[0])
    if isnan(value):
        return CoefficientEstimate(nan, nan, nan)
    chance = float(sample.expected[0])
    if value < 1:  # the one for which the share gives the value, if units differ in weight
        chance = (1 - agreement.mean) / (1 - value)
    low, high = (1 - (1 - share) / chance for share in (agreement.lo, agreement.hi))
    return CoefficientEstimate(value, max(-1.0, low), high)


def estimate_by_resampling(
    coefficient: Coefficient,
    clusters: int,
    confidence: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> CoefficientEstimate:
    """Estimate a coefficient with its percentile interval over resampled clusters.

    For distances with more than two values. In simulation, 95 % intervals of five ordered values
    cover 93 to 98 % at 30 and 100 units.

    Args:
        coefficient: Coefficient with any distance.
        clusters: Number of clusters of units.
        confidence: Two-sided level, in (0, 1).
        seed: Random seed.
        resamples: Number of resamples.

    Returns:
        The bounds are NaN without disagreement or with a single cluster, because resampling
        shows no variation.
    """
    value = float(_compute_sample(coefficient, clusters).coefficient[0])
    if isnan(value) or value == 1 or clusters < 2:
        return CoefficientEstimate(value, nan, nan)
    values = coefficient(_draw_weights(clusters, seed, resamples)).coefficient
    tail = 50 * (1 - confidence)
    low, high = np.nanpercentile(values, [tail, 100 - tail])
    return CoefficientEstimate(value, min(float(low), value), max(float(high), value))


@lru_cache(maxsize=1)
def _draw_weights(clusters: int, seed: int, resamples: int) -> Floats:
    """Draw the weight of each cluster in each resample: [resamples, clusters].

    The last draw is cached: the fields of a form have the same units, and drawing takes most of
    the time.
    """
    generator = np.random.default_rng(seed)
    weights = generator.multinomial(clusters, np.full(clusters, 1 / clusters), resamples)
    counts = weights.astype(float)
    counts.flags.writeable = False
    return counts


def _compute_sample(coefficient: Coefficient, clusters: int) -> Disagreement:
    return coefficient(np.ones((1, clusters)))
