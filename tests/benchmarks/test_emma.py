"""EMMA from its published files: every problem once, golds apart from questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmarks.conftest import Read
from omibench.errors import FileFormatError, MissingInputError, ParamsError
from omibench.problem import Choice

ROW = {
    "pid": "Math_2", "subject": "Math", "type": "Multiple choice", "question": "<image_1> Which?",
    "options": ["left", "<image_2>"], "answer": "b",
}  # fmt: skip
OPEN = {
    **ROW,
    "pid": "Coding_1",
    "subject": "Coding",
    "type": "Open-ended",
    "options": [],
    "answer": " 7 ",
}


def write(path: Path, *rows: dict[str, Any]) -> None:
    schema = dict.fromkeys(ROW, pl.String) | {"options": pl.List(pl.String)}
    pl.DataFrame(rows, schema=schema).write_parquet(path)


def test_problems_of_all_files_once_and_in_order(tmp_path: Path, read: Read) -> None:
    write(tmp_path / "a.parquet", {**ROW, "pid": "Math_10"}, ROW)
    write(tmp_path / "b.parquet", ROW, OPEN)
    questions, answers, _ = read("emma", tmp_path)
    assert [q.id for q in questions] == [a.id for a in answers] == ["Coding_1", "Math_2", "Math_10"]
    assert [q.answer_type for q in questions] == ["open", "mcq", "mcq"]
    assert questions[1].choices == [
        Choice(label="A", text="left"),
        Choice(label="B", text="<image_2>"),
    ]
    assert questions[1].images == []
    assert [a.answer for a in answers] == [["7"], ["B"], ["B"]]
    assert [a.n_images for a in answers] == [1, 2, 2]
    assert [a.subject for a in answers] == ["coding", "mathematics", "mathematics"]


def test_a_repaired_option_is_no_disagreement(tmp_path: Path, read: Read) -> None:
    write(tmp_path / "a.parquet", ROW)
    write(tmp_path / "b.parquet", {**ROW, "options": ["on the left", "<image_2>"]})
    (question,), _, _ = read("emma", tmp_path)
    assert question.choices is not None
    assert question.choices[0].text == "left"


def test_two_files_that_disagree_are_refused(tmp_path: Path, read: Read) -> None:
    write(tmp_path / "a.parquet", ROW)
    write(tmp_path / "b.parquet", {**ROW, "answer": "A"})
    with pytest.raises(FileFormatError, match=r"b\.parquet: Math_2 differs"):
        read("emma", tmp_path)


def test_a_missing_column_is_named(tmp_path: Path, read: Read) -> None:
    pl.DataFrame({"pid": ["x"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(FileFormatError, match="lacks the column 'subject'"):
        read("emma", tmp_path)


def test_what_is_not_there_is_said(tmp_path: Path, read: Read) -> None:
    with pytest.raises(MissingInputError, match="no such folder"):
        read("emma", tmp_path / "none")
    with pytest.raises(MissingInputError, match=r"no \.parquet file"):
        read("emma", tmp_path)
    with pytest.raises(ParamsError, match="data: must name the folder"):
        read("emma", None)
    with pytest.raises(ParamsError, match="'papers' is not read from files"):
        read("papers", tmp_path)


def test_the_published_files_hold_emma_mini(shared_data: Path, read: Read) -> None:
    questions, answers, _ = read("emma", shared_data / "emma" / "dev")
    # The two files of the thinking model hold five problems that no other file has.
    assert len(questions) == len(answers) == 405
    subjects = [q.subject for q in questions]
    assert {s: subjects.count(s) for s in set(subjects)} == {
        "mathematics": 102, "physics": 103, "chemistry": 100, "coding": 100,
    }  # fmt: skip
    for answer in answers:
        labels = {choice.label for choice in answer.choices or []}
        assert answer.answer_type == "open" or set(answer.answer) <= labels
