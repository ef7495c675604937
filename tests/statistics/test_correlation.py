"""Correlations over models: against scipy, published intervals, and models left out by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import pearsonr, pointbiserialr, spearmanr

from omibench.results.statistics.correlation import (
    COEFFICIENTS,
    ClusteredCorrelation,
    Coefficient,
    correlate,
    correlate_by_rank,
    correlate_values,
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


# Correlations of clustered values, against scipy and by simulation.


BOTH = pytest.mark.parametrize("correlate", [correlate_values, correlate_by_rank])
Correlate = Callable[..., ClusteredCorrelation]


def test_values_are_those_of_scipy_with_ties() -> None:
    draw = np.random.default_rng(5)
    x = draw.integers(0, 9, 80).astype(float)
    y = (x + draw.normal(0, 4, 80) > 4).astype(float)
    names = [str(i) for i in range(80)]
    assert correlate_values(x, y, names).value == pytest.approx(pointbiserialr(y, x).statistic)
    assert correlate_values(x, y, names).value == pytest.approx(pearsonr(x, y).statistic)
    assert correlate_by_rank(x, y, names).value == pytest.approx(spearmanr(x, y).statistic)


@BOTH
def test_the_p_value_is_near_that_of_independent_values(correlate: Correlate) -> None:
    draw = np.random.default_rng(6)
    x = draw.normal(size=400)
    y = 0.12 * x + draw.normal(size=400)
    exact = pearsonr(x, y) if correlate is correlate_values else spearmanr(x, y)
    result = correlate(x, y, [str(i) for i in range(400)])
    assert result.p == pytest.approx(exact.pvalue, abs=0.02)
    assert result.low < result.value < result.high
    assert (result.n, result.clusters) == (400, 400)


@BOTH
@pytest.mark.parametrize(("truth", "stem"), [(0.0, 0.0), (0.5, 0.0), (0.0, 1.0), (0.5, 1.0)])
def test_the_interval_covers_the_truth_with_and_without_shared_stems(
    correlate: Correlate, truth: float, stem: float
) -> None:
    expected = truth if correlate is correlate_values else 6 / np.pi * np.arcsin(truth / 2)
    held, draws = 0, 300
    clusters = [str(i // 3) for i in range(150)]
    for index in range(draws):
        draw = np.random.default_rng(index)
        shared, alone = draw.normal(size=(2, 50)).repeat(3, axis=1), draw.normal(size=(2, 150))
        first, second = (stem * shared + alone) / np.sqrt(1 + stem**2)
        result = correlate(first, truth * first + np.sqrt(1 - truth**2) * second, clusters)
        held += result.low <= expected <= result.high
    assert 0.915 <= held / draws <= 0.985


def test_p_keeps_its_level_where_lengths_are_skewed() -> None:
    names = [str(i) for i in range(300)]
    draws, rejected = 600, 0
    for index in range(draws):
        draw = np.random.default_rng(index)
        lengths, right = draw.lognormal(sigma=1.5, size=300), (draw.random(300) < 0.8).astype(float)
        rejected += correlate_values(lengths, right, names).p < 0.05
    assert 0.025 <= rejected / draws <= 0.075


@BOTH
def test_without_variation_there_is_no_correlation(correlate: Correlate) -> None:
    result = correlate([1, 1, 1], [0, 1, 0], ["a", "b", "c"])
    assert isnan(result.value)
    assert isnan(result.p)
    assert isnan(correlate([], [], []).value)


@BOTH
def test_few_clusters_or_a_full_correlation_have_no_interval(correlate: Correlate) -> None:
    assert isnan(correlate([1, 2, 3, 4], [0, 1, 0, 1], ["a", "a", "b", "b"]).low)
    full = correlate([1, 2, 3, 4], [2, 4, 6, 8], ["a", "b", "c", "d"])
    assert full.value == pytest.approx(1)
    assert isnan(full.high)


@BOTH
def test_lists_of_different_lengths_are_an_error(correlate: Correlate) -> None:
    with pytest.raises(ValueError, match="2 values, 1 others, 2 clusters"):
        correlate([1, 2], [1], ["a", "b"])
