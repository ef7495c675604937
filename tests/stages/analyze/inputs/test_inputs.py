"""Files that a study adds: answers of people, scores elsewhere, cutoffs."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.schemas.problem import Answer, Choice
from omibench.stages.analyze import user_files as checked_rows
from omibench.stages.analyze.user_files import (
    Cutoff,
    ExternalScore,
    PersonAnswer,
    read_cutoffs,
    read_external_scores,
    read_people,
)

# The file of cut-offs of exams.

HEADING = "exam,year,percentile,score,of\n"


def test_cut_offs_are_read_by_exam_and_year(tmp_path: Path) -> None:
    file = tmp_path / "cutoffs.csv"
    file.write_text(f"{HEADING}national,2024,50,27,60\nnational,2024,90,44,60\n,2020,50,3,6\n")
    assert read_cutoffs(file) == {
        ("national", 2024): [
            Cutoff(exam="national", year=2024, percentile=50, score=27, of=60),
            Cutoff(exam="national", year=2024, percentile=90, score=44, of=60),
        ],
        ("", 2020): [Cutoff(year=2020, percentile=50, score=3, of=6)],
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("national,2024,100,27,60", "column 'percentile': is '100'"),
        ("national,2024,50,61,60", "a score of 61 is more than the maximum of 60 points"),
        ("national,MMXXIV,50,27,60", "column 'year': is 'MMXXIV'"),
        ("national,2024,50,27,", "column 'of': is empty"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_is_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, line: str, reason: str
) -> None:
    file = tmp_path / "cutoffs.csv"
    file.write_text(f"{HEADING}{line}\nlocal,2024,50,27,60\n")
    assert list(read_cutoffs(file)) == [("local", 2024)]
    assert reason in caplog.text
    file.write_text(f"{HEADING}{line}\n")
    with pytest.raises(FileFormatError, match=r"no row is usable; line 2"):
        read_cutoffs(file)


# The file of scores on other benchmarks.

SCORES_HEADING = "model,benchmark,metric,value,source\n"


def test_scores_are_read_in_order(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(
        SCORES_HEADING + "A,MMIU,accuracy,55.7,table 1\nB,MMIU,accuracy,-1e1,\n", "utf-8"
    )
    assert read_external_scores(file) == [
        ExternalScore(model="A", benchmark="MMIU", metric="accuracy", value=55.7, source="table 1"),
        ExternalScore(model="B", benchmark="MMIU", metric="accuracy", value=-10),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("B,MMIU,accuracy,high,", "column 'value': is 'high'"),
        ("B,MMIU,accuracy,nan,", "column 'value': is 'nan': Input should be a finite number"),
        ("B,,accuracy,1,", "column 'benchmark': is empty"),
        ("A,MMIU,accuracy,2,", "'A' has a value of this metric on line 2"),
    ],
)
def test_a_bad_line_of_scores_is_named_and_the_rest_is_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, line: str, reason: str
) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(f"{SCORES_HEADING}A,MMIU,accuracy,1,\n{line}\nC,MMIU,accuracy,3,\n", "utf-8")
    assert [row.model for row in read_external_scores(file)] == ["A", "C"]
    (message,) = caplog.messages
    assert message.startswith("analyze.external_scores: 1 line is left out")
    assert f"line 3, {reason}" in message or f"line 3, column 'model': {reason}" in message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("model,score\nA,1\n", "lacks the column 'benchmark'"),
        (SCORES_HEADING + "A,,,,\n", "no row is usable; line 2, column 'benchmark': is empty"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(FileFormatError, match=reason):
        read_external_scores(file)


# The file of people's answers: what is read, and which line says what is wrong with it.

ANSWERS_HEADING = "person,group,problem,answer,seconds\n"

GOLDS = {
    name: Answer(
        id=name,
        answer=["B"],
        answer_type="mcq",
        choices=[Choice(label=label, text=f"{label} m") for label in "ABCD"],
    )
    for name in ("physics-1", "physics-2")
}


def write(folder: Path, *lines: str, heading: str = ANSWERS_HEADING) -> Path:
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
def test_a_bad_line_of_answers_is_named_and_the_rest_is_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, line: str, column: str, reason: str
) -> None:
    file = write(tmp_path, 'a,experts,physics-1,"B\nindeed",1', line, "b,novices,physics-1,A,2")
    rows = read_people(file, GOLDS)
    assert [row.person for row in rows] == ["a", "b"]
    (message,) = caplog.messages
    assert message.startswith(f"analyze.people: 1 line is left out of {file}: line 4, column")
    assert f"column {column!r}" in message
    assert reason in message
    assert len(message) < 300 + len(str(file))


def test_many_bad_lines_are_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = write(tmp_path, "a,,physics-1,B,", *[f"a,,p{number},B," for number in range(40)])
    read_people(file, GOLDS)
    assert "40 lines are left out" in caplog.messages[0]
    assert caplog.messages[0].endswith("; and 35 more")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "has no rows"),
        (ANSWERS_HEADING, "has no rows"),
        ("person,answer\na,B\n", "lacks the column 'problem'"),
        (ANSWERS_HEADING + "a,,x,B,\n", "no row is usable; line 2, column 'problem'"),
        ("person,problem,answer\na,p,\udcff\n", "UTF-8"),
    ],
)
def test_a_file_without_answers_is_refused(tmp_path: Path, text: str, reason: str) -> None:
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
    read_people(file, GOLDS)
    assert "\x1b" not in caplog.messages[0]
