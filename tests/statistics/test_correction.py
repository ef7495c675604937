"""Correcting for a judge's errors: the algebra, the coverage of the interval, and its limits."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.statistics.correction import UNTOLD, Share, combine_parts, rogan_gladen

rates = st.floats(0, 1)


@given(rates, rates, rates)
def test_the_truth_comes_back_from_what_a_known_judge_says(
    truth: float, tpr: float, fpr: float
) -> None:
    if tpr - fpr > 0.05:
        told = truth * tpr + (1 - truth) * fpr
        found = rogan_gladen(Share(told, 1e9), Share(tpr, 1e9), Share(fpr, 1e9))
        assert found.value == pytest.approx(truth, abs=1e-6)
        assert 0 <= found.lo <= found.value <= found.hi <= 1


@pytest.mark.parametrize("tpr", [0.5, 0.3])
def test_a_judge_that_tells_nothing_corrects_nothing(tpr: float) -> None:
    found = rogan_gladen(Share(0.5, 100), Share(tpr, 50), Share(0.5, 50))
    assert isnan(found.value)
    assert (found.lo, found.hi) == (0, 1)


@pytest.mark.parametrize("none", [0, 1, 2])
def test_no_data_tells_nothing(none: int) -> None:
    shares = [Share(0.5, 100), Share(0.9, 50), Share(0.1, 50)]
    shares[none] = Share(0.5, 0)
    assert isnan(rogan_gladen(*shares).value)


def test_fewer_labels_make_a_wider_interval() -> None:
    few = rogan_gladen(Share(0.5, 400), Share(0.9, 20), Share(0.1, 20))
    many = rogan_gladen(Share(0.5, 400), Share(0.9, 2000), Share(0.1, 2000))
    assert few.hi - few.lo > 1.5 * (many.hi - many.lo)


@pytest.mark.parametrize(
    ("truth", "tpr", "fpr", "n", "labels"),
    [(0.5, 0.9, 0.1, 400, 60), (0.2, 0.96, 0.05, 40, 100), (0.8, 0.8, 0.3, 300, 80)],
)
def test_the_interval_covers_the_truth_as_often_as_it_says(
    truth: float, tpr: float, fpr: float, n: int, labels: int
) -> None:
    draw = np.random.default_rng(5)
    runs, held = 2000, 0
    told = draw.binomial(n, truth * tpr + (1 - truth) * fpr, runs) / n
    right, wrong = draw.binomial(labels, tpr, runs), draw.binomial(labels, fpr, runs)
    for p, a, b in zip(told, right, wrong, strict=True):
        found = rogan_gladen(Share(p, n), Share(a / labels, labels), Share(b / labels, labels))
        held += found.lo <= truth <= found.hi
    assert 0.93 <= held / runs <= 0.985


def test_parts_are_weighted_and_their_intervals_meet() -> None:
    one = rogan_gladen(Share(0.6, 100), Share(0.9, 100), Share(0.1, 100))
    both = combine_parts([(1, one), (1, one)])
    assert both.value == pytest.approx(one.value)
    assert both.hi - both.lo < one.hi - one.lo
    assert combine_parts([(3, one), (0, one)]) == pytest.approx(one)
    assert isnan(combine_parts([(1, one), (1, UNTOLD)]).value)
    assert isnan(combine_parts([]).value)
