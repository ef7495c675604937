"""The file of people's answers: what is read, and which line says what is wrong with it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.schemas.problem import Answer, Choice
from omibench.stages.analyze import user_files as checked_rows
from omibench.stages.analyze.user_files import PersonAnswer, read_people

HEADING = "person,group,problem,answer,seconds\n"
GOLDS = {
    name: Answer(
        id=name,
        answer=["B"],
        answer_type="mcq",
        choices=[Choice(label=label, text=f"{label} m") for label in "ABCD"],
    )
    for name in ("physics-1", "physics-2")
}


def write(folder: Path, *lines: str, heading: str = HEADING) -> Path:
    file = folder / "people.csv"
    file.write_text(heading + "".join(f"{line}\n" for line in lines), "utf-8")
    return file


def test_answers_are_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, "a,experts,physics-1,B,61.5", " a ,experts,physics-2,,", ",,,,")
    assert read_people(file, GOLDS) == [
        PersonAnswer(person="a", group="experts", problem="physics-1", answer="B", seconds=61.5),
        PersonAnswer(person="a", group="experts", problem="physics-2"),
    ]


def test_groups_and_times_may_be_left_out(tmp_path: Path) -> None:
    file = write(tmp_path, "a,physics-1,B", heading="person,problem,answer\n")
    assert read_people(file, GOLDS) == [PersonAnswer(person="a", problem="physics-1", answer="B")]


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        (",experts,physics-2,B,1", "person", "is empty"),
        ("a,experts,,B,1", "problem", "is empty"),
        ("a,experts,physics-2,B,soon", "seconds", "is 'soon': Input should be a valid number"),
        ("a,experts,physics-2,B,-1", "seconds", "is '-1': Input should be greater than"),
        ("a,experts,physics-2,B,inf", "seconds", "is 'inf': Input should be a finite number"),
        ("a,experts,physics_2,B,1", "problem", "did you mean 'physics-2'?"),
        ("a,novices,physics-2,B,1", "group", "is in the group 'experts' on line 2"),
        ("a,experts,physics-1,C,1", "problem", "'a' answered 'physics-1' on line 2"),
        (f"a,experts,physics-2,{'x' * 20_001},1", "answer", "at most 20000 characters"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_is_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, line: str, column: str, reason: str
) -> None:
    file = write(tmp_path, 'a,experts,physics-1,"B\nindeed",1', line, "b,novices,physics-1,A,2")
    with caplog.at_level(logging.WARNING, "omibench"):
        rows = read_people(file, GOLDS)
    assert [row.person for row in rows] == ["a", "b"]
    (message,) = caplog.messages
    assert message.startswith(f"analyze.people: 1 line is left out of {file}: line 4, column")
    assert f"column {column!r}" in message
    assert reason in message
    assert len(message) < 300 + len(str(file))


def test_many_bad_lines_are_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = write(tmp_path, "a,,physics-1,B,", *[f"a,,p{number},B," for number in range(40)])
    with caplog.at_level(logging.WARNING, "omibench"):
        read_people(file, GOLDS)
    assert "40 lines are left out" in caplog.messages[0]
    assert caplog.messages[0].endswith("; and 35 more")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "has no rows"),
        (HEADING, "has no rows"),
        ("person,answer\na,B\n", "lacks the column 'problem'"),
        (HEADING + "a,,x,B,\n", "no row is usable; line 2, column 'problem'"),
        ("person,problem,answer\na,p,\udcff\n", "UTF-8"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(FileFormatError, match=reason) as error:
        read_people(file, GOLDS)
    assert str(error.value).startswith("analyze.people: ")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"people\.csv"):
        read_people(tmp_path / "people.csv", GOLDS)


def test_too_many_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked_rows, "MOST_ROWS", 3)
    file = write(tmp_path, *[f"a{number},,physics-1,B," for number in range(4)])
    with pytest.raises(FileFormatError, match="more than 3 rows"):
        read_people(file, GOLDS)


def test_a_value_cannot_command_the_terminal(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = write(tmp_path, "a,,physics-1,B,", "b,,\x1b[2Jgone,B,")
    with caplog.at_level(logging.WARNING, "omibench"):
        read_people(file, GOLDS)
    assert "\x1b" not in caplog.messages[0]
