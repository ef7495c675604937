"""Differences with intervals: worked values, symmetry, and coverage by simulation."""

from __future__ import annotations

import random
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.statistics.intervals import clustered_wilson
from omibench.statistics.paired import independent_difference, paired_difference


def expand(both: int, first: int, second: int, neither: int) -> tuple[list[float], list[float]]:
    """A two-by-two table of pairs as two columns."""
    a = [1.0] * (both + first) + [0.0] * (second + neither)
    b = [1.0] * both + [0.0] * first + [1.0] * second + [0.0] * neither
    return a, b


def test_paired_difference_gives_the_worked_value() -> None:
    # (n12 + 1, n21 + 1) / (n + 2) = 10/50 and 4/50: 0.12 +- 1.96 sqrt((0.28 - 0.0144) / 50)
    difference = paired_difference(*expand(20, 9, 3, 16), range(48))
    assert difference.value == pytest.approx(6 / 48)
    assert (difference.lo, difference.hi) == pytest.approx((-0.02285, 0.26285), abs=1e-4)
    assert not difference.distinguishable


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1),
    st.integers(1, 20),
)
def test_swapping_mirrors_the_difference(pairs: list[tuple[float, float]], many: int) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    groups = list(range(len(pairs)))
    one = paired_difference(first, second, groups, comparisons=many)
    other = paired_difference(second, first, groups, comparisons=many)
    assert one.value == pytest.approx(-other.value)
    assert (one.lo, one.hi) == pytest.approx((-other.hi, -other.lo))
    assert -1 <= one.lo <= one.hi <= 1


def test_more_comparisons_widen_the_interval() -> None:
    columns = expand(20, 12, 2, 16)
    one = paired_difference(*columns, range(50))
    ten = paired_difference(*columns, range(50), comparisons=10)
    assert one.distinguishable
    assert not ten.distinguishable
    assert ten.lo < one.lo < one.hi < ten.hi


def test_the_best_of_equal_models_is_ahead_only_by_chance() -> None:
    draw = random.Random(3)
    rounds, models, problems = 150, 10, 60
    claims = {1: 0, models * (models - 1) // 2: 0}
    for _ in range(rounds):
        level = [draw.random() for _ in range(problems)]
        columns = [[float(draw.random() < p) for p in level] for _ in range(models)]
        columns.sort(key=sum)
        for comparisons in claims:
            best, worst = columns[-1], columns[0]
            difference = paired_difference(best, worst, range(problems), comparisons=comparisons)
            claims[comparisons] += difference.distinguishable
    assert claims[45] / rounds <= 0.08
    assert claims[1] / rounds > 0.3  # what an interval for one pair would have claimed


def test_no_pairs_say_nothing() -> None:
    difference = paired_difference([], [], [])
    assert isnan(difference.value)
    assert (difference.lo, difference.hi, difference.n) == (-1.0, 1.0, 0)


def test_repeated_problems_do_not_count_twice() -> None:
    first, second = expand(10, 7, 1, 10)
    once = paired_difference(first, second, range(28))
    thrice = paired_difference(first * 3, second * 3, [*range(28)] * 3)
    assert thrice.hi - thrice.lo > 0.9 * (once.hi - once.lo)


def test_independent_difference_gives_newcombes_value() -> None:
    # Newcombe 1998, table II, example a, method 10: 56/70 - 48/80.
    first = clustered_wilson([1.0] * 56 + [0.0] * 14, range(70), 0.95)
    second = clustered_wilson([1.0] * 48 + [0.0] * 32, range(80), 0.95)
    difference = independent_difference(first, second)
    assert difference.value == pytest.approx(0.2)
    assert (difference.lo, difference.hi) == pytest.approx((0.0524, 0.3339), abs=1e-4)


def test_paired_intervals_cover() -> None:
    draw = random.Random(11)
    rounds, covered = 1500, 0
    for _ in range(rounds):
        first, second = [], []
        for _ in range(40):
            hard = draw.random()
            first.append(float(draw.random() < 1 - hard))
            second.append(float(draw.random() < (1 - hard) * 0.7))
        difference = paired_difference(first, second, range(40))
        covered += difference.lo <= 0.5 - 0.35 <= difference.hi
    assert 0.93 <= covered / rounds <= 0.985
