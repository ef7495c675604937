"""Intervals of coefficients of agreement, for the people who rated: their units are the sample."""

from __future__ import annotations

from functools import lru_cache
from math import isnan, nan
from typing import NamedTuple

import numpy as np

from omibench.statistics.intervals import Estimate, clustered_wilson
from omibench.statistics.raters.coefficients import Coefficient, Disagreement, share_of_pairs
from omibench.statistics.raters.ratings import Floats, Ratings

RESAMPLES = 2000


class CoefficientEstimate(NamedTuple):
    """A coefficient of agreement, at most 1, with its interval; NaN where it is undefined."""

    value: float
    low: float
    high: float


def estimate_agreement(ratings: Ratings, confidence: float = 0.95) -> Estimate:
    """The share of pairs of people that agree on a unit, with Wilson's interval.

    Args:
        ratings: The units that two people or more rated.
        confidence: The two-sided level, in (0, 1).
    """
    return clustered_wilson(share_of_pairs(ratings).tolist(), ratings.clusters.tolist(), confidence)


def estimate_nominal(
    coefficient: Coefficient, clusters: int, agreement: Estimate
) -> CoefficientEstimate:
    """A coefficient of values that are equal or not, with the interval that agreement's makes.

    Chance agreement is taken as known, as in Cohen's first interval (1960). In simulation 95 %
    intervals cover 92 to 98 % at 30 and 100 units of two and of four people, kappa 0.17 to 0.90;
    those of a percentile bootstrap 86 to 100 %.

    Args:
        coefficient: Of the distance `nominal`.
        clusters: How many clusters of units there are.
        agreement: The share of pairs that agree, with its interval (`estimate_agreement`).

    Returns:
        The lower end is -1 at least: no coefficient of these can be below.
    """
    sample = _compute_sample(coefficient, clusters)
    value = float(sample.coefficient[0])
    if isnan(value):
        return CoefficientEstimate(nan, nan, nan)
    chance = float(sample.expected[0])
    if value < 1:  # the one by which the share gives the value, where units weigh differently
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
    """A coefficient with its percentile interval over clusters that are drawn again.

    For distances of more than two sizes. In simulation 95 % intervals of five ordered values cover
    93 to 98 % at 30 and 100 units.

    Args:
        coefficient: Of any distance.
        clusters: How many clusters of units there are.
        confidence: The two-sided level, in (0, 1).
        seed: Of the draws.
        resamples: How many are drawn.

    Returns:
        The bounds are NaN where nobody disagrees, or one cluster is all: drawing tells nothing.
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
    """How often each resample holds each cluster: [resamples, clusters].

    The last draw is kept: the fields of a form are over the same units, and drawing takes longer
    than all else.
    """
    generator = np.random.default_rng(seed)
    weights = generator.multinomial(clusters, np.full(clusters, 1 / clusters), resamples)
    counts = weights.astype(float)
    counts.flags.writeable = False
    return counts


def _compute_sample(coefficient: Coefficient, clusters: int) -> Disagreement:
    return coefficient(np.ones((1, clusters)))
