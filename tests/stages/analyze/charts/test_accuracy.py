"""What the figures show: a row a model, or a row a cell where most models have few settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders, analysis_of

from omibench.results.load import Results, load_results
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.charts.accuracy import draw_accuracy
from omibench.stages.analyze.charts.failures import draw_failures
from omibench.stages.analyze.charts.marks import (
    MOST_COLUMNS,
    MOST_ROWS,
    WIDTH,
    encode_colour,
    model_name,
)
from omibench.stages.analyze.charts.rules import draw_rules


@pytest.fixture(scope="module")
def results(made: Folders) -> Results:
    return load_results(*made[:3], made.study)


@pytest.fixture(scope="module")
def total(results: Results) -> dict[str, Any]:
    """The first total under the main scorer."""
    scores = analysis_of(results).scores
    return scores.filter(rules=results.main_rules, subject="total").row(0, named=True)


def drawn(analysis: Analysis) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The encoding of the chart of accuracies, and its rows."""
    chart = draw_accuracy(analysis).to_dict()
    return chart["layer"][0]["encoding"], chart["datasets"][chart["data"]["name"]]


def make_cells(
    results: Results, total: dict[str, Any], cells: list[tuple[str, str]]
) -> tuple[Results, list[dict[str, Any]]]:
    """Results and totals of other cells, each a point better than the one before."""
    rows = [
        {**total, "model": model, "setting": setting, "estimate": i / len(cells)}
        for i, (model, setting) in enumerate(cells)
    ]
    labels = {setting: results.study.settings["cot"] for _, setting in cells}
    blocks = {model: results.study.models["sim-weak"] for model, _ in cells}
    study = results.study.model_copy(update={"settings": labels, "models": blocks})
    return replace(results, study=study), rows


def cross(settings: int, models: int) -> list[tuple[str, str]]:
    return [(f"sim-{m}", f"s{n}") for m in range(models) for n in range(settings)]


def test_crossed_cells_stand_in_a_row_of_their_model(results: Results) -> None:
    found, _ = drawn(analysis_of(results))
    assert found["y"]["field"] == "model"
    assert found["yOffset"]["field"] == "setting"


def test_few_of_many_cells_have_a_row_each(results: Results, total: dict[str, Any]) -> None:
    pairs = [("sim-strong", f"s{n}") for n in range(6)] + [("sim-weak", "s1"), ("sim-middle", "s2")]
    few, rows = make_cells(results, total, pairs)
    found, values = drawn(analysis_of(few, scores=pl.DataFrame(rows)))
    assert found["y"]["field"] == "row"
    assert "yOffset" not in found
    names = [row["row"] for row in values]
    assert len(set(names)) == 8
    shown = [name.partition("\u241f")[0] for name in names]
    assert [bool(name) for name in shown] == [True, *5 * [False], True, True]


@pytest.mark.parametrize(("settings", "models"), [(9, 1), (4, 11)])
def test_many_settings_or_cells_are_a_map_of_all(
    results: Results, total: dict[str, Any], settings: int, models: int
) -> None:
    many, rows = make_cells(results, total, cross(settings, models))
    encoding, values = drawn(analysis_of(many, scores=pl.DataFrame(rows)))
    assert "shape" not in encoding
    assert encoding["opacity"]["field"] == "strength"
    assert [row["share"] for row in values] == [100 * row["estimate"] for row in rows]


def test_failures_of_many_cells_are_a_map_of_their_sums(
    results: Results, total: dict[str, Any]
) -> None:
    many, rows = make_cells(results, total, cross(9, 1))
    outcomes = pl.DataFrame(
        [{**rows[0], "value": name, "count": 3, "n": 12} for name in ("truncated", "refused")]
    )
    analysis = analysis_of(many, scores=pl.DataFrame(rows), outcomes=outcomes)
    chart = draw_failures(analysis).to_dict()
    values = chart["datasets"][chart["data"]["name"]]
    assert [row["share"] for row in values] == [50.0, *8 * [0.0]]


def test_scorers_are_shown_where_they_differ_most(results: Results, total: dict[str, Any]) -> None:
    many, rows = make_cells(results, total, cross(1, MOST_ROWS + 2))
    other = [{**row, "rules": "other", "estimate": 0.0} for row in rows]
    chart = draw_rules(analysis_of(many, scores=pl.DataFrame([*rows, *other]))).to_dict()
    assert chart["title"]["subtitle"] == ["the 40 of 42 cells of which they differ most"]
    values = chart["datasets"][chart["data"]["name"]]
    assert {row["acc"] for row in values} == {0.0, *(100 * row["estimate"] for row in rows[2:])}


def test_rows_are_marked_only_beside_others_that_are_not_simulated(results: Results) -> None:
    assert model_name(results, "sim-strong") == "Strong"
    marks = dict(results.simulated_cells)
    mixed = replace(results)
    mixed.__dict__["simulated_cells"] = {c: c.model == "sim-strong" for c in marks}
    assert model_name(mixed, "sim-strong") == "Strong · SIMULATED"
    assert model_name(mixed, "sim-weak") == "Weak"


@pytest.mark.parametrize("letters", [4, 30, 60, 400])
def test_a_legend_is_no_wider_than_its_figure(letters: int) -> None:
    columns = encode_colour("f", ["x" * letters, "y"], "F").to_dict()["legend"]["columns"]
    assert 1 <= columns <= MOST_COLUMNS
    assert columns == 1 or columns * letters * 6 < WIDTH
