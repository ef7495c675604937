"""Cells that show examples or have pictures read first: who is asked, of what, how often."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import polars as pl
import pytest
from tests.stages.infer.conftest import Make

from omibench.errors import MissingInputError, ParamsError
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.problem import Example
from omibench.schemas.tables import ResponseRow, read_parquet, write_jsonl
from omibench.settings.tasks import load_questions
from omibench.stages.infer import infer_cell, list_requests

EXAMPLES = {"examples": {"k": 1, "images": "all"}, "prompt": "in-context"}
PERCEPTION = {
    "perception": "I+QM+DM",
    "prompt": "mathreal",
    "decoding": {"samples": 3, "temperature": 0.6},
}


@pytest.fixture
def asking(tmp_path: Path, study: Make) -> Study:
    """The study with two more settings, and an oracle that knows what the pictures say."""
    made = study(
        models={"sim": {"provider": "simulated", "oracle": str(tmp_path / "oracle.jsonl")}},
        settings={
            "shots": EXAMPLES,
            "read": PERCEPTION,
            "dg": {"perception": "I+QG+DG"},
            "plain": {},
        },
        infer={"models": ["sim"], "settings": ["shots", "read", "dg", "plain"]},
        freeze={"examples": {"set_aside": 1}},
    )
    rows = [json.loads(line) for line in (tmp_path / "oracle.jsonl").read_text().splitlines()]
    known = [{**row, "statement": f"Text of {row['id']}.", "captions": ["A", "B"]} for row in rows]
    (tmp_path / "oracle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in known))
    return made


def write_example(questions: Path) -> None:
    last = load_questions(questions)[-1]
    row = Example(take="sampled", question=last, answer=["1.5"], solution="Halve three.")
    write_jsonl(questions.parent / "examples.jsonl", [row])


def rows(questions: Path, out: Path, study: Study, setting: str) -> pl.DataFrame:
    infer_cell(questions, out, study, Cell("sim", setting))
    return read_parquet(out, ResponseRow)


def test_a_problem_that_is_set_aside_is_shown_and_not_asked(
    questions: Path, asking: Study, tmp_path: Path
) -> None:
    write_example(questions)
    frame = rows(questions, tmp_path / "out.parquet", asking, "shots")
    assert frame["id"].to_list() == ["p0", "p1"]
    for request in list_requests(questions, asking, Cell("sim", "shots")):
        assert "Halve three." in request.conversation.text
        assert len(request.conversation.images) == 4


def test_examples_must_be_there_and_strangers(questions: Path, asking: Study) -> None:
    with pytest.raises(
        MissingInputError, match=r"examples\.jsonl: no examples; set `freeze.examples`"
    ):
        list_requests(questions, asking, Cell("sim", "shots"))
    write_jsonl(questions.parent / "examples.jsonl", [])
    with pytest.raises(
        ParamsError, match=r"settings\.shots: p0: 1 examples are needed, but only 0"
    ):
        list_requests(questions, asking, Cell("sim", "shots"))


def test_a_reading_is_bought_once_for_all_samples(
    questions: Path, asking: Study, tmp_path: Path
) -> None:
    frame = rows(questions, tmp_path / "out.parquet", asking, "read")
    assert frame.height == 9
    assert frame["simulated"].all()
    steps = {tuple(keys) for keys in frame["steps"].to_list()}
    assert [len(keys) for keys in steps] == [2, 2, 2]
    lines = [
        json.loads(line)
        for segment in (tmp_path / "store").glob("*/*.jsonl")
        for line in segment.read_text().splitlines()
    ]
    assert len(lines) == 3 * (2 + 3), "two readings and three answers a problem"
    assert "Text of p1." in json.dumps(lines)
    text, figures = frame.filter(id="p1")["readings"][0].to_list()
    assert "Text of p1." in text
    assert figures
    assert text != figures
    assert frame["readings"].n_unique() == 3, "the samples of a problem follow one reading"
    plain = rows(questions, tmp_path / "plain.parquet", asking, "plain")
    assert plain["readings"].null_count() == plain.height
    assert "readings" not in pl.read_parquet_schema(tmp_path / "plain.parquet")


def test_a_benchmark_without_descriptions_is_refused(questions: Path, asking: Study) -> None:
    with pytest.raises(ParamsError, match=r"settings\.dg: perception: I\+QG\+DG: no picture of"):
        list_requests(questions, asking, Cell("sim", "dg"))


def test_some_without_description_are_told_of(
    questions: Path, asking: Study, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, *others = load_questions(questions)
    figures = [figure.model_copy(update={"caption": "A road."}) for figure in first.images]
    write_jsonl(questions, [first.model_copy(update={"images": figures}), *others])
    with caplog.at_level(logging.WARNING, "omibench"):
        rows(questions, tmp_path / "out.parquet", asking, "dg")
    assert "2 of 3 problems have no description of a figure" in caplog.text
