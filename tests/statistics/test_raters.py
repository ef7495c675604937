"""Coefficients of agreement and their intervals, against other libraries and simulation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from omibench.results.statistics.agreement import (
    Coefficient,
    CoefficientEstimate,
    Ratings,
    Unit,
    count_ratings,
    estimate_agreement,
    estimate_by_resampling,
    estimate_nominal,
    make_ac1,
    make_alpha,
    make_cohen_kappa,
    make_fleiss_kappa,
    specific_agreement,
)
from omibench.results.statistics.intervals import wilson

# Krippendorff, Content Analysis (2019), section 12.3: four observers, twelve units, a gap is a 0.
OBSERVERS = ("123321412000", "123322412503", "033323422510", "123324412510")
# The worked example of reference works: ten patients, fourteen psychiatrists, counts of diagnoses.
DIAGNOSES = (
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
)  # fmt: skip
PEOPLE = [f"reader {number}" for number in range(14)]
LEVELS: Any = ("nominal", "ordinal", "interval")


def compute(coefficient: Coefficient, ratings: Ratings) -> float:
    return float(coefficient(np.ones((1, ratings.n_clusters))).coefficient[0])


def arrange(rows: Sequence[Mapping[str, Hashable]], order: Sequence[Hashable] = ()) -> Ratings:
    return count_ratings([Unit(number, row) for number, row in enumerate(rows)], order)


def name_readers(row: Sequence[Hashable]) -> dict[str, Hashable]:
    return dict(zip(PEOPLE, row, strict=False))


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_krippendorffs_example(level: Any, alpha: float) -> None:
    rows = [
        {PEOPLE[who]: int(row[unit]) for who, row in enumerate(OBSERVERS) if row[unit] != "0"}
        for unit in range(12)
    ]
    ratings = arrange(rows, (1, 2, 3, 4, 5))
    assert ratings.counts.sum() == 40  # the unit that one observer saw alone is left out
    assert compute(make_alpha(ratings, level), ratings) == pytest.approx(alpha, abs=5e-4)


def test_fleiss_kappa_of_a_worked_example() -> None:
    rows = [
        name_readers([value for value, number in enumerate(row) for _ in range(number)])
        for row in DIAGNOSES
    ]
    ratings = arrange(rows, range(5))
    assert compute(make_fleiss_kappa(ratings), ratings) == pytest.approx(0.210, abs=5e-4)


pairs = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=40)


@pytest.mark.parametrize("quadratic", [False, True])
@given(rows=pairs)
def test_cohens_kappa_is_scikit_learns(quadratic: bool, rows: list[tuple[int, int]]) -> None:
    first, second = zip(*rows, strict=True)
    assume(len({*first, *second}) > 1)
    units = [Unit(number, {"ann": a, "bob": b}) for number, (a, b) in enumerate(rows)]
    coefficient = make_cohen_kappa(units, ("ann", "bob"), range(1, 6), quadratic)
    expected = cohen_kappa_score(
        first, second, labels=range(1, 6), weights="quadratic" if quadratic else None
    )
    assert compute(coefficient, count_ratings(units)) == pytest.approx(expected)


tables = st.lists(
    st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=30
).filter(lambda rows: len({value for row in rows for value in row}) > 1)


@given(rows=tables)
def test_fleiss_kappa_is_that_of_statsmodels(rows: list[list[int]]) -> None:
    ratings = arrange([name_readers(row) for row in rows])
    kappa = compute(make_fleiss_kappa(ratings), ratings)
    assert kappa == pytest.approx(fleiss_kappa(ratings.counts))


@given(rows=tables, random=st.randoms())
def test_who_rated_and_in_which_order_changes_nothing(rows: list[list[int]], random: Any) -> None:
    ratings = arrange([name_readers(row) for row in rows], range(4))
    mixed = [random.sample(row, len(row)) for row in random.sample(rows, len(rows))]
    others = arrange([name_readers(row) for row in mixed], range(4))
    for level in LEVELS:
        alpha = compute(make_alpha(ratings, level), ratings)
        assert alpha <= 1
        assert alpha == pytest.approx(compute(make_alpha(others, level), others))


@given(rows=tables)
def test_of_two_values_every_distance_is_the_same(rows: list[list[int]]) -> None:
    ratings = arrange([name_readers([min(value, 1) for value in row]) for row in rows], range(2))
    assume((ratings.counts.sum(axis=0) > 0).all())
    alphas = [compute(make_alpha(ratings, level), ratings) for level in LEVELS]
    assert alphas == pytest.approx([alphas[0]] * 3)


@given(rows=tables)
def test_alpha_is_fleiss_kappa_but_for_small_samples(rows: list[list[int]]) -> None:
    ratings = arrange([name_readers(row) for row in rows])
    number = 4 * len(rows)
    kappa = compute(make_fleiss_kappa(ratings), ratings)
    alpha = compute(make_alpha(ratings), ratings)
    assert 1 - alpha == pytest.approx((1 - kappa) * (number - 1) / number)


def test_full_agreement_is_one_and_a_single_value_is_undefined() -> None:
    ratings = arrange([name_readers([value] * 3) for value in (0, 1, 1)])
    assert compute(make_alpha(ratings), ratings) == 1
    constant = arrange([name_readers([1, 1])] * 3)
    assert isnan(compute(make_alpha(constant), constant))
    assert isnan(compute(make_fleiss_kappa(constant), constant))


def count_other_members(first: Any, second: Any) -> float:
    return float(len(first ^ second))


def test_sets_have_a_distance_of_their_own() -> None:
    both, single, empty = frozenset("ab"), frozenset("a"), frozenset[str]()
    ratings = arrange([name_readers([both, single]), name_readers([empty, empty])])
    alpha = make_alpha(ratings, count_other_members)
    # Mean distance within units 1/2; of the six pairs of four ratings 1, 2, 2, 1, 1 and 0.
    assert compute(alpha, ratings) == pytest.approx(1 - (1 / 2) / (7 / 6))


def cross(both: int, first: int, second: int, neither: int) -> Ratings:
    """Two annotators who call 1 or 0."""
    pairs = [(1, 1)] * both + [(1, 0)] * first + [(0, 1)] * second + [(0, 0)] * neither
    return arrange([name_readers(pair) for pair in pairs], (0, 1))


def test_ac1_stays_where_one_value_prevails() -> None:
    """Gwet's example of 125 units, 118 positive for both, 5 and 2 for one: AC1 .94, kappa -.02.

    By hand: agreement 118/125 = .944; share of positive ratings (123 + 120)/250 = .972; chance
    2 * .972 * .028 = .05443; (.944 - .05443) / (1 - .05443) = .94078.
    """
    ratings = cross(118, 5, 2, 0)
    assert compute(make_ac1(ratings), ratings) == pytest.approx(0.94078, abs=1e-5)
    assert compute(make_fleiss_kappa(ratings), ratings) < 0


@given(rows=pairs)
def test_ac1_of_two_annotators_is_gwets_formula(rows: list[tuple[int, int]]) -> None:
    ratings = arrange([name_readers(row) for row in rows], range(1, 6))
    agreement = sum(a == b for a, b in rows) / len(rows)
    shares = [sum(row.count(value) for row in rows) / (2 * len(rows)) for value in range(1, 6)]
    chance = sum(share * (1 - share) for share in shares) / 4
    expected = (agreement - chance) / (1 - chance)
    assert compute(make_ac1(ratings), ratings) == pytest.approx(expected)


def test_agreement_on_a_value_is_that_of_its_ratings() -> None:
    ratings = cross(30, 4, 6, 10)
    positive, negative = (specific_agreement(ratings, value) for value in (1, 0))
    assert positive.mean == pytest.approx(60 / 70)
    assert negative.mean == pytest.approx(20 / 30)
    assert positive.lo < positive.mean < positive.hi
    assert negative.hi - negative.lo > positive.hi - positive.lo
    assert isnan(specific_agreement(cross(9, 0, 0, 0), 0).mean)


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


PREVALENT = [Population((1 - share, share), accuracy, 2)
             for share in (0.5, 0.95) for accuracy in (0.85, 0.95)]  # fmt: skip


def measure_binary_coverage(population: Population, units: int, rounds: int) -> list[float]:
    """The coverage of the intervals of AC1 and of the agreement on either value."""
    everybody = draw_ratings(population, 200_000, seed=10**6)
    truth = [compute(make_ac1(everybody), everybody),
             *(specific_agreement(everybody, value).mean for value in (1, 0))]  # fmt: skip
    held = np.zeros(3)
    for seed in range(rounds):
        ratings = draw_ratings(population, units, seed)
        ac1 = estimate_nominal(make_ac1(ratings), ratings.n_clusters, estimate_agreement(ratings))
        bounds = [ac1[1:], *(specific_agreement(ratings, value)[1:3] for value in (1, 0))]
        held += [low <= true <= high for true, (low, high) in zip(truth, bounds, strict=True)]
    return (held / rounds).tolist()


def test_intervals_cover_where_one_value_prevails() -> None:
    assert min(measure_binary_coverage(PREVALENT[2], 40, 60)) >= 0.85


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("units", [20, 38, 100])
@pytest.mark.parametrize("population", PREVALENT, ids=str)
def test_binary_intervals_cover_over_1000_draws(population: Population, units: int) -> None:
    assert min(measure_binary_coverage(population, units, 1000)) >= 0.91


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
