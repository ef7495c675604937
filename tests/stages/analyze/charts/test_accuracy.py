"""What the figures show: a row a model, or a row a cell where most models have few settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.stages.analyze.conftest import Folders

from omibench.results.load import Results, load_results
from omibench.stages.analyze.charts.accuracy import draw_accuracy
from omibench.stages.analyze.charts.marks import (
    MOST_COLUMNS,
    MOST_ROWS,
    WIDTH,
    describe_selection,
    encode_colour,
    select_leading,
)
from omibench.stages.analyze.tables.accuracy import Score, scores


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


def test_a_figure_says_of_how_many_cells_it_shows_the_best(rows: list[Score]) -> None:
    assert describe_selection(rows[:1] * MOST_ROWS) == ""
    more = rows[:1] * (MOST_ROWS + 2)
    assert len(select_leading(more)) == MOST_ROWS
    assert describe_selection(more) == "the 40 of 42 cells with the highest ACC"


@pytest.mark.parametrize("letters", [4, 30, 60, 400])
def test_a_legend_is_no_wider_than_its_figure(letters: int) -> None:
    columns = encode_colour("f", ["x" * letters, "y"], "F").to_dict()["legend"]["columns"]
    assert 1 <= columns <= MOST_COLUMNS
    assert columns == 1 or columns * letters * 6 < WIDTH
