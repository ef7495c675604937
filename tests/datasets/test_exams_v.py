"""EXAMS-V: a picture of question and choices, with a letter as its key; two releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError, MissingInputError

PNG = b"\x89PNG\r\n\x1a\nany"
FIRST: dict[str, Any] = {
    "image": {"bytes": PNG, "path": None}, "sample_id": "aa-1", "subject": "Physics",
    "type": "image_text", "grade": "12", "subject_grouped": "Natural Science",
    "language": "Croation", "answer_key": "B",
}  # fmt: skip
SECOND: dict[str, Any] = {
    "image": {"bytes": PNG, "path": None}, "sample_id": "bb-2", "subject": "Islamic Studies",
    "type": "text", "grade": None, "language": "Arabic", "answer_key": " (c). ",
    "chemical_structure": 0, "table": 1, "figure": 0, "graph": 1,
}  # fmt: skip


def write(folder: Path, *rows: dict[str, Any], split: str = "test") -> Path:
    (folder / "data").mkdir()
    for number, row in enumerate(rows):
        path = folder / f"data/{split}-0000{number}-of-0000{len(rows)}.parquet"
        pl.DataFrame([row]).write_parquet(path)
    return folder


def test_both_releases(tmp_path: Path, read: Read) -> None:
    questions, answers, _ = read("exams-v", write(tmp_path, FIRST, SECOND))
    assert [(q.id, q.question, q.choices, q.subject, q.language) for q in questions] == [
        ("exams-v-aa-1", "[IMAGE0]", None, "physics", "hr"),
        ("exams-v-bb-2", "[IMAGE0]", None, "other", "ar"),
    ]
    assert [(a.answer, a.answer_type, a.topic) for a in answers] == [
        (["B"], "mcq", "Physics"), (["C"], "mcq", "Islamic Studies"),
    ]  # fmt: skip
    assert answers[0].attributes == {
        "category": "Physics", "area": "Natural Science", "grade": "12", "language": "hr",
        "type": "image_text",
    }  # fmt: skip
    assert answers[1].attributes["pictures"] == ["table", "graph"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer_key": "AB"}, "aa-1: answer_key: 'AB' is not a letter"),
        ({"answer_key": None}, "aa-1: answer_key: '' is not a letter"),
        ({"language": "Latin"}, "aa-1: language: 'Latin' is none of arabic"),
        ({"image": {"bytes": b"text", "path": "1.png"}}, r"aa-1: picture '1\.png' in a row"),
        ({"sample_id": ""}, "item 1: sample_id"),
    ],
)
def test_a_row_that_is_wrong_is_named(
    tmp_path: Path, read: Read, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        read("exams-v", write(tmp_path, FIRST | change))


def test_another_split_is_not_taken_for_this_one(tmp_path: Path, read: Read) -> None:
    with pytest.raises(MissingInputError, match="such as 'data/test-00000"):
        read("exams-v", write(tmp_path, FIRST, split="train"))
