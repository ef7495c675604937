"""Image paths follow the file that names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.schemas.images import rebase_images
from omibench.schemas.problem import Figure, Question


@pytest.mark.parametrize(
    ("old", "new", "file", "expected"),
    [
        ("r/ocr", "r/filter", "images/a.png", "../ocr/images/a.png"),
        ("r/filter", "r/rationale", "../ocr/images/a.png", "../ocr/images/a.png"),
        ("r/ocr", "r/ocr", "images/a.png", "images/a.png"),
        ("r", "elsewhere/deep/er", "a b.png", "../../../r/a b.png"),
    ],
)
def test_the_same_file_is_meant(
    tmp_path: Path, old: str, new: str, file: str, expected: str
) -> None:
    question = Question(id="p-1", question="[IMAGE0]", images=[Figure(file=file, sha256="0" * 64)])
    moved = rebase_images(question, tmp_path / old, tmp_path / new)
    assert moved.images[0].file == expected
    there = (tmp_path / new / moved.images[0].file).resolve()
    assert there == (tmp_path / old / file).resolve()
    assert moved.model_copy(update={"images": question.images}) == question
