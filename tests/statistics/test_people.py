"""People as a sample, and guessing, against scipy and simulation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr, ndtri, stdtrit

from omibench.results.statistics.intervals import clustered_wilson
from omibench.results.statistics.people import (
    FEW_PEOPLE,
    count_distribution,
    estimate_crossed_mean,
    estimate_crossed_share,
    guess_accuracy,
)


class Panel(NamedTuple):
    """People who answer the same problems."""

    people: int
    clusters: int
    size: int
    spread: float
    """Standard deviation of the people's abilities; the problems' difficulties have 1.2."""


def draw_panel(seed: int, panel: Panel, accuracy: float) -> np.ndarray:
    """Right or wrong, person by problem; `accuracy` is that of all such people and problems."""
    rng = np.random.default_rng(seed)
    shared = np.repeat(rng.standard_normal(panel.clusters), panel.size)
    single = rng.standard_normal(panel.clusters * panel.size)
    difficulty = 1.2 * (shared + single) / np.sqrt(2)
    ability = panel.spread * rng.standard_normal(panel.people)
    level = ndtri(accuracy) * np.sqrt(1 + 1.44 + panel.spread**2)
    chance = ndtr(level + ability[:, None] + difficulty[None])
    return (rng.random(chance.shape) < chance).astype(float)


def measure_coverage(panel: Panel, accuracy: float, draws: int) -> float:
    people = np.repeat(np.arange(panel.people), panel.clusters * panel.size).tolist()
    stems = np.tile(np.repeat(np.arange(panel.clusters), panel.size), panel.people).tolist()
    covered = 0
    for seed in range(draws):
        values = draw_panel(seed, panel, accuracy).ravel().tolist()
        estimate = estimate_crossed_share(values, people, stems)
        covered += estimate.lo <= accuracy <= estimate.hi
    return covered / draws


def test_the_variance_is_that_of_both_without_their_cells() -> None:
    values = np.asarray([[1, 1, 0, 1], [1, 0, 0, 0], [1, 1, 1, 0]], dtype=float)
    people, problems = (axis.ravel().tolist() for axis in np.indices(values.shape))
    estimate = estimate_crossed_mean(values.ravel().tolist(), people, problems, 0.95, (-9, 9))
    deviations = values - values.mean()
    by_person = (deviations.sum(axis=1) ** 2).sum() / 144 * 3 / 2
    by_problem = (deviations.sum(axis=0) ** 2).sum() / 144 * 4 / 3
    by_cell = (deviations**2).sum() / 144 * 12 / 11
    variance = max(by_person + by_problem - by_cell, by_person, by_problem)
    assert estimate.mean == pytest.approx(values.mean())
    freedom = variance**2 / (by_person**2 / 2 + by_problem**2 / 3)
    quantile = stdtrit(min(5, max(2, int(freedom))), 0.975)
    assert (estimate.hi - estimate.lo) / 2 == pytest.approx(quantile * np.sqrt(variance))


def test_people_who_differ_widen_the_interval_of_their_group() -> None:
    values = [1.0] * 45 + [0.0] * 7 + [1.0] * 20 + [0.0] * 32
    people, problems = ["a"] * 52 + ["b"] * 52, [*range(52), *range(52)]
    both = estimate_crossed_share(values, people, problems)
    these = clustered_wilson(values, problems)
    assert both.hi - both.lo > 2 * (these.hi - these.lo)
    assert (both.n, both.people, both.clusters) == (104, 2, 52)


def test_answers_that_are_all_right_are_worth_as_many_as_there_are_people() -> None:
    estimate = estimate_crossed_share([1.0] * 20, ["a", "b"] * 10, [i // 2 for i in range(20)])
    assert estimate.mean == estimate.hi == 1
    assert estimate.lo == pytest.approx(0.342, abs=0.001)


@pytest.mark.parametrize(("people", "problems"), [(["a", "a"], [1, 2]), (["a", "b"], [1, 1])])
def test_one_person_or_one_problem_is_refused(people: list[str], problems: list[int]) -> None:
    with pytest.raises(ValueError, match="at least two of each"):
        estimate_crossed_share([0.0, 1.0], people, problems)


def test_intervals_of_a_group_cover() -> None:
    assert 0.91 <= measure_coverage(Panel(10, 52, 1, 0.5), 0.6, 200) <= 0.985


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("accuracy", [0.6, 0.85])
@pytest.mark.parametrize(
    "panel",
    [Panel(p, 52, 1, s) for p in (2, 3, 4, 10, 30) for s in (0.0, 0.3, 0.8)]
    + [Panel(10, 30, 3, 0.5)],
    ids=str,
)
def test_intervals_of_groups_cover_over_5000_draws(panel: Panel, accuracy: float) -> None:
    lowest, highest = (0.89, 0.98) if panel.people < FEW_PEOPLE else (0.93, 0.975)
    assert lowest <= measure_coverage(panel, accuracy, 5000) <= highest


CHANCES = st.lists(st.sampled_from([0.0, 0.2, 0.25, 0.5, 1.0]), max_size=9)


def enumerate_outcomes(chances: list[float]) -> list[float]:
    """P(k right) over all 2^n outcomes."""
    distribution = [0.0] * (len(chances) + 1)
    for outcome in range(2 ** len(chances)):
        right = [bool(outcome >> place & 1) for place in range(len(chances))]
        probability = 1.0
        for is_right, chance in zip(right, chances, strict=True):
            probability *= chance if is_right else 1 - chance
        distribution[sum(right)] += probability
    return distribution


@given(CHANCES)
def test_the_distribution_is_that_of_all_outcomes(chances: list[float]) -> None:
    np.testing.assert_allclose(count_distribution(chances), enumerate_outcomes(chances), atol=1e-12)


def test_equal_chances_are_binomial() -> None:
    expected = stats.binom(2788, 0.25).pmf(range(2789))
    np.testing.assert_allclose(count_distribution([0.25] * 2788), expected, atol=1e-12)


def test_the_upper_point_is_the_binomial_quantile() -> None:
    guessed = guess_accuracy([0.25] * 52 + [0.0] * 48)
    exact = stats.binom(52, 0.25)
    assert guessed.mean == pytest.approx(0.13)
    assert guessed.sd == pytest.approx(exact.std() / 100)
    assert guessed.upper == exact.ppf(0.95) / 100
    assert (guessed.lo, guessed.hi) == (exact.ppf(0.025) / 100, exact.ppf(0.975) / 100)


def test_open_problems_alone_are_never_guessed() -> None:
    assert guess_accuracy([0.0] * 7) == (0.0, 0.0, 0.0, 0.0, 0.0, 7)


@pytest.mark.parametrize("chances", [[], [0.2, 1.5], [-0.1]])
def test_chances_out_of_range_are_refused(chances: list[float]) -> None:
    with pytest.raises(ValueError, match=r"chance must be in|no problem"):
        guess_accuracy(chances)
