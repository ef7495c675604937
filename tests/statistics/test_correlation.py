"""Correlations over models: against scipy, published intervals, and models left out by hand."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from omibench.results.statistics.correlation import (
    COEFFICIENTS,
    Coefficient,
    correlate,
    fisher_interval,
)

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=12).filter(
    lambda rows: all(len(set(column)) > 1 for column in zip(*rows, strict=True))
)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@given(rows=PAIRS)
def test_coefficients_and_p_are_those_of_scipy(
    coefficient: Coefficient, rows: list[tuple[int, int]]
) -> None:
    first, second = ([float(v) for v in column] for column in zip(*rows, strict=True))
    ours, theirs = correlate(first, second, coefficient), SCIPY[coefficient](first, second)
    assert ours.value == pytest.approx(theirs.statistic, abs=1e-9)
    if coefficient != "spearman" or len(rows) > 8:
        # Where all points lie on a line, p is the root of what rounding leaves of 1 - r squared.
        assert ours.p == pytest.approx(theirs.pvalue, abs=1e-7)


def test_spearmans_p_of_few_models_counts_all_orders() -> None:
    assert correlate([1.0, 2, 3], [5.0, 6, 9], "spearman").p == pytest.approx(1 / 3)
    first, second = [1.0, 2, 3, 4, 5, 6], [2.0, 1, 4, 3, 6, 5]
    # Of six models 0.829 is reached by 5.8 % of all orders (scipy.stats.permutation_test too).
    result = correlate(first, second, "spearman")
    assert result.value == pytest.approx(0.829, abs=5e-4)
    assert result.p == pytest.approx(0.058, abs=1e-3)


def test_the_interval_of_pearson_is_that_of_scipy() -> None:
    rng = np.random.default_rng(3)
    first = rng.standard_normal(31)
    second = first + rng.standard_normal(31)
    expected = stats.pearsonr(first, second).confidence_interval(0.95)
    interval = correlate(first.tolist(), second.tolist(), "pearson").interval
    assert interval == pytest.approx((expected.low, expected.high))


def test_rank_intervals_have_the_errors_of_bonett_and_wright() -> None:
    low, high = fisher_interval(0.5, 40, "spearman")
    assert np.arctanh(high) - np.arctanh(low) == pytest.approx(2 * 1.959964 * (1.125 / 37) ** 0.5)
    low, high = fisher_interval(0.5, 40, "kendall")
    assert np.arctanh(high) - np.arctanh(low) == pytest.approx(2 * 1.959964 * (0.437 / 36) ** 0.5)


def test_the_model_that_moves_most_is_found() -> None:
    first = [10.0, 20, 30, 40, 50, 60]
    second = [11.0, 19, 32, 38, 52, 5]
    influence = correlate(first, second, "spearman").influence
    assert (influence.place, influence.without) == (5, pytest.approx(1.0))
    assert influence.highest == pytest.approx(1.0)
    assert influence.lowest == pytest.approx(
        min(
            stats.spearmanr(first[:i] + first[i + 1 :], second[:i] + second[i + 1 :]).statistic
            for i in range(6)
        )
    )


def test_the_resampled_interval_holds_the_coefficient() -> None:
    rng = np.random.default_rng(5)
    first = rng.standard_normal(31)
    second = first + rng.standard_normal(31)
    correlation = correlate(first.tolist(), second.tolist(), "kendall")
    assert correlation.resampled.lo < correlation.value < correlation.resampled.hi
    assert correlation == correlate(first.tolist(), second.tolist(), "kendall")


def test_a_series_of_one_value_has_no_coefficient() -> None:
    correlation = correlate([1.0, 1, 1, 1], [1.0, 2, 3, 4], "pearson")
    assert isnan(correlation.value)
    assert isnan(correlation.p)
    assert isnan(correlation.interval.lo)
    assert isnan(correlation.influence.without)


def test_two_models_are_refused() -> None:
    with pytest.raises(ValueError, match="3 or more"):
        correlate([1.0, 2.0], [1.0, 2.0], "pearson")


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_fishers_intervals_cover(coefficient: Coefficient) -> None:
    covered, draws, rho = 0, 300, 0.6
    truth = {
        "pearson": rho,
        "spearman": 6 / np.pi * np.arcsin(rho / 2),
        "kendall": 2 / np.pi * np.arcsin(rho),
    }[coefficient]
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        first = rng.standard_normal(31)
        second = rho * first + np.sqrt(1 - rho**2) * rng.standard_normal(31)
        value = float(SCIPY[coefficient](first, second).statistic)
        interval = fisher_interval(value, 31, coefficient)
        covered += interval.lo <= truth <= interval.hi
    assert 0.91 <= covered / draws <= 0.985
