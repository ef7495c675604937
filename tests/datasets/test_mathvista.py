"""MathVista: an object of problems by id beside pictures, or the hub's Parquet file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError, MissingInputError

PNG = b"\x89PNG\r\n\x1a\nany"
METADATA = {
    "split": "testmini", "language": "chinese", "source": "Own", "category": "math-targeted-vqa",
    "task": "geometry problem solving", "context": "geometry diagram", "grade": "high school",
    "skills": ["geometry reasoning", "arithmetic reasoning"],
}  # fmt: skip
FREE: dict[str, Any] = {
    "pid": "5", "question": "How long is the side?", "image": "images/5.jpg", "choices": None,
    "unit": "cm", "precision": 1.0, "answer": "2.5", "question_type": "free_form",
    "answer_type": "float", "metadata": METADATA,
}  # fmt: skip
CHOICE = FREE | {
    "pid": "6", "choices": ["red", "blue"], "unit": None, "precision": None, "answer": "blue",
    "question_type": "multi_choice", "answer_type": "text",
}  # fmt: skip


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "images").mkdir(parents=True)
    for row in rows:
        (folder / f"images/{row['pid']}.jpg").write_bytes(PNG)
    by_id = {row["pid"]: row for row in rows}
    (folder / "testmini.json").write_text(json.dumps(by_id), "utf-8")
    (folder / "annot_testmini.json").write_text("{}", "utf-8")
    return folder


def test_problems_with_their_details(tmp_path: Path, read: Read) -> None:
    questions, answers, _ = read("mathvista", write(tmp_path, FREE, CHOICE))
    free, choice = questions
    assert (free.id, free.question) == (
        "mathvista-5", "[IMAGE0]\nHow long is the side? (Unit: cm)",
    )  # fmt: skip
    assert (free.choices, free.language, free.images[0].file) == (None, "zh", "images/5.jpg")
    assert [option.text for option in choice.choices or []] == ["red", "blue"]
    assert [a.answer for a in answers] == [["2.5"], ["B"]]
    assert [a.answer_type for a in answers] == ["open", "mcq"]
    assert answers[0].topic == "geometry problem solving"
    assert answers[0].attributes == {
        "category": "math-targeted-vqa", "task": "geometry problem solving",
        "context": "geometry diagram", "grade": "high school", "source": "Own",
        "skills": ["geometry reasoning", "arithmetic reasoning"], "type": "float", "unit": "cm",
        "precision": "1",
    }  # fmt: skip


def test_the_layout_of_the_hub_brings_its_pictures(tmp_path: Path, read: Read) -> None:
    (tmp_path / "data").mkdir()
    row = FREE | {"decoded_image": {"bytes": PNG + b"5", "path": None}, "query": "..."}
    pl.DataFrame([row]).write_parquet(tmp_path / "data/testmini-00000-of-00001-72ab.parquet")
    (question,), (answer,), _ = read("mathvista", tmp_path)
    assert Path(question.images[0].file).read_bytes() == PNG + b"5"
    (fetched,), _, _ = read("mathvista", None, hub=str(tmp_path), revision="0" * 40)
    assert fetched == question
    assert answer.attributes["skills"] == ["geometry reasoning", "arithmetic reasoning"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": ""}, r"testmini\.json: 6: has no answer; those of the split test"),
        ({"answer": "green"}, "6: answer: 'green' is none of its choices"),
        ({"image": None}, "6: has neither `image` nor `decoded_image`"),
        ({"question_type": "essay"}, "6: question_type"),
    ],
)
def test_a_row_that_is_wrong_is_named(
    tmp_path: Path, read: Read, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        read("mathvista", write(tmp_path, CHOICE | change))


def test_another_split_is_not_taken_for_this_one(tmp_path: Path, read: Read) -> None:
    (tmp_path / "test.json").write_text("{}", "utf-8")
    with pytest.raises(MissingInputError, match=r"such as 'testmini\.json'"):
        read("mathvista", tmp_path)
