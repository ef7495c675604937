"""What the figures show: a row a model, or a row a cell where most models have few settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.stages.analyze.conftest import Folders

from omibench.results.load import Results, load_results
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
from omibench.stages.analyze.tables.accuracy import FailureCount, Score, scores


@pytest.fixture(scope="module")
def results(made: Folders) -> Results:
    return load_results(*made[:3], made.study)


@pytest.fixture(scope="module")
def rows(results: Results, made: Folders) -> list[Score]:
    return scores(results)


def drawn(results: Results, rows: list[Score]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The encoding of the chart of accuracies, and its rows."""
    chart = draw_accuracy(results, rows).to_dict()
    return chart["layer"][0]["encoding"], chart["datasets"][chart["data"]["name"]]


def test_crossed_cells_stand_in_a_row_of_their_model(results: Results, rows: list[Score]) -> None:
    found, _ = drawn(results, rows)
    assert found["y"]["field"] == "model"
    assert found["yOffset"]["field"] == "setting"


def test_few_of_many_cells_have_a_row_each(results: Results, rows: list[Score]) -> None:
    total = next(s for s in rows if s.rules == results.main_rules and s.subject == "total")
    pairs = [("sim-strong", f"s{n}") for n in range(6)] + [("sim-weak", "s1"), ("sim-middle", "s2")]
    few = [total._replace(cell=total.cell._replace(model=m, setting=s)) for m, s in pairs]
    settings = {s: results.study.settings["cot"] for _, s in pairs}
    study = results.study.model_copy(update={"settings": settings})
    found, values = drawn(replace(results, study=study), few)
    assert found["y"]["field"] == "row"
    assert "yOffset" not in found
    names = [row["row"] for row in values]
    assert len(set(names)) == 8
    shown = [name.partition("\u241f")[0] for name in names]
    assert [bool(name) for name in shown] == [True, *5 * [False], True, True]


def spread(results: Results, score: Score, settings: int, models: int) -> Any:
    """Results and scores of more cells, each a point better than the one before."""
    cells = [(f"sim-{m}", f"s{n}") for m in range(models) for n in range(settings)]
    scores = [
        score._replace(
            cell=score.cell._replace(model=model, setting=setting),
            acc=score.acc._replace(mean=i / len(cells)),
        )
        for i, (model, setting) in enumerate(cells)
    ]
    labels = {s: results.study.settings["cot"] for _, s in cells}
    blocks = {m: results.study.models["sim-weak"] for m, _ in cells}
    study = results.study.model_copy(update={"settings": labels, "models": blocks})
    return replace(results, study=study), scores


@pytest.mark.parametrize(("settings", "models"), [(9, 1), (4, 11)])
def test_many_settings_or_cells_are_a_map_of_all(
    results: Results, rows: list[Score], settings: int, models: int
) -> None:
    total = next(s for s in rows if s.rules == results.main_rules and s.subject == "total")
    many, scores = spread(results, total, settings, models)
    encoding, values = drawn(many, scores)
    assert "shape" not in encoding
    assert encoding["opacity"]["field"] == "strength"
    assert [row["share"] for row in values] == [100 * s.acc.mean for s in scores]


def test_failures_of_many_cells_are_a_map_of_their_sums(
    results: Results, rows: list[Score]
) -> None:
    total = next(s for s in rows if s.rules == results.main_rules and s.subject == "total")
    many, scores = spread(results, total, 9, 1)
    failures = [
        FailureCount(scores[0].cell, results.main_rules, outcome, 3, 12, simulated=True)
        for outcome in ("truncated", "refused")
    ]
    chart = draw_failures(many, failures, scores).to_dict()
    values = chart["datasets"][chart["data"]["name"]]
    assert [row["share"] for row in values] == [50.0, *8 * [0.0]]


def test_scorers_are_shown_where_they_differ_most(results: Results, rows: list[Score]) -> None:
    total = next(s for s in rows if s.rules == results.main_rules and s.subject == "total")
    many, scores = spread(results, total, 1, MOST_ROWS + 2)
    other = [s._replace(rules="other", acc=s.acc._replace(mean=0.0)) for s in scores]
    chart = draw_rules(many, [*scores, *other]).to_dict()
    assert chart["title"]["subtitle"] == ["the 40 of 42 cells of which they differ most"]
    values = chart["datasets"][chart["data"]["name"]]
    assert {row["acc"] for row in values} == {0.0, *(100 * s.acc.mean for s in scores[2:])}


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
