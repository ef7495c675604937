"""Tests of comparisons: their level, their power in a family, and the coverage of correlations."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from tests.statistics.respondents import Design, cluster_numbers, draw_shares
from tests.statistics.test_paired import join_sums

from omibench.results.statistics.intervals import (
    SHARED_STEM,
    adjust_holm,
    clustered_wilson,
    effective_size,
)
from omibench.results.statistics.paired import (
    bound_differences,
    compare_sums,
    detectable_difference,
    paired_difference,
    sum_pairs,
)
from omibench.results.statistics.samples import compare_runs
from omibench.results.statistics.stems import FEWEST_STEMS, estimate_stem_correlation

Floats = npt.NDArray[np.float64]
PAIRED = [
    Design(100, 1, 1), Design(1000, 1, 1), Design(100, 1, 8), Design(60, 6, 1, 0.2),
    Design(100, 3, 1, 0.5), Design(60, 3, 8, 0.5),
]  # fmt: skip
RUNS = 5
"""Of USNCO-V's tests."""


class PairRates(NamedTuple):
    """Shares of draws; `agree` says whether p and interval agree in all."""

    rejected: float
    covered: float
    agree: bool


def measure_level(design: Design, rounds: int) -> float:
    """How often equal respondents differ at 0.05: McNemar's test, or Student's of means."""
    groups, sums = cluster_numbers(design), []
    for seed in range(rounds):
        first, second = draw_shares(seed, design, [0.45, 0.45])
        sums.append(sum_pairs(first, second, groups))
    return float((compare_sums(join_sums(sums)).p < 0.05).mean())


def measure_welch_level(spreads: tuple[float, float], rounds: int) -> float:
    """How often runs of equal mean but unequal variance gain at one-sided 0.05.

    A run is one sample of each of 200 problems, answered rightly with a probability that lies
    within `spreads` of one half: the closer, the more runs vary.
    """
    gains = 0
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        runs = [
            (rng.random((RUNS, 200)) < 0.5 + spread * rng.permutation(np.resize([-1, 1], 200)))
            .mean(axis=1)
            .tolist()
            for spread in spreads
        ]
        gains += compare_runs(*runs).p < 0.05
    return gains / rounds


def measure_family_power(
    models: int, clusters: int, size: int, rounds: int, correlation: float = SHARED_STEM
) -> float:
    """How often Holm's test over all pairs of models finds the difference that `plan` states.

    Problems of one stem go the same way together with a probability, their correlation. The
    other pairs are equal, so that Holm's step for this one is the strictest.
    """
    pairs, discordant = models * (models - 1) // 2, 0.3
    problems = effective_size([str(i // size) for i in range(clusters * size)], correlation)
    difference = detectable_difference(problems, discordant, 0.05 / pairs)
    odds = [(discordant + difference) / 2, (discordant - difference) / 2, 1 - discordant]
    groups, sums = [i // size for i in range(clusters * size)], []
    rng = np.random.default_rng(models * size)
    for _ in range(rounds):
        single = rng.choice([1.0, -1.0, 0.0], (clusters, size), p=odds)
        shared = rng.choice([1.0, -1.0, 0.0], (clusters, 1), p=odds)
        deltas = np.where(rng.random((clusters, 1)) < correlation, shared, single).ravel()
        sums.append(sum_pairs(deltas, np.zeros(len(deltas)), groups))
    detected = 0
    for p in compare_sums(join_sums(sums)).p:
        detected += adjust_holm([p, *rng.random(pairs - 1)])[0] < 0.05
    return detected / rounds


def measure_family_error(design: Design, models: int, rounds: int) -> float:
    """How often any of equal models is ahead of another, by Holm over all their pairs at 0.05.

    It is how often a range of ranks leaves a true rank out as well: all are equally good.
    """
    groups, errors = cluster_numbers(design), 0
    for seed in range(rounds):
        shares = draw_shares(seed, design, [0.45] * models)
        sums = [sum_pairs(a, b, groups) for a, b in combinations(shares, 2)]
        errors += bool(adjust_holm(compare_sums(join_sums(sums)).p).min() < 0.05)
    return errors / rounds


@pytest.mark.parametrize("design", [PAIRED[0], PAIRED[4]], ids=str)
def test_equal_respondents_seldom_differ(design: Design) -> None:
    assert 0.01 <= measure_level(design, 200) <= 0.1


def test_equal_runs_seldom_gain() -> None:
    assert 0.01 <= measure_welch_level((0.0, 0.45), 200) <= 0.1


def test_a_family_finds_what_the_plan_states() -> None:
    assert 0.7 <= measure_family_power(6, 400, 1, 200) <= 0.9


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_stems_of_five_find_what_the_plan_states(correlation: float) -> None:
    assert 0.7 <= measure_family_power(2, 100, 5, 200, correlation) <= 0.9


def draw_alike(stems: int, correlation: float, seed: int = 1) -> tuple[Floats, list[str]]:
    """Two models on stems of five problems that go the same way with a probability, and alone."""
    rng = np.random.default_rng(seed)
    single, shared = (rng.choice([1, -1, 0], (stems, size), p=[0.2, 0.2, 0.6]) for size in (5, 1))
    deltas = np.where(rng.random((stems, 1)) < correlation, shared, single).ravel()
    deltas = np.append(deltas, rng.choice([1, -1, 0], stems))
    names = [f"s{place // 5}" for place in range(5 * stems)] + [""] * stems
    return np.array([deltas > 0, deltas < 0], dtype=float), names


@pytest.mark.parametrize("correlation", [0.0, 0.2, 0.5])
def test_the_correlation_within_stems_is_estimated(correlation: float) -> None:
    values, stems = draw_alike(300, correlation)
    assert estimate_stem_correlation(values, stems) == pytest.approx(correlation, abs=0.07)
    values[0, ::7] = np.nan
    assert estimate_stem_correlation(values, stems) == pytest.approx(correlation, abs=0.1)


def test_few_stems_and_equal_models_give_no_correlation() -> None:
    assert np.isnan(estimate_stem_correlation(*draw_alike(FEWEST_STEMS - 1, 0.5)))
    assert not np.isnan(estimate_stem_correlation(*draw_alike(FEWEST_STEMS, 0.5)))
    values, stems = draw_alike(100, 0.5)
    assert np.isnan(estimate_stem_correlation(values[[0, 0]], stems))
    assert np.isnan(estimate_stem_correlation(values[:1], stems))


def test_equal_models_seldom_lead() -> None:
    assert measure_family_error(Design(100, 1, 1), 5, 200) <= 0.09


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("design", [PAIRED[0], PAIRED[4], PAIRED[5]], ids=str)
def test_the_error_of_a_family_over_5000_draws(design: Design) -> None:
    assert measure_family_error(design, 6, 5000) <= 0.06


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("design", PAIRED, ids=str)
def test_the_level_of_paired_tests_over_5000_draws(design: Design) -> None:
    assert 0.04 <= measure_level(design, 5000) <= 0.06


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("spreads", [(0.0, 0.0), (0.3, 0.3), (0.0, 0.45)], ids=str)
def test_the_level_of_welchs_test_over_5000_draws(spreads: tuple[float, float]) -> None:
    assert 0.04 <= measure_welch_level(spreads, 5000) <= 0.06


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("clusters", "size"), [(400, 1), (1322, 1), (300, 4)])
@pytest.mark.parametrize("models", [6, 31])
def test_the_power_in_a_family_over_5000_draws(models: int, clusters: int, size: int) -> None:
    assert measure_family_power(models, clusters, size, 5000) == pytest.approx(0.8, abs=0.05)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("correlation", [0.0, 0.2, 0.5])
def test_the_power_with_stems_of_five_over_5000_draws(correlation: float) -> None:
    assert measure_family_power(2, 264, 5, 5000, correlation) == pytest.approx(0.8, abs=0.05)


# Means of several samples of a problem: coverage of intervals, level and power of comparisons.


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


# The test of a difference and its interval are one: level, coverage and agreement of both.


def measure_pairs(design: Design, accuracy: float, gap: float, rounds: int) -> PairRates:
    groups, sums = cluster_numbers(design), []
    for seed in range(rounds):
        first, second = draw_shares(seed, design, [accuracy, accuracy - gap])
        sums.append(sum_pairs(first, second, groups))
    joined = join_sums(sums)
    low, high = bound_differences(joined, 0.95)
    rejected = compare_sums(joined).p < 0.05
    return PairRates(
        float(rejected.mean()),
        float(((low <= gap) & (gap <= high)).mean()),
        bool((rejected == ((low > 0) | (high < 0))).all()),
    )


@pytest.mark.parametrize("design", [Design(38, 1, 1), Design(8, 5, 1, 0.3)], ids=str)
def test_the_interval_is_the_inverse_of_the_test(design: Design) -> None:
    rates = measure_pairs(design, 0.5, 0.135, 200)
    assert rates.agree
    assert 0.88 <= rates.covered <= 0.99


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("accuracy", [0.5, 0.87])
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(
    ("clusters", "size"), [(38, 1), (13, 3), (8, 5), (100, 1), (33, 3), (8, 13), (400, 1), (8, 50)]
)
def test_level_and_coverage_over_2000_draws(
    clusters: int, size: int, samples: int, accuracy: float
) -> None:
    design = Design(clusters, size, samples, 0.3)
    null = measure_pairs(design, accuracy, 0.0, 2000)
    apart = measure_pairs(design, accuracy, 0.135, 2000)
    assert null.agree
    assert apart.agree
    assert 0.025 <= null.rejected <= 0.067
    assert min(null.covered, apart.covered) >= 0.923
