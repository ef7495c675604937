"""Coefficients of agreement against published examples, other libraries and properties."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from omibench.statistics.raters.coefficients import (
    Coefficient,
    make_alpha,
    make_cohen_kappa,
    make_fleiss_kappa,
)
from omibench.statistics.raters.ratings import Ratings, Unit, count_ratings

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
