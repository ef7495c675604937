"""OlympiadBench: JSON lists beside pictures, or the hub's Parquet files with theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError, MissingInputError

PNG = b"\x89PNG\r\n\x1a\nany"
PHYSICS: dict[str, Any] = {
    "id": 12, "subfield": "Optics", "context": "A lens stands before a screen <img_7>.",
    "question": "Where is the image <img_8> of the lamp <img_7>?",
    "solution": ["By the lens equation.", "Or by drawing."],
    "final_answer": ["0.30", "30 cm"], "is_multiple_answer": False, "unit": "m",
    "answer_type": "Numerical", "error": "1e-2",
}  # fmt: skip
MATHS: dict[str, Any] = {
    "id": 12, "subfield": "Algebra", "context": "unused", "question": "Solve $x^2 = 4$.",
    "solution": None, "final_answer": ["$-2,2$"], "is_multiple_answer": True, "unit": None,
    "answer_type": "Numerical", "error": None,
}  # fmt: skip


def write(folder: Path, name: str, *rows: dict[str, Any]) -> None:
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / f"data/{name}.json").write_text(json.dumps(rows), "utf-8")
    (folder / "images").mkdir(exist_ok=True)
    for number in (7, 8):
        (folder / f"images/img_{number}.jpg").write_bytes(PNG + bytes([number]))


def test_pictures_stand_where_the_text_marks_them(tmp_path: Path, read: Read) -> None:
    write(tmp_path, "OE_MM_physics_zh_CEE", PHYSICS)
    (question,), (answer,), _ = read("olympiadbench", tmp_path)
    assert question.id == answer.id == "OE_MM_physics_zh_CEE-12"
    assert question.question == (
        "A lens stands before a screen [IMAGE0].\nWhere is the image [IMAGE1] of the lamp [IMAGE0]?"
    )
    assert [figure.file for figure in question.images] == ["images/img_7.jpg", "images/img_8.jpg"]
    assert (question.subject, question.language, answer.topic) == ("physics", "zh", "Optics")
    assert answer.answer == ["0.30"], "the second entry is another way to write the first"
    assert answer.solution == "By the lens equation.\n\nOr by drawing."
    assert answer.attributes == {
        "subfield": "Optics", "type": "Numerical", "level": "college entrance exam",
        "modality": "multimodal", "language": "zh", "unit": "m", "tolerance": "1e-2",
    }  # fmt: skip


def test_several_answers_are_parts(tmp_path: Path, read: Read) -> None:
    write(tmp_path, "OE_TO_maths_en_COMP", MATHS)
    (question,), (answer,), _ = read("olympiadbench", tmp_path)
    assert answer.answer == ["-2", "2"]
    assert (question.question, question.images) == ("Solve $x^2 = 4$.", [])
    assert answer.attributes["level"] == "competition"


def test_problems_of_one_context_share_a_group(tmp_path: Path, read: Read) -> None:
    write(tmp_path, "OE_MM_physics_en_COMP", PHYSICS, PHYSICS | {"id": 13}, MATHS | {"id": 14})
    questions, answers, _ = read("olympiadbench", tmp_path)
    first = "OE_MM_physics_en_COMP-12"
    assert [q.group for q in questions] == [first, first, "OE_MM_physics_en_COMP-14"]
    assert [a.group for a in answers] == [q.group for q in questions]


def test_the_layout_of_the_hub_brings_its_pictures(tmp_path: Path, read: Read) -> None:
    row = MATHS | {
        "question": "Compare <image_2> with <image_1>.",
        "image_1": {"bytes": PNG + b"1", "path": None},
        "image_2": {"bytes": PNG + b"2", "path": None},
    }
    folder = tmp_path / "OlympiadBench/OE_MM_maths_en_COMP"
    folder.mkdir(parents=True)
    pl.DataFrame([row]).write_parquet(folder / "OE_MM_maths_en_COMP.parquet")
    (question,), _, _ = read("olympiadbench", tmp_path)
    (fetched,), _, _ = read("olympiadbench", None, hub=str(tmp_path), revision="0" * 40)
    assert fetched == question
    assert question.question == "Compare [IMAGE1] with [IMAGE0]."
    assert [Path(figure.file).read_bytes()[-1:] for figure in question.images] == [b"1", b"2"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"final_answer": []}, r"data/OE_MM_maths_zh_COMP\.json: 12: final_answer"),
        ({"question": ""}, "12: question"),
        ({"id": None, "question": None}, "item 1: question"),
    ],
)
def test_a_row_that_is_wrong_is_named(
    tmp_path: Path, read: Read, change: dict[str, Any], message: str
) -> None:
    write(tmp_path, "OE_MM_maths_zh_COMP", MATHS | change)
    with pytest.raises(FileFormatError, match=message):
        read("olympiadbench", tmp_path)


def test_theorem_proving_is_left_out(tmp_path: Path, read: Read) -> None:
    write(tmp_path, "TP_MM_maths_en_COMP", MATHS)
    with pytest.raises(MissingInputError, match=r"such as 'OE_MM_maths_en_COMP\.json'"):
        read("olympiadbench", tmp_path)
