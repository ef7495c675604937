"""MMMU: the validation split, one folder a discipline, with choices or open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError, MissingInputError

PNG = b"\x89PNG\r\n\x1a\nany"


def picture(n: int) -> dict[str, Any]:
    return {"bytes": PNG + bytes([n]), "path": f"{n}.png"}


CHOICE: dict[str, Any] = {
    "id": "validation_Physics_1", "question": "Compare <image 2> with <image 1>.",
    "options": "['left', '<image 2>']", "answer": "b", "question_type": "multiple-choice",
    "explanation": "?", "topic_difficulty": "Hard", "subfield": "Optics",
    "img_type": "['Diagrams']", "image_1": picture(1), "image_2": picture(2),
}  # fmt: skip
OPEN = CHOICE | {
    "id": "validation_Clinical_Medicine_12", "options": "[]", "answer": "['4.2', '4.20']",
    "question_type": "open", "explanation": "See <image 1>.", "subfield": "Care",
}  # fmt: skip


def write(folder: Path, name: str, *rows: dict[str, Any]) -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).write_parquet(folder / name)
    return folder


def test_each_discipline_of_the_validation_split(tmp_path: Path, read: Read) -> None:
    write(tmp_path, "Physics/validation-00000-of-00001.parquet", CHOICE)
    write(tmp_path, "Physics/dev-00000-of-00001.parquet", CHOICE)
    write(tmp_path, "Clinical_Medicine/validation-00000-of-00001.parquet", OPEN)
    dataset = read("mmmu", tmp_path)
    opened, choice = dataset.questions
    assert choice.question == "Compare [IMAGE1] with [IMAGE0]."
    assert [c.text for c in choice.choices or []] == ["left", "[IMAGE1]"]
    assert (choice.subject, opened.subject, opened.choices) == ("physics", "other", None)
    assert [a.answer for a in dataset.answers] == [["4.2"], ["B"]]
    assert [a.solution for a in dataset.answers] == ["See <image 1>.", None]
    assert dataset.answers[0].attributes == {
        "category": "Clinical_Medicine", "subfield": "Care", "difficulty": "Hard",
        "pictures": ["Diagrams"],
    }  # fmt: skip
    fetched = read("mmmu", None, hub=str(tmp_path), revision="0" * 40)
    assert [q.id for q in fetched.questions] == [q.id for q in dataset.questions]


@pytest.mark.parametrize("answer", ["[0, 1)", "[not a list", "7"])
def test_an_open_answer_that_is_no_list_stays(tmp_path: Path, read: Read, answer: str) -> None:
    write(tmp_path, "validation.parquet", OPEN | {"answer": answer})
    assert read("mmmu", tmp_path).answers[0].answer == [answer]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": "C"}, "validation_Physics_1: answer: 'C' is none of the choices A to B"),
        ({"answer": "?"}, "has no answer; those of the split test are not published"),
        ({"options": "['one']"}, "options: has 1; give at least 2"),
        ({"id": "Physics"}, "Physics: id"),
        ({"question_type": "essay"}, "question_type"),
    ],
)
def test_a_row_that_is_wrong_is_named(
    tmp_path: Path, read: Read, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        read("mmmu", write(tmp_path, "validation.parquet", CHOICE | change))


def test_another_split_is_not_taken_for_this_one(tmp_path: Path, read: Read) -> None:
    with pytest.raises(MissingInputError, match="such as 'Accounting/validation"):
        read("mmmu", write(tmp_path, "Physics/test-00000-of-00001.parquet", CHOICE))
