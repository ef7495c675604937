"""MV-MATH: choices and parts are told apart in the texts that hold them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.datasets.conftest import Read

from omibench.datasets.mv_math import part_answer, part_choices
from omibench.errors import FileFormatError, MissingInputError
from omibench.schemas.problem import Choice

ROW: dict[str, Any] = {
    "problem_id": 3,
    "question": "Which folds to the die?\n\n<image_1>\nA.\n\n<image_2>\nB.\n\n<image_3>\n\n##",
    "input_image": ["a.jpg", "b.jpg", "c.jpg"], "is_multi_img": True, "answer": "B",
    "answer_type": "choice", "difficulty": "Low", "grade": "Junior", "subject": "Solid Geometry",
    "image_relavance": "1", "analysis": "Fold it.",
}  # fmt: skip


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "data").mkdir()
    (folder / "data/MV-MATH.json").write_text(json.dumps(rows), "utf-8")
    return folder


def test_picture_choices_and_attributes(tmp_path: Path, read: Read) -> None:
    (question,), (answer,), _ = read("mv-math", write(tmp_path, ROW))
    assert (question.id, question.question) == (
        "mv-math-3",
        "Which folds to the die?\n\n[IMAGE0]",
    )
    assert question.choices == [Choice(label="A", image=1), Choice(label="B", image=2)]
    assert (answer.answer, answer.answer_type, answer.topic) == (["B"], "mcq", "Solid Geometry")
    assert (answer.n_images, answer.solution) == (3, "Fold it.")
    assert answer.attributes == {
        "type": "choice", "difficulty": "Low", "grade": "Junior", "category": "Solid Geometry",
        "pictures": "dependent",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "stem", "choices"),
    [
        ("How long?\nA. 3 m\nB. 4 m", "How long?", ["3 m", "4 m"]),
        ("A. line?\nWhich?\nA. 1\nB. A. 2\nC. $3$", "A. line?\nWhich?", ["1", "A. 2", "$3$"]),
        ("Which?\n\n[IMAGE0]\n\nA\n\n[IMAGE1]\n\n(B)\n", "Which?", [0, 1]),
        ("Which?\nA．[IMAGE0] and [IMAGE1]\nB．none", "Which?", ["[IMAGE0] and [IMAGE1]", "none"]),
    ],
)
def test_choices_of_a_text(text: str, stem: str, choices: list[str | int]) -> None:
    options = part_choices(text)
    assert options is not None
    assert options.stem == stem
    assert [c.text if c.image is None else c.image for c in options.choices] == choices


@pytest.mark.parametrize("text", ["Which?", "A. one", "A. one\nC. two", "Which?\n[IMAGE0]\nB\n"])
def test_what_is_no_list_of_choices(text: str) -> None:
    assert part_choices(text) is None


def test_a_gold_beside_the_letters_keeps_the_text_whole(tmp_path: Path, read: Read) -> None:
    row = ROW | {"question": "Which?\nA. one\nB. two, C. three", "answer": "C."}
    (question,), (answer,), _ = read("mv-math", write(tmp_path, row))
    assert (question.question, question.choices) == (row["question"], None)
    assert (answer.answer, answer.answer_type) == (["C"], "mcq")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("(1) A (3, 5); (2) (3, 4);（3）7.5.", ["A (3, 5)", "(3, 4)", "7.5"]),
        ("(1) $\\frac{1}{2}$ (2) 3", ["$\\frac{1}{2}$", "3"]),
        ("7.5", ["7.5"]),
        ("see (1) and (2)", ["see (1) and (2)"]),
        ("(1) only", ["(1) only"]),
    ],
)
def test_answers_with_several_parts(text: str, parts: list[str]) -> None:
    assert part_answer(text) == parts


def test_parts_are_those_of_multi_step_problems_alone(tmp_path: Path, read: Read) -> None:
    row = ROW | {"answer": "(1) 4 (2) 5", "answer_type": "multi-step", "image_relavance": 0}
    single = row | {"problem_id": 4, "answer_type": "single-step"}
    questions, answers, _ = read("mv-math", write(tmp_path, row, single))
    assert [a.answer for a in answers] == [["4", "5"], ["(1) 4 (2) 5"]]
    assert [q.choices for q in questions] == [None, None]
    assert answers[0].attributes["pictures"] == "independent"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer_type": "essay"}, r"MV-MATH\.json: 3: answer_type"),
        ({"input_image": "a.jpg"}, "3: input_image"),
        ({"answer": ""}, "3: answer"),
        ({"input_image": ["../../x.png"]}, "leads out"),
    ],
)
def test_a_row_that_is_wrong_is_named(
    tmp_path: Path, read: Read, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        read("mv-math", write(tmp_path, ROW | change))


def test_what_is_not_there_is_said(tmp_path: Path, read: Read) -> None:
    with pytest.raises(MissingInputError, match=r"MV-MATH\.json"):
        read("mv-math", tmp_path)
