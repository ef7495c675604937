"""A line through means against log2 of their places."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from scipy.stats import linregress

from omibench.statistics.log_trend import fit_log_trend

PLACES = [1, 3, 4, 8, 16]


def test_slope_intercept_and_fit_are_those_of_least_squares_on_the_means() -> None:
    values = np.random.default_rng(1).random((40, 5)) + np.log2(PLACES) / 10
    trend = fit_log_trend(PLACES, values, [str(i) for i in range(40)])
    line = linregress(np.log2(PLACES), values.mean(axis=0))
    assert trend is not None
    assert trend.slope.mean == pytest.approx(line.slope)
    assert trend.intercept.mean == pytest.approx(line.intercept)
    assert trend.r_squared == pytest.approx(line.rvalue**2)
    assert trend.slope.lo < trend.slope.mean < trend.slope.hi
    assert trend.slope.n == 40


def test_shared_stems_widen_the_interval() -> None:
    stems = np.repeat(np.random.default_rng(2).random((20, 5)), 3, axis=0)
    alone = fit_log_trend(PLACES, stems, list(range(60)))
    shared = fit_log_trend(PLACES, stems, [i // 3 for i in range(60)])
    assert alone is not None
    assert shared is not None
    width = shared.slope.hi - shared.slope.lo
    assert width > 1.5 * (alone.slope.hi - alone.slope.lo)


def test_the_interval_of_the_slope_covers_the_truth() -> None:
    held, draws, slope = 0, 400, 0.05
    for index in range(draws):
        draw = np.random.default_rng(index)
        stem = np.repeat(draw.normal(0, 0.05, (20, 1)) * np.log2(PLACES), 2, axis=0)
        values = 0.3 + slope * np.log2(PLACES) + stem + draw.normal(0, 0.2, (40, 5))
        trend = fit_log_trend(PLACES, values, [i // 2 for i in range(40)])
        assert trend is not None
        held += trend.slope.lo <= slope <= trend.slope.hi
    assert 0.925 <= held / draws <= 0.985


def test_a_flat_curve_has_no_share_explained_and_two_places_no_line() -> None:
    flat = fit_log_trend([1, 2, 4], np.full((3, 3), 0.5), list("abc"))
    assert flat is not None
    assert flat.slope.mean == 0
    assert isnan(flat.r_squared)
    assert fit_log_trend([1, 2], np.ones((3, 2)), list("abc")) is None
    assert fit_log_trend([1, 2, 4], np.ones((0, 3)), []) is None


def test_what_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="problems, places"):
        fit_log_trend([1, 2, 4], np.ones((2, 3)), list("abc"))
    with pytest.raises(ValueError, match="not above 0"):
        fit_log_trend([0, 2, 4], np.ones((3, 3)), list("abc"))
