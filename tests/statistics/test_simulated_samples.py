"""Means of several samples of a problem: coverage of intervals, level and power of comparisons."""

from __future__ import annotations

import pytest
from tests.statistics.respondents import Design, cluster_numbers, draw_shares

from omibench.results.statistics.intervals import clustered_wilson
from omibench.results.statistics.paired import paired_difference

DESIGNS = [
    Design(clusters, size, samples, correlation)
    for clusters, size, correlation in ((30, 1, 0.0), (300, 1, 0.0), (40, 3, 0.5), (60, 6, 0.2))
    for samples in (1, 3, 8, 16)
]


def measure_coverage(design: Design, accuracy: float, rounds: int) -> float:
    groups, covered = cluster_numbers(design), 0
    for seed in range(rounds):
        (shares,) = draw_shares(seed, design, [accuracy])
        estimate = clustered_wilson(shares, groups)
        covered += estimate.lo <= accuracy <= estimate.hi
    return covered / rounds


def measure_detection(design: Design, difference: float, rounds: int) -> float:
    """The share of draws in which two respondents are distinguishable."""
    groups, detected = cluster_numbers(design), 0
    for seed in range(rounds):
        first, second = draw_shares(seed, design, [0.4, 0.4 + difference])
        detected += paired_difference(second, first, groups).distinguishable
    return detected / rounds


@pytest.mark.parametrize("samples", [3, 16])
def test_intervals_of_means_cover(samples: int) -> None:
    assert 0.92 <= measure_coverage(Design(100, 1, samples), 0.3, 400) <= 0.98


def test_equal_respondents_are_seldom_told_apart() -> None:
    assert 0.02 <= measure_detection(Design(100, 1, 8), 0.0, 400) <= 0.085


def test_samples_buy_power() -> None:
    single, many = (measure_detection(Design(600, 1, k), 0.04, 60) for k in (1, 8))
    assert many > single + 0.2


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("accuracy", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_intervals_cover_over_5000_draws(design: Design, accuracy: float) -> None:
    assert 0.93 <= measure_coverage(design, accuracy, 5000) <= 0.97


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_the_level_of_comparisons_over_5000_draws(design: Design) -> None:
    assert 0.03 <= measure_detection(design, 0.0, 5000) <= 0.07
