"""MATH-Vision: JSON lines beside pictures, or the hub's Parquet files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError, MissingInputError

PNG = b"\x89PNG\r\n\x1a\nany"
OPEN: dict[str, Any] = {
    "id": "4", "question": "How many dots?\n<image1>\nCount.", "options": [], "answer": "6",
    "solution": None, "level": 1, "subject": "counting", "image": "images/4.jpg",
}  # fmt: skip
DRAWN = OPEN | {
    "id": "5", "question": "Which piece fits <image1>?\n<image2>", "options": ["A", "B", "C"],
    "answer": "C", "image": "images/5.jpg", "solution": "Turn it.",
}  # fmt: skip
WORDS = OPEN | {"id": "6", "options": ["red", "blue"], "answer": "A", "image": "images/4.jpg"}


def write(folder: Path, *rows: dict[str, Any], split: str = "test") -> Path:
    (folder / "images").mkdir(parents=True)
    (folder / "data").mkdir()
    for number in (4, 5):
        (folder / f"images/{number}.jpg").write_bytes(PNG)
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / f"data/{split}.jsonl").write_text(lines, "utf-8")
    return folder


def test_a_picture_stands_at_its_only_mark(tmp_path: Path, read: Read) -> None:
    questions, answers, _ = read("math-vision", write(tmp_path, OPEN, DRAWN, WORDS))
    assert questions[0].question == "How many dots?\n[IMAGE0]\nCount."
    assert questions[1].question == "[IMAGE0]\nWhich piece fits <image1>?\n<image2>"
    assert [[c.text for c in q.choices or []] for q in questions] == [
        [], ["", "", ""], ["red", "blue"],
    ]  # fmt: skip
    assert [q.images[0].file for q in questions] == ["images/4.jpg", "images/5.jpg", "images/4.jpg"]
    assert [a.answer for a in answers] == [["6"], ["C"], ["A"]]
    assert [a.answer_type for a in answers] == ["open", "mcq", "mcq"]
    assert (answers[1].solution, answers[1].topic) == ("Turn it.", "counting")
    assert answers[0].attributes == {"category": "counting", "level": "1"}


def test_each_split_of_the_hub_is_a_benchmark(tmp_path: Path, read: Read) -> None:
    (tmp_path / "data").mkdir()
    for split in ("test", "testmini"):
        row = DRAWN | {"id": split, "decoded_image": {"bytes": PNG + b"5", "path": None}}
        pl.DataFrame([row]).write_parquet(tmp_path / f"data/{split}-00000-of-00001-35ab.parquet")
    (whole,), _, _ = read("math-vision", tmp_path)
    (mini,), _, _ = read("math-vision-mini", tmp_path)
    assert (whole.id, mini.id) == ("math-vision-test", "math-vision-testmini")
    assert Path(mini.images[0].file).read_bytes() == PNG + b"5"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": "E"}, r"test\.jsonl: 5: answer: 'E' is none of the choices A to C"),
        ({"image": None}, "5: has neither `image` nor `decoded_image`"),
        ({"image": "../../secret.png"}, "5: .*leads out of"),
        ({"options": "A, B"}, "5: options"),
        ({"question": ""}, "5: question"),
    ],
)
def test_a_row_that_is_wrong_is_named(
    tmp_path: Path, read: Read, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        read("math-vision", write(tmp_path, DRAWN | change))


def test_another_split_is_not_taken_for_this_one(tmp_path: Path, read: Read) -> None:
    with pytest.raises(MissingInputError, match=r"such as 'data/test\.jsonl'"):
        read("math-vision", write(tmp_path, OPEN, split="testmini"))
