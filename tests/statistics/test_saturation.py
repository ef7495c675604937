"""Where a curve over sizes of models ends to rise."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from omibench.statistics.saturation import find_saturation, resample_saturation


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
    ],
)
def test_the_smallest_size_that_no_larger_one_surpasses(
    scores: dict[float, float], size: float | None
) -> None:
    assert find_saturation(scores) == size


def test_a_gain_of_exactly_half_a_point_is_a_gain() -> None:
    assert find_saturation({1: 0.1, 2: 0.105}) is None
    assert find_saturation({1: 0.1, 2: 0.1049}) == 1


def test_another_gain_may_be_asked_of_larger_models() -> None:
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
