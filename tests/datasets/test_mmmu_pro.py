"""MMMU-Pro: one benchmark a configuration, options as a list or as its text."""

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


ROW: dict[str, Any] = {
    "id": "test_Physics_1", "question": "Compare <image 2> with <image 1>; see <image 7>.",
    "options": "['it\\'s \"left\"', '<image 2>', 'none']", "answer": "c", "subject": "Physics",
    "explanation": "?", "topic_difficulty": "Hard", "img_type": "['Diagrams', 'Plots']",
    "image_1": picture(1), "image_2": picture(2),
}  # fmt: skip
FOLDERS = {
    "mmmu-pro": "standard (10 options)",
    "mmmu-pro-4": "standard (4 options)",
    "mmmu-pro-vision": "vision",
}


def write(folder: Path, configuration: str, row: dict[str, Any]) -> None:
    (folder / configuration).mkdir()
    pl.DataFrame([row]).write_parquet(folder / configuration / "test-00000-of-00001.parquet")


@pytest.mark.parametrize("name", ["mmmu-pro", "mmmu-pro-4"])
def test_pictures_stand_where_question_and_choices_mark_them(
    tmp_path: Path, read: Read, name: str
) -> None:
    write(tmp_path, FOLDERS[name], ROW)
    (question,), (answer,), _ = read(name, tmp_path)
    assert question.question == "Compare [IMAGE1] with [IMAGE0]; see <image 7>."
    assert [Path(figure.file).read_bytes()[-1] for figure in question.images] == [1, 2]
    assert [c.text for c in question.choices or []] == ['it\'s "left"', "[IMAGE1]", "none"]
    assert (answer.answer, answer.subject, answer.topic) == (["C"], "physics", "Physics")
    assert (answer.solution, answer.n_images) == (None, 2)
    assert answer.attributes == {
        "category": "Physics", "difficulty": "Hard", "pictures": ["Diagrams", "Plots"]
    }  # fmt: skip


@pytest.mark.parametrize("name", [*FOLDERS])
def test_the_hub_gives_each_configuration(tmp_path: Path, read: Read, name: str) -> None:
    for configuration, folder in FOLDERS.items():
        write(tmp_path, folder, ROW | {"id": configuration, "image": picture(9)})
    (question,), _, _ = read(name, None, hub=str(tmp_path), revision="0" * 40)
    assert question.id == read(name, tmp_path).questions[0].id == name


def test_a_screenshot_holds_question_and_choices(tmp_path: Path, read: Read) -> None:
    row = {"id": "a", "options": ROW["options"], "answer": "B", "subject": "Art"}
    write(tmp_path, "vision", row | {"image": picture(9)})
    (question,), (answer,), _ = read("mmmu-pro-vision", tmp_path)
    assert (question.question, question.subject) == ("[IMAGE0]", "other")
    assert [(c.label, c.text) for c in question.choices or []] == [("A", ""), ("B", ""), ("C", "")]
    assert (answer.answer, answer.topic) == (["B"], "Art")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": "D"}, r"test_Physics_1: answer: 'D' is none of the choices A to C"),
        (
            {"options": "__import__('os').getcwd()"},
            "test_Physics_1: options: .*is neither a list nor",
        ),
        ({"options": "[" * 5000}, "options: .*is neither a list nor"),
        ({"options": f"['{'x' * 20_000}', 'y']"}, "options: .*at most 20000 are read"),
        ({"options": "['only']"}, "options"),
        ({"question": " "}, "has no question"),
    ],
)
def test_a_row_that_is_wrong_is_named(
    tmp_path: Path, read: Read, change: dict[str, Any], message: str
) -> None:
    write(tmp_path, "standard (10 options)", ROW | change)
    with pytest.raises(FileFormatError, match=message):
        read("mmmu-pro", tmp_path)


def test_a_screenshot_that_is_missing_is_named(tmp_path: Path, read: Read) -> None:
    write(tmp_path, "vision", ROW)
    with pytest.raises(FileFormatError, match="has no screenshot in the column `image`"):
        read("mmmu-pro-vision", tmp_path)


def test_a_configuration_that_is_missing_is_named(tmp_path: Path, read: Read) -> None:
    write(tmp_path, "vision", ROW)
    with pytest.raises(MissingInputError, match=r"standard \(10 options\)/test"):
        read("mmmu-pro", tmp_path)
