"""Looks at growing data: published boundaries, the level and the power, and what is saved."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit, ndtri
from tests.statistics.respondents import Design, cluster_numbers, draw_shares

from omibench.results.statistics.sequential import (
    LookPlan,
    Spending,
    compare_with_leader,
    find_levels,
    hold_looks,
    share_alpha,
    spend_alpha,
)
from omibench.study.plan.build import simulate_saving

SUBJECTS = {"biology": 251, "chemistry": 217, "mathematics": 430, "physics": 424}
"""Problems of OMIBench by subject (table 1)."""


@pytest.mark.parametrize(
    ("spending", "bounds"),
    [
        ("obrien-fleming", [4.877, 3.357, 2.680, 2.290, 2.031]),
        ("pocock", [2.438, 2.427, 2.410, 2.397, 2.386]),
    ],
)
def test_the_boundaries_are_those_of_lan_and_demets(
    spending: Spending, bounds: list[float]
) -> None:
    """Five equal steps at a one-sided level of 0.025, as in ldBounds (Reboussin et al. 2000)."""
    levels = find_levels((0.2, 0.4, 0.6, 0.8, 1.0), 0.025, spending)
    assert -ndtri(levels) == pytest.approx(bounds, abs=0.0012)


@pytest.mark.slow
@given(
    fractions=st.lists(st.floats(0.05, 0.95), min_size=1, max_size=6, unique=True),
    alpha=st.floats(0.0005, 0.2),
    spending=st.sampled_from(["obrien-fleming", "pocock"]),
)
@settings(max_examples=25, deadline=None)
def test_a_look_costs_at_least_what_is_spent_on_it(
    fractions: list[float], alpha: float, spending: Spending
) -> None:
    spread = sorted({round(share, 2) for share in fractions})
    levels = find_levels((*spread, 1.0), alpha, spending)
    spent = [spend_alpha(share, alpha, spending) for share in (*spread, 1.0)]
    assert spent[-1] == pytest.approx(alpha)
    assert levels[0] == pytest.approx(spent[0], rel=1e-6)
    assert all(
        b - a <= level * 1.001 for a, b, level in zip(spent, spent[1:], levels[1:], strict=False)
    )
    assert max(levels) < alpha or len(levels) == 1


def test_only_who_is_behind_beyond_doubt_stops_and_a_kept_one_never_does() -> None:
    rng = np.random.default_rng(5)
    values = (rng.random((400, 4)) < [0.7, 0.68, 0.4, 0.3]).astype(float)
    values[:, 3][::2] = np.nan
    result = compare_with_leader(values, range(400), 0.001)
    assert result.leader == int(values[:, :2].mean(axis=0).argmax())
    assert [stop.candidate for stop in result.stops] == [2, 3]
    assert all(0 < stop.p <= 0.001 < stop.difference for stop in result.stops)
    assert [
        stop.candidate for stop in compare_with_leader(values, range(400), 0.001, [2]).stops
    ] == [3]
    assert compare_with_leader(values, [0] * 400, 0.001).stops == [], "one stem says nothing"


def make_rule(design: Design, spending: Spending = "obrien-fleming", looks: int = 10) -> LookPlan:
    """Looks that each end with a whole stem."""
    ends = [-(-design.clusters * look // looks) * design.size for look in range(1, looks + 1)]
    return LookPlan(ends, 0.05, spending)


def measure(design: Design, spending: Spending, rounds: int) -> tuple[float, float, float]:
    """How often the best of six equal ones stops, and how often one 15 points behind does, by looks
    and by a single test on all problems."""
    groups, rule, level = cluster_numbers(design), make_rule(design, spending), share_alpha(0.05, 2)
    wrong = found = at_end = 0
    for seed in range(rounds):
        equal = np.transpose(draw_shares(seed, design, [0.5] * 6))
        wrong += 0 not in hold_looks(equal, groups, rule).left
        pair = np.transpose(draw_shares(seed, design, [0.65, 0.5]))
        found += 1 not in hold_looks(pair, groups, rule).left
        at_end += bool(compare_with_leader(pair, groups, level).stops)
    return wrong / rounds, found / rounds, at_end / rounds


DESIGNS = [Design(100, 1, 1), Design(100, 4, 1, 0.5), Design(1322, 1, 1)]
LOSS = {"obrien-fleming": 0.06, "pocock": 0.2}
"""The most power that ten looks may cost."""


def test_the_best_of_equal_ones_seldom_stops() -> None:
    wrong, found, at_end = measure(DESIGNS[0], "obrien-fleming", 60)
    assert wrong <= 0.13
    assert found >= at_end - 0.1


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("design", DESIGNS, ids=str)
@pytest.mark.parametrize("spending", ["obrien-fleming", "pocock"])
def test_level_and_power_at_three_sizes(design: Design, spending: Spending) -> None:
    wrong, found, at_end = measure(design, spending, 500)
    assert wrong <= 0.05 + 2.6 * (0.05 * 0.95 / 500) ** 0.5
    assert found >= at_end - LOSS[spending]


def read_accuracies(root: Path) -> dict[str, list[float]]:
    """The published accuracies of 31 models, by subject and in total (OMIBench, table 2)."""
    with (root / "published" / "omibench_main.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {
        name: [float(row[f"{name}_acc"]) / 100 for row in rows] for name in [*SUBJECTS, "total"]
    }


def draw_omibench(seed: int, accuracies: dict[str, list[float]]) -> np.ndarray:
    """Verdicts of a two-parameter logistic model with the published accuracies in each subject."""
    rng = np.random.default_rng(seed)
    parts = []
    for subject, count in SUBJECTS.items():
        slope, difficulty = 1.7 * np.exp(rng.normal(0, 0.3, count)), rng.normal(0, 1, count)

        def miss(
            ability: float, goal: float, a: np.ndarray = slope, b: np.ndarray = difficulty
        ) -> float:
            return float(expit(a * (ability - b)).mean() - goal)

        abilities = np.array([brentq(miss, -9, 9, args=(goal,)) for goal in accuracies[subject]])
        parts.append(expit(slope[:, None] * (abilities - difficulty[:, None])))
    chances = rng.permutation(np.concatenate(parts))
    return (rng.random(chances.shape) < chances).astype(float)


def hold_looks_on_omibench(root: Path, looks: int) -> tuple[float, float, int]:
    """The share of requests, the mean number left, and how often the best is kept, in 30 draws."""
    accuracies = read_accuracies(root)
    best = int(np.argmax(accuracies["total"]))
    rule = make_rule(Design(1322, 1, 1), looks=looks)
    results = [hold_looks(draw_omibench(seed, accuracies), range(1322), rule) for seed in range(30)]
    share = float(np.mean([result.asked for result in results])) / 1322
    left = float(np.mean([len(result.left) for result in results]))
    return share, left, sum(best in result.left for result in results)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
def test_less_than_half_of_the_requests_find_the_best_of_31_models(root: Path) -> None:
    """The measured figures: 44 % with ten looks and 53 % with four, at most 1.5 candidates left."""
    share, left, kept = hold_looks_on_omibench(root, 10)
    assert share == pytest.approx(0.44, abs=0.05)
    assert left <= 1.6
    assert kept == 30
    fewer, left, kept = hold_looks_on_omibench(root, 4)
    assert share < fewer == pytest.approx(0.53, abs=0.05)
    assert left <= 1.6
    assert kept == 30


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_plan_predicts_the_saving_within_ten_points(root: Path) -> None:
    rule = make_rule(Design(1322, 1, 1))
    expected = simulate_saving(rule, [str(n) for n in range(1322)], 31, 32)[0]
    assert float(np.mean(expected)) == pytest.approx(hold_looks_on_omibench(root, 10)[0], abs=0.1)
