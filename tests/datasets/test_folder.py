"""Anybody's own problems, from a CSV and a folder of pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError

HEAD = "id,question,answer,images,choices,subject,group\n"


def write(folder: Path, *lines: str, head: str = HEAD) -> Path:
    (folder / "problems.csv").write_text(head + "\n".join(lines) + "\n", "utf-8")
    return folder


def test_lists_are_parted_and_empty_fields_are_unknown(tmp_path: Path, read: Read) -> None:
    (tmp_path / "one.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    rows = [
        'a,"See [IMAGE0], then [IMAGE1]",B,one.png | two.png,left | right,physics,stem',
        "b,How much?,(1) 3 | (2) 4,,,,",
    ]
    (one, two), (first, second), _ = read("folder", write(tmp_path, *rows))
    assert [bool(figure.sha256) for figure in one.images] == [True, False]
    assert [choice.text for choice in one.choices or []] == ["left", "right"]
    assert (first.answer_type, first.group, first.n_images) == ("mcq", "stem", 2)
    assert (two.subject, two.language, two.choices, two.images) == ("other", "en", None, [])
    assert second.answer == ["(1) 3", "(2) 4"]


@pytest.mark.parametrize(
    "choices",
    [
        {"A": "left", "B": "right"},
        [{"label": "A", "text": "left"}, {"label": "B", "text": "right"}],
    ],
)
def test_choices_may_have_their_labels(tmp_path: Path, read: Read, choices: Any) -> None:
    row = {"id": "a", "question": "Where?", "answer": "B", "choices": choices}
    (tmp_path / "problems.jsonl").write_text(json.dumps(row))
    (one,), _, _ = read("folder", tmp_path)
    assert [(choice.label, choice.text) for choice in one.choices or []] == [
        ("A", "left"), ("B", "right"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "choices",
    [{"B": "left", "A": "right"}, [{"label": "1", "text": "left"}, {"text": "right"}]],
)
def test_labels_that_would_be_lost_are_refused(tmp_path: Path, read: Read, choices: Any) -> None:
    row = {"id": "a", "question": "Where?", "answer": "B", "choices": choices}
    (tmp_path / "problems.jsonl").write_text(json.dumps(row))
    with pytest.raises(FileFormatError, match="a: choices: give a list of texts, or label them A"):
        read("folder", tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x,,B,,,,", r"problems\.csv: x: question: "),
        ("x,Why?,,,,,", r"x: answer: "),
        ("x,[IMAGE2],B,one.png,,,", r"x: \[IMAGE2\] is shown but there are 1 images"),
        ("x,Why?,B,,,alchemy,", r"x: subject: .*'alchemy'"),
        (",Why?,B,,,,", r"item 1: id: "),
        ("x,Why?,E,,left | right,,", r"x: answer: 'E' is none of the choices A to B"),
        ("x,Why?,A,,left,,", r"x: choices: there is only one"),
        ("x,Why?,B,/etc/hostname,,,", r"x: .*'/etc/hostname' leads out of this folder"),
        ("x,Why?,B,a/../../key.png,,,", r"x: .*'a/\.\./\.\./key\.png' leads out of this folder"),
        ("x,Why?,B,problems.csv,,,", r"x: .*problems\.csv: is not a picture by its first bytes"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, read: Read, line: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read("folder", write(tmp_path, line))


def test_a_key_may_name_several_choices_or_say_one(tmp_path: Path, read: Read) -> None:
    rows = [f"{key},Which?,{key},,left | right | both,," for key in ("B", "A and C", "(A)", "both")]
    _, answers, _ = read("folder", write(tmp_path, *rows))
    assert [answer.answer for answer in answers] == [["B"], ["A and C"], ["(A)"], ["both"]]


def test_a_folder_that_is_linked_or_told_with_dots_is_the_same(tmp_path: Path, read: Read) -> None:
    (tmp_path / "data/all").mkdir(parents=True)
    (tmp_path / "data/all/one.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "data/pictures").symlink_to("all")
    (tmp_path / "link").symlink_to("data")
    write(tmp_path / "data", "a,See [IMAGE0],3,./pictures/one.png,,,")
    (one,), _, _ = read("folder", tmp_path / "data/../link")
    assert (one.images[0].file, bool(one.images[0].sha256)) == ("pictures/one.png", True)


def test_attributes_have_columns_of_their_own(tmp_path: Path, read: Read) -> None:
    head = "id,question,answer,topic,attributes.exam,attributes.skill,attributes.year\n"
    rows = ["a,Why?,3,optics,final,rays | lenses,2024", "b,Why?,3,,,,"]
    first, second = read("folder", write(tmp_path, *rows, head=head)).answers
    assert first.topic == "optics"
    assert first.attributes == {"exam": "final", "skill": ["rays", "lenses"], "year": "2024"}
    assert (second.topic, second.attributes) == (None, {})


def test_attributes_may_be_an_object(tmp_path: Path, read: Read) -> None:
    row = {"id": "a", "question": "Where?", "answer": "B", "attributes": {"level": 3, "k": ["x"]}}
    (tmp_path / "problems.jsonl").write_text(json.dumps(row))
    assert read("folder", tmp_path).answers[0].attributes == {"level": "3", "k": ["x"]}


def test_an_attribute_of_a_column_s_name_is_an_error(tmp_path: Path, read: Read) -> None:
    head = "id,question,answer,attributes.subject\n"
    with pytest.raises(FileFormatError, match="a: attributes: 'subject' is the name of a column"):
        read("folder", write(tmp_path, "a,Why?,3,magic", head=head))
