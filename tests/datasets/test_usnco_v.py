"""USNCO-V from its metadata and what the user copied from the exams."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError

HEAD = "year,exam,number,answer,category,question,A,B,C,D,images\n"


def write(folder: Path, *lines: str) -> Path:
    (folder / "metadata.csv").write_text(HEAD + "\n".join(lines) + "\n", "utf-8")
    return folder


def test_a_line_is_a_question_with_four_options(tmp_path: Path, read: Read) -> None:
    lines = [
        "2021,National,7,b,Molecular structure,Which?,w,x,y,z,p.png | q.png",
        "2021,local,7,D,chart,Which?,w,x,,z,",
    ]
    (one, two), (first, second), _ = read("usnco-v", write(tmp_path, *lines))
    assert (one.id, two.id) == ("2021-national-07", "2021-local-07")
    assert [c.label for c in two.choices or []] == ["A", "B", "C", "D"]
    assert [f.file for f in one.images] == ["p.png", "q.png"]
    assert [f.file for f in two.images] == ["2021-local-07.png"]
    assert (first.answer, second.answer) == (["B"], ["D"])
    assert first.attributes == {
        "category": "molecular structure", "image_type": "molecular structure",
        "exam": "national", "year": "2021",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2021,local,7,E,chart,Which?,w,x,y,z,", r"item 1: answer: .*'E'"),
        ("2021,local,7,A,cartoon,Which?,w,x,y,z,", r"item 1: category: "),
        ("2021,local,7,A,chart,,w,x,y,z,", r"2021-local-07: has no `question`"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, read: Read, line: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read("usnco-v", write(tmp_path, line))


def test_a_question_comes_once(tmp_path: Path, read: Read) -> None:
    line = "2021,local,7,A,chart,Which?,w,x,y,z,"
    with pytest.raises(FileFormatError, match="2021-local-07: two lines"):
        read("usnco-v", write(tmp_path, line, line))


def test_a_topic_may_be_named(tmp_path: Path, read: Read) -> None:
    head, line = HEAD.replace("images", "topic"), "2021,local,7,A,chart,Which?,w,x,y,z,organic"
    (tmp_path / "metadata.csv").write_text(head + line, "utf-8")
    assert read("usnco-v", tmp_path).answers[0].topic == "organic"
