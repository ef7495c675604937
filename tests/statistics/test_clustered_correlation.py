"""Correlations of clustered values, against scipy and by simulation."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan

import numpy as np
import pytest
from scipy.stats import norm, pearsonr, pointbiserialr, spearmanr

from omibench.results.statistics.correlation import (
    ClusteredCorrelation,
    correlate_by_rank,
    correlate_values,
)

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


def test_shared_stems_widen_the_interval_of_copies() -> None:
    draw = np.random.default_rng(8)
    x, y = draw.normal(size=(2, 40)).repeat(4, axis=1)
    alone = correlate_values(x, y, [str(i) for i in range(160)])
    shared = correlate_values(x, y, [str(i // 4) for i in range(160)])
    assert shared.high - shared.low > 1.8 * (alone.high - alone.low)
    assert norm.isf(shared.p / 2) < norm.isf(alone.p / 2)


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
