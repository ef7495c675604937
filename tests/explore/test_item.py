"""One item, and the responses of chosen cells side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omibench.errors import ParamsError
from omibench.explore.item import CellItems, check_cells, list_outcomes
from omibench.explore.run import Run
from omibench.explore.selection import Study
from omibench.params.setting import Cell
from omibench.results.study_files import StudyFiles


@pytest.fixture
def run(explored: Study) -> Run:
    assert explored.run is not None
    return explored.run


def describe(run: Run, name: str, cell: Cell) -> Any:
    return CellItems(run, cell, [name]).describe(name, lambda _: None, lambda *_: None)


def test_every_cell_has_a_line(explored: Study, run: Run) -> None:
    name = explored.items.ids[0]
    lines = list_outcomes(run, name, run.rules[0])
    assert [(line["model"], line["setting"]) for line in lines] == list(run.cells)
    rows = run.verdicts.filter(id=name, rules=run.rules[0], model="sim-weak", setting="cot")
    line = next(x for x in lines if (x["model"], x["setting"]) == ("sim-weak", "cot"))
    assert line["verdict"] == rows["verdict"].mean()
    assert line["simulated"]


def test_responses_have_texts_and_every_verdict(explored: Study, run: Run) -> None:
    for cell in (Cell("sim-strong", "cot"), Cell("sim-weak", "direct")):
        column = describe(run, explored.items.ids[0], cell)
        assert (column["model"], column["setting"]) == cell
        (sample,) = column["samples"]
        assert isinstance(sample["text"], str)
        assert {v["rules"] for v in sample["verdicts"]} >= set(run.rules)
        assert all(v["word"] in ("right", "wrong") or not v["scored"] for v in sample["verdicts"])


def test_at_most_four_cells_stand_side_by_side(run: Run) -> None:
    check_cells(run, run.cells[:4])
    with pytest.raises(ParamsError, match="at most 4 side by side"):
        check_cells(run, run.cells[:5])
    with pytest.raises(ParamsError, match="nobody/cot is not in the run"):
        check_cells(run, [Cell("nobody", "cot")])


def test_a_cell_without_files_has_no_responses(explored: Study, run: Run) -> None:
    lonely = Run(StudyFiles(Path("nowhere")), "x", run.cells, run.responses, run.verdicts)
    assert describe(lonely, explored.items.ids[0], run.cells[0])["samples"] == []
