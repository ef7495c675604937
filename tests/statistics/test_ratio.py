"""Shares whose denominators differ."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from omibench.statistics.intervals import clustered_wilson, wilson
from omibench.statistics.ratio import clustered_ratio


def test_it_is_the_sum_of_the_parts_over_that_of_the_wholes() -> None:
    share = clustered_ratio([1, 4, 0], [2, 5, 3], ["a", "b", "c"])
    assert share.mean == 0.5
    assert share.n == 10
    assert 0 <= share.lo < 0.5 < share.hi <= 1


def test_wholes_of_one_have_nearly_the_interval_of_a_share() -> None:
    right = [1.0, 0.0] * 50
    names = [str(i) for i in range(100)]
    ratio, share = clustered_ratio(right, [1] * 100, names), clustered_wilson(right, names)
    assert (ratio.lo, ratio.hi) == pytest.approx((share.lo, share.hi), abs=0.005)


def test_the_interval_covers_the_truth() -> None:
    held, draws, truth = 0, 400, 0.46
    for index in range(draws):
        draw = np.random.default_rng(index)
        steps = draw.integers(2, 9, 100)
        chance = np.clip(truth + 0.25 * draw.choice([-1, 1], 50).repeat(2), 0, 1)
        wrong = draw.binomial(steps, chance)
        share = clustered_ratio(wrong, steps, [i // 2 for i in range(100)])
        held += share.lo <= truth <= share.hi
    assert 0.925 <= held / draws <= 0.985


def test_extremes_rest_on_clusters() -> None:
    none = clustered_ratio([0, 0, 0], [9, 9, 9], ["a", "a", "b"])
    assert (none.mean, none.lo, none.hi) == (0, *wilson(0, 2))
    assert isnan(clustered_ratio([], [], []).mean)
    assert isnan(clustered_ratio([0], [0], ["a"]).mean)


def test_what_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="2 parts, 1 wholes, 2 clusters"):
        clustered_ratio([1, 1], [1], ["a", "b"])
    with pytest.raises(ValueError, match="between 0 and its whole"):
        clustered_ratio([3], [2], ["a"])
