"""Intervals of coefficients of agreement: their edges, and how often they hold the truth."""

from __future__ import annotations

from math import isnan
from typing import Any, NamedTuple

import numpy as np
import pytest

from omibench.statistics.intervals import wilson
from omibench.statistics.raters.coefficients import Coefficient, make_alpha, make_fleiss_kappa
from omibench.statistics.raters.intervals import (
    CoefficientEstimate,
    estimate_agreement,
    estimate_by_resampling,
    estimate_nominal,
)
from omibench.statistics.raters.ratings import Ratings, Unit, count_ratings


class Population(NamedTuple):
    """Units of known shares, and people who see the true value with a known chance."""

    shares: tuple[float, ...]
    accuracy: float
    people: int
    ordered: bool = False


def draw_ratings(population: Population, units: int, seed: int) -> Ratings:
    """Ratings of units whose true values are drawn; whoever errs errs at random, or by one step."""
    generator = np.random.default_rng(seed)
    values = len(population.shares)
    truth = generator.choice(values, size=units, p=population.shares)
    counts = np.zeros((units, values))
    for _ in range(population.people):
        step = np.clip(truth + generator.choice([-1, 1], size=units), 0, values - 1)
        error = step if population.ordered else generator.integers(0, values, size=units)
        is_right = generator.random(units) < population.accuracy
        counts[np.arange(units), np.where(is_right, truth, error)] += 1
    return Ratings(tuple(range(values)), counts, np.arange(units))


def make_coefficient(ratings: Ratings, population: Population) -> Coefficient:
    return make_alpha(ratings, "ordinal" if population.ordered else "nominal")


def estimate(ratings: Ratings, population: Population) -> CoefficientEstimate:
    coefficient = make_coefficient(ratings, population)
    if population.ordered:
        return estimate_by_resampling(coefficient, ratings.n_clusters)
    return estimate_nominal(coefficient, ratings.n_clusters, estimate_agreement(ratings))


def measure_coverage(population: Population, units: int, rounds: int) -> float:
    everybody = draw_ratings(population, 200_000, seed=10**6)
    coefficient = make_coefficient(everybody, population)
    truth = float(coefficient(np.ones((1, everybody.n_clusters))).coefficient[0])
    held = 0
    for seed in range(rounds):
        interval = estimate(draw_ratings(population, units, seed), population)
        held += isnan(interval.low) or interval.low <= truth <= interval.high
    return held / rounds


QUICK = [
    Population((0.9, 0.1), 0.9, 2),
    Population((0.1, 0.2, 0.3, 0.4), 0.8, 3, ordered=True),
]
DESIGNS = [
    Population(shares, accuracy, people, ordered=len(shares) == 5)
    for shares in ((0.5, 0.5), (0.9, 0.1), (0.4, 0.3, 0.2, 0.1), (0.05, 0.1, 0.2, 0.4, 0.25))
    for accuracy in (0.6, 0.85, 0.95)
    for people in (2, 4)
]


@pytest.mark.parametrize("population", QUICK, ids=str)
def test_intervals_cover(population: Population) -> None:
    assert measure_coverage(population, 40, 60) >= 0.9


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("units", [30, 100])
@pytest.mark.parametrize("population", DESIGNS, ids=str)
def test_intervals_cover_over_1000_draws(population: Population, units: int) -> None:
    assert 0.91 <= measure_coverage(population, units, 1000) <= 0.998


def number_units(rows: list[dict[str, Any]]) -> list[Unit]:
    return [Unit(number, row) for number, row in enumerate(rows)]


def test_full_agreement_is_no_certainty() -> None:
    rows = [{"ann": value, "bob": value} for value in (0, 1) * 10]
    ratings = count_ratings(number_units(rows))
    nominal = estimate_nominal(
        make_fleiss_kappa(ratings), ratings.n_clusters, estimate_agreement(ratings)
    )
    low, _ = wilson(20, 20)
    assert nominal == pytest.approx((1, 1 - (1 - low) / 0.5, 1))
    resampled = estimate_by_resampling(make_alpha(ratings, "interval"), ratings.n_clusters)
    assert resampled.value == 1
    assert isnan(resampled.low)


def test_units_of_one_cluster_are_drawn_together() -> None:
    rows = [{"ann": value, "bob": value % 3} for value in (0, 1, 2, 3) * 10]
    apart = count_ratings(number_units(rows))
    joined = count_ratings(Unit(number % 5, row) for number, row in enumerate(rows))
    assert (apart.n_clusters, joined.n_clusters) == (40, 5)
    estimates = [
        estimate_by_resampling(make_alpha(ratings), ratings.n_clusters, seed=3)
        for ratings in (apart, apart, joined)
    ]
    assert estimates[0] == estimates[1]
    assert estimates[0].value == pytest.approx(estimates[2].value)
    assert estimates[0].low != estimates[2].low


def test_without_units_nothing_is_known() -> None:
    ratings = count_ratings([Unit(1, {"ann": 1})])
    agreement = estimate_agreement(ratings)
    assert (isnan(agreement.mean), agreement.lo, agreement.hi) == (True, 0, 1)
    assert all(map(isnan, estimate_nominal(make_alpha(ratings), 0, agreement)))
