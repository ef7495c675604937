"""One item, and the responses of chosen cells side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import MissingInputError, ParamsError
from omibench.explore.item import describe_item, describe_responses, list_outcomes
from omibench.explore.run import Run
from omibench.explore.selection import Study
from omibench.params.cell import Cell
from omibench.results.study_files import StudyFiles


@pytest.fixture
def run(explored: Study) -> Run:
    assert explored.run is not None
    return explored.run


def test_an_item_has_all_that_its_reader_sees(explored: Study) -> None:
    name = next(i for i, q in explored.items.questions.items() if q.choices)
    item = describe_item(explored.items, name)
    question, answer = explored.items.questions[name], explored.items.answers[name]
    assert item["question"] == question.question
    assert item["gold"] == answer.answer
    assert [c["label"] for c in item["choices"]] == [c.label for c in question.choices or []]
    assert [p["sha256"] for p in item["pictures"]] == [f.sha256 for f in question.images]
    assert item["facts"]["subject"] == question.subject


def test_an_unknown_item_is_one_line(explored: Study) -> None:
    with pytest.raises(MissingInputError, match="item 'nothing' not found"):
        describe_item(explored.items, "nothing")


def test_every_cell_has_a_line(explored: Study, run: Run) -> None:
    name = explored.items.ids[0]
    lines = list_outcomes(run, name, run.rules[0])
    assert [(line["model"], line["setting"]) for line in lines] == list(run.cells)
    rows = run.verdicts.filter(id=name, rules=run.rules[0], model="sim-weak", setting="cot")
    line = next(x for x in lines if (x["model"], x["setting"]) == ("sim-weak", "cot"))
    assert line["verdict"] == rows["verdict"].mean()
    assert line["simulated"]


def test_responses_have_texts_and_every_verdict(explored: Study, run: Run) -> None:
    name = explored.items.ids[0]
    cells = [Cell("sim-strong", "cot"), Cell("sim-weak", "direct")]
    columns = describe_responses(run, name, cells)
    assert [(c["model"], c["setting"]) for c in columns] == cells
    for column in columns:
        (sample,) = column["samples"]
        assert isinstance(sample["text"], str)
        assert {v["rules"] for v in sample["verdicts"]} >= set(run.rules)
        assert all(v["word"] in ("right", "wrong") or not v["scored"] for v in sample["verdicts"])


def test_at_most_four_cells_stand_side_by_side(explored: Study, run: Run) -> None:
    name = explored.items.ids[0]
    with pytest.raises(ParamsError, match="at most 4 side by side"):
        describe_responses(run, name, run.cells[:5])
    with pytest.raises(ParamsError, match="nobody/cot is not in the run"):
        describe_responses(run, name, [Cell("nobody", "cot")])


def test_a_cell_that_is_not_scored_yet_has_responses_alone(explored: Study, run: Run) -> None:
    lonely = Run(StudyFiles(Path("nowhere")), "x", run.cells, run.responses, run.verdicts)
    columns = describe_responses(lonely, explored.items.ids[0], run.cells[:1])
    assert columns[0]["samples"] == []
