"""Lines on the logarithm of a quantity, and the size where gains end."""

from __future__ import annotations

import csv
import re
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import linregress

from omibench.results.statistics.regression import (
    find_saturation,
    fit_log_trend,
    resample_saturation,
)

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


@pytest.mark.parametrize(
    ("scores", "size"),
    [
        ({1: 0.10, 8: 0.24, 38: 0.251, 241: 0.252}, 38),
        ({1: 0.10, 8: 0.25, 38: 0.20, 241: 0.254}, 8),
        ({1: 0.10, 8: 0.25, 38: 0.20, 241: 0.255}, None),
        ({2: 0.1, 4: 0.2, 8: 0.3}, None),
        ({8: 0.3, 2: 0.4, 4: 0.1}, 2),
        ({8: 0.3}, None),
        ({}, None),
        ({1: 0.1, 2: 0.105}, None),  # a gain of exactly half a point is a gain
        ({1: 0.1, 2: 0.1049}, 1),
    ],
)
def test_the_smallest_size_that_no_larger_one_surpasses(
    scores: dict[float, float], size: float | None
) -> None:
    assert find_saturation(scores) == size
    assert find_saturation({1: 0.1, 2: 0.14}, least_gain=0.05) == 1


def test_resamples_of_a_clear_plateau_agree_and_those_of_a_tie_do_not() -> None:
    items = np.arange(400)
    clear = np.stack([items < 100, items < 300, items < 300], axis=1).astype(float)
    draw = np.random.default_rng(1)
    close = np.stack([items < 100, draw.random(400) < 0.5, draw.random(400) < 0.505], axis=1)
    names = [str(i) for i in items]
    assert resample_saturation([2, 8, 30], clear, names, 8) == 1
    assert resample_saturation([2, 8, 30], clear, names, None) == 0
    sizes = {2: 0.25, 8: float(close[:, 1].mean()), 30: float(close[:, 2].mean())}
    share = resample_saturation([2, 8, 30], close.astype(float), names, find_saturation(sizes))
    assert 0.3 < share < 0.95


def test_the_best_of_several_models_of_a_size_counts() -> None:
    items = np.arange(100)
    values = np.stack([items < 20, items < 60, items < 60], axis=1).astype(float)
    assert resample_saturation([8, 8, 30], values, [str(i) for i in items], 8) == 1


@pytest.mark.parametrize(
    ("prefix", "size"),
    [("InternVL3-", None), ("InternVL3.5-", 38), ("Qwen2.5-VL-", None), ("Qwen3-VL-", 32)],
)
def test_the_families_of_omibench_s_table_2(root: Path, prefix: str, size: float | None) -> None:
    rows = csv.DictReader((root / "published/omibench_main.csv").read_text("utf-8").splitlines())
    scores = {
        float(sizes[1]): float(row["total_gptscore"]) / 100
        for row in rows
        if row["model"].startswith(prefix) and (sizes := re.search(r"-(\d+)B", row["model"]))
    }
    assert len(scores) >= 4
    assert find_saturation(scores) == size
