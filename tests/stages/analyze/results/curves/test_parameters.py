"""Accuracy against the size of models, and saturation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.stages.analyze.results.curves.made import (
    SIMULATED,
    Draw,
    make_analysis,
    make_answers,
)

PROBLEMS = 40
RIGHT = {"s": 10, "m": 20, "l": 30, "xl": 30}


def make_model(size: float, active: float | None = None, **more: Any) -> dict[str, Any]:
    sizes = {"parameters_b": size, "active_parameters_b": active}
    return {**SIMULATED, **sizes, "family": "F", **more}


MODELS = {
    "s": make_model(2),
    "m": make_model(8),
    "l": make_model(30, 3),
    "xl": make_model(235, 22),
    "tuned": make_model(8, base="m"),
    "alone": {**SIMULATED, "parameters_b": 5},
}


def make_draws(right: dict[str, int], setting: str = "cot") -> list[Draw]:
    return [
        Draw(model, setting, f"p{i}", float(i < count), judged=float(i < count // 2))
        for model, count in right.items()
        for i in range(PROBLEMS)
    ]


def make_study(models: dict[str, Any]) -> dict[str, Any]:
    infer = {"models": [*models], "settings": ["cot"]}
    return {"settings": {"cot": {}}, "infer": infer, "models": models}


def test_a_family_is_one_curve_without_its_fine_tuned_models(tmp_path: Path) -> None:
    draws = make_draws(RIGHT | {"tuned": 40, "alone": 0})
    table = make_analysis(tmp_path, make_study(MODELS), make_answers(PROBLEMS), draws).table(
        "accuracy-by-parameters"
    )
    assert table is not None
    rows = table.filter(rules="robust")
    assert rows["model"].to_list() == ["s", "m", "l", "xl"]
    assert rows["parameters_b"].to_list() == [2, 8, 30, 235]
    assert rows["active_parameters_b"].to_list() == [2, 8, 3, 22]
    assert rows["estimate"].to_list() == [0.25, 0.5, 0.75, 0.75]
    assert set(table["metric"]) == {"accuracy", "gptscore"}


def test_the_saturation_point_is_by_total_and_by_active_parameters(tmp_path: Path) -> None:
    analysis = make_analysis(
        tmp_path,
        make_study({n: MODELS[n] for n in RIGHT}),
        make_answers(PROBLEMS),
        make_draws(RIGHT),
    )
    table = analysis.table("saturation")
    assert table is not None
    points = {
        (r["rules"], r["parameters"]): r
        for r in table.filter(metric="saturation").iter_rows(named=True)
    }
    total, active = points["robust", "total"], points["robust", "active"]
    assert (total["estimate"], total["score"], total["models"]) == (30, 0.75, 4)
    assert (active["estimate"], active["best"], active["n"]) == (3, 0.75, PROBLEMS)
    assert total["stability"] > 0.95
    (slope,) = table.filter(metric="slope", rules="robust", parameters="total").to_dicts()
    assert slope["low"] < slope["estimate"] < slope["high"]
    assert 0 < slope["r_squared"] < 1


def test_a_curve_that_still_rises_has_no_saturation_point(tmp_path: Path) -> None:
    right = {"s": 5, "m": 15, "l": 25, "xl": 39}
    analysis = make_analysis(
        tmp_path,
        make_study({n: MODELS[n] for n in right}),
        make_answers(PROBLEMS),
        make_draws(right),
    )
    table = analysis.table("saturation")
    assert table is not None
    (row,) = table.filter(metric="saturation", rules="robust", parameters="total").to_dicts()
    assert row["estimate"] is None
    assert row["stability"] > 0.95


@pytest.mark.parametrize("names", [["s", "m"], ["s", "alone", "tuned"]])
def test_fewer_than_three_sizes_are_no_curve(tmp_path: Path, names: list[str]) -> None:
    models = MODELS if "tuned" in names else {n: MODELS[n] for n in names}
    draws = make_draws(dict.fromkeys(names, 10))
    analysis = make_analysis(tmp_path, make_study(models), make_answers(PROBLEMS), draws)
    assert analysis.table("accuracy-by-parameters") is None
    assert analysis.table("saturation") is None
