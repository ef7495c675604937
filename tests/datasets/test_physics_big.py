"""Physics Big: columns of JSON with single backslashes, and pictures in any column."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.datasets.conftest import Read

from omibench.datasets.physics_big import PhysicsBigRow
from omibench.errors import FileFormatError, MissingInputError

PNG = b"\x89PNG\r\n\x1a\nany"
ROW: dict[str, Any] = {
    "text": r'{"text": [{"text": "Сила \frac{F}{2},\nугол \theta"}, {"text": "и \\rho."}]}',
    "answer": json.dumps([
        {"condition": "Find $v$.", "solution": {"text": "Energy."}, "answers": ["2 m/s", "2"]},
        {"condition": "", "solution": {"text": "Then.", "answers": [3]}},
        {"condition": "Show it.", "solution": {"text": "So."}, "answers": []},
    ]),
    "tags": '["mechanics", "energy"]',
    "image": {"bytes": PNG, "path": None},
    "more": [{"bytes": PNG + b"2", "path": None}],
}  # fmt: skip


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "data").mkdir()
    for number, row in enumerate(rows):
        pl.DataFrame([row]).write_parquet(folder / f"data/{number:05}.parquet")
    return folder


def test_texts_parts_and_pictures(tmp_path: Path, read: Read) -> None:
    proof = ROW | {"answer": '[{"condition": "Show it.", "answers": []}]'}
    plain = {"text": "How far?", "answer": '[{"answers": "7"}]', "tags": None}
    questions, answers, _ = read("physics-big", write(tmp_path, proof, ROW, plain))
    question, simple = questions
    assert (question.id, simple.id) == ("physics-big-2", "physics-big-3")
    assert question.question == (
        "[IMAGE0] [IMAGE1]\nСила \\frac{F}{2},\nугол \\theta\nи \\rho.\nFind $v$."
    )
    assert (question.language, question.subject, len(question.images)) == ("ru", "physics", 2)
    assert [a.answer for a in answers] == [["2 m/s; 2", "3"], ["7"]]
    assert answers[0].solution == "Energy.\n\nThen.\n\nSo."
    assert answers[0].attributes == {"tags": ["mechanics", "energy"]}
    assert (simple.question, simple.images, answers[1].attributes) == ("How far?", [], {})


@given(st.text(min_size=1).map(str.strip).filter(bool))
def test_a_text_in_sound_json_is_read_unchanged(text: str) -> None:
    """Backslashes are doubled there, and no escape is taken for LaTeX."""
    coded = json.dumps({"text": [{"text": text}]}, ensure_ascii=False)
    if any(f"\\{letter}" in coded for letter in "bfnrtu"):
        return  # ambiguous with single backslashes of LaTeX
    assert PhysicsBigRow.model_validate({"text": coded, "answer": "[]"}).text == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": '{"text": ['}, r"00000\.parquet: item 1: text: is not JSON"),
        ({"text": ""}, "item 1: text"),
        ({"answer": '["Prove"]'}, "item 1: answer"),
        ({"answer": "[" * 5000}, "item 1: answer: "),
        ({"image": {"bytes": b"text", "path": "1.png"}}, "is not a picture by its first bytes"),
    ],
)
def test_a_row_that_is_wrong_is_named(
    tmp_path: Path, read: Read, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        read("physics-big", write(tmp_path, ROW | change))


def test_a_set_without_answers_is_an_error(tmp_path: Path, read: Read) -> None:
    with pytest.raises(MissingInputError, match="no problem has an entry in `answers`"):
        read("physics-big", write(tmp_path, ROW | {"answer": "[]"}))
