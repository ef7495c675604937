"""Intervals of agreement coefficients for a fixed set of annotators; the units are the sample."""

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
