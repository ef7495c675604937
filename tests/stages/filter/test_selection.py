"""Problems of papers are joined with a table of the wanted ones by exam, year and number."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.graph.inputs import list_named_files
from omibench.params.stages.filter import FilterParams, ProblemSelection
from omibench.params.study import Study
from omibench.schemas.curation import Reject
from omibench.schemas.problem import Choice, Problem, ProblemWarning
from omibench.schemas.tables import read_jsonl, read_parquet, write_jsonl
from omibench.stages.filter import filter_problems
from omibench.stages.filter.selection import describe_unread_lines, join_selection

Make = Callable[..., Problem]
Exam = Callable[..., Problem]
HEAD = "year,exam,number,answer,category,topic,summary\n"


@pytest.fixture
def exam(make: Make) -> Exam:
    """A question of an exam with four choices; keywords replace its fields."""

    def made(name: str, year: int, number: str, **fields: Any) -> Problem:
        stated: dict[str, Any] = {
            "id": f"{name}-{year}-{number}", "source": f"{name}-{year}", "number": number,
            "year": year, "attributes": {"exam": name, "country": "USA"}, "answer": ["B"],
            "question": f"Question {number} of {year}, {name}, [IMAGE0] [IMAGE1]: which one?",
            "choices": [Choice(label=letter, text=letter * 2) for letter in "ABCD"],
        }  # fmt: skip
        return make(**(stated | fields))

    return made


def table(folder: Path, lines: str, name: str = "metadata.csv") -> ProblemSelection:
    (folder / name).write_text(lines, encoding="utf-8")
    return ProblemSelection(file=str(folder / name), attributes=["category"])


def test_a_line_gives_answer_topic_and_attributes(exam: Exam, tmp_path: Path) -> None:
    long = "a summary " * 40  # not an attribute, so of any length
    selection = table(tmp_path, f"{HEAD}2003,Local,07,b,chart,acids,{long}\n2003,local,9,,,,\n")
    problems = [exam("local", 2003, "7", answer=None), exam("local", 2003, "9", topic="bases")]
    first, second = join_selection(problems, selection).problems
    assert (first.answer, first.topic, first.attributes["category"]) == (["B"], "acids", "chart")
    assert first.attributes["country"] == "USA"
    assert not first.warnings
    assert second == problems[1], "a line that says nothing changes nothing"


def test_a_key_that_differs_is_told_and_the_table_is_kept(exam: Exam, tmp_path: Path) -> None:
    selection = table(tmp_path, HEAD + "2003,local,7,D,chart,,\n2003,local,8,B,chart,,\n")
    doubt = ProblemWarning("answer_conflict", "key B, solutions C")
    problems = [exam("local", 2003, "7", warnings=[doubt]), exam("local", 2003, "8")]
    first, second = join_selection(problems, selection).problems
    assert (first.answer, second.answer, second.warnings) == (["D"], ["B"], [])
    (warning,) = first.warnings
    assert warning.code == "answer_differs_from_table"
    assert "B in the paper, D in" in warning.detail


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (("national", 2003, "7", {}), "has no line for exam national, year 2003, number 7"),
        (("local", 2004, "7", {}), "has no line for exam local, year 2004, number 7"),
        (("local", 2003, "7", {"attributes": {}}), "has no line for exam (not stated), year 2003"),
        (("local", 2003, "7", {"id": "twin"}), "is that of local-2003-7 already"),
    ],
)
def test_other_problems_are_not_selected(
    exam: Exam, tmp_path: Path, problem: tuple[str, int, str, dict[str, Any]], told: str
) -> None:
    selection = table(tmp_path, HEAD + "2003,local,7,B,chart,,\n")
    name, year, number, fields = problem
    other = exam(name, year, number, **fields)
    joined = join_selection([exam("local", 2003, "7"), other], selection)
    assert [p.id for p in joined.problems] == ["local-2003-7"]
    ((rejected, reason, evidence),) = joined.rejects
    assert (rejected, reason) == (other, "not_selected")
    assert told in evidence


def test_lines_without_a_problem_are_told_by_paper(exam: Exam, tmp_path: Path) -> None:
    lines = "2003,local,7,B,,,\n2003,local,8,B,,,\n1999,national,1,B,,,\n2003,local,12,A,,,\n"
    selection = table(tmp_path, HEAD + lines)
    told = describe_unread_lines([exam("local", 2003, "7")], selection)
    assert told == ["local, 2003: 8, 12", "national, 1999: 1"]


def test_other_tables_and_columns(exam: Exam, tmp_path: Path) -> None:
    row = {"competition": "ACS", "number": 7, "answer": "C", "levels": ["easy", "short"]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    selection = ProblemSelection(
        file=str(tmp_path / "rows.jsonl"), by=["competition", "number"], attributes=["levels"]
    )
    (problem,) = join_selection([exam("local", 2003, "7", competition="acs")], selection).problems
    assert problem.answer == ["C"]
    assert problem.attributes["levels"] == ["easy", "short"]


@pytest.mark.parametrize("name", ["rows.parquet", "rows.json", "rows.jsonl", "rows.csv"])
def test_numbers_of_pandas_are_whole(exam: Exam, tmp_path: Path, name: str) -> None:
    """A column with gaps is one of floats in pandas: `7.0`, and NaN or null for a gap."""
    frame = pl.DataFrame(
        {"year": [2003.0, 2003.0, 2003.0], "exam": ["local"] * 3, "number": [7.0, 0.0, 9.0],
         "grade": [2.0, 0.0, None], "share": [0.5, math.nan, None], "answer": [None, 0.0, None]}
    )  # fmt: skip
    clean = frame.with_columns(pl.col("share").fill_nan(None))
    match name.partition(".")[2]:
        case "parquet":
            frame.write_parquet(tmp_path / name)
        case "json":
            clean.write_json(tmp_path / name)
        case "jsonl":
            clean.write_ndjson(tmp_path / name)
        case "csv":
            clean.write_csv(tmp_path / name)
    selection = ProblemSelection(file=str(tmp_path / name), attributes=["grade", "share"])
    problems = [
        exam("local", 2003, "7"), exam("local", 2003, "0", choices=None, answer=None),
        exam("local", 2003, "09"),
    ]  # fmt: skip
    seventh, zeroth, ninth = join_selection(problems, selection).problems
    text = ".0" if name == "rows.csv" else ""  # in CSV nothing but the key is known as a number
    assert seventh.attributes["grade"] == f"2{text}"
    assert seventh.attributes["share"] == "0.5"
    assert zeroth.attributes["grade"] == f"0{text}"
    assert zeroth.answer == [f"0{text}"]
    assert ninth == problems[2], "gaps change nothing"


def test_numbers_of_any_length_are_compared(exam: Exam, tmp_path: Path) -> None:
    long = "7" * 5000
    selection = table(tmp_path, f"{HEAD}2003,local,00{long},B,,,\n")
    (problem,) = join_selection([exam("local", 2003, long)], selection).problems
    assert problem.number == long


@pytest.mark.parametrize(
    ("labels", "stated", "settled"),
    [
        ("abcd", "B", ["b"]),
        ("ABCD", "(b)", ["B"]),
        ("ABCD", "b.", ["B"]),
        (["(a)", "(b)"], "B", ["(b)"]),
        ("ABCD", "A; c", ["A", "C"]),
    ],
)
def test_an_answer_gets_the_label_of_its_choice(
    exam: Exam, tmp_path: Path, labels: Sequence[str], stated: str, settled: list[str]
) -> None:
    selection = table(tmp_path, f"{HEAD}2003,local,7,{stated},,,\n")
    choices = [Choice(label=label, text=label * 2) for label in labels]
    read = exam("local", 2003, "7", choices=choices, answer=settled)
    (problem,) = join_selection([read], selection).problems
    assert problem.answer == settled
    assert not problem.warnings, "the paper's key says the same"


@pytest.mark.parametrize("stated", ["E", "B or D", "none"])
def test_an_answer_that_is_no_choice_is_a_reason(exam: Exam, tmp_path: Path, stated: str) -> None:
    selection = table(tmp_path, f"{HEAD}2003,local,7,{stated},,,\n")
    joined = join_selection([exam("local", 2003, "7")], selection)
    assert joined.problems == []
    ((_, reason, evidence),) = joined.rejects
    assert reason == "answer_is_no_choice"
    assert evidence.endswith(f"the answer {stated!r}, which is none of the choices A, B, C, D")


@pytest.mark.parametrize(
    ("by", "attributes", "told"),
    [
        (["number"], ["categroy"], "'categroy', which filter.selection.attributes names; did you"),
        (["exm", "number"], [], "'exm', which filter.selection.by names; did you mean 'exam'?"),
    ],
)
def test_a_column_that_does_not_exist_is_named(
    exam: Exam, tmp_path: Path, by: list[str], attributes: list[str], told: str
) -> None:
    file = table(tmp_path, HEAD + "2003,local,7,B,chart,,\n").file
    selection = ProblemSelection(file=file, by=by, attributes=attributes)
    with pytest.raises(FileFormatError, match=r"metadata\.csv: has no column") as error:
        join_selection([exam("local", 2003, "7")], selection)
    assert told in str(error.value)


def test_answer_and_topic_are_columns_too(exam: Exam, tmp_path: Path) -> None:
    file = table(tmp_path, HEAD + "2003,local,7,B,chart,acids,\n").file
    selection = ProblemSelection(file=file, by=["exam", "topic"], attributes=["topic", "answer"])
    read = exam("local", 2003, "7", attributes={"exam": "local", "topic": "Acids"})
    (problem,) = join_selection([read], selection).problems
    assert (problem.attributes["topic"], problem.attributes["answer"]) == ("acids", "B")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("metadata.csv", "", "has no lines"),
        ("metadata.csv", HEAD, "has no lines"),
        ("metadata.jsonl", "", "has no lines"),
        ("metadata.json", "[]", "has no lines"),
        ("metadata.csv", "exam,year,number,number\nlocal,2003,7,8\n", "the name 'number'"),
    ],
)
def test_a_table_without_lines_or_with_two_columns_of_a_name_is_refused(
    exam: Exam, tmp_path: Path, name: str, content: str, told: str
) -> None:
    selection = table(tmp_path, content, name)
    with pytest.raises(FileFormatError, match=name) as error:
        join_selection([exam("local", 2003, "7")], selection)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("2003,local,7,B,,,\n2003,LOCAL,07,C,,,\n", "item 2: is the second line for exam local"),
        ("2003,,7,B,,,\n", "item 1: has no `exam`, which filter.selection.by names"),
        (f"2003,local,7,B,{'x' * 300},,\n", "local-2003-7: category: a label must have 1 to 200"),
    ],
)
def test_wrong_tables_are_refused(exam: Exam, tmp_path: Path, lines: str, told: str) -> None:
    selection = table(tmp_path, HEAD + lines)
    with pytest.raises(FileFormatError, match=r"metadata\.csv") as error:
        join_selection([exam("local", 2003, "7")], selection)
    assert told in str(error.value)


def test_a_missing_table_is_named(exam: Exam) -> None:
    with pytest.raises(MissingInputError, match=r"selection\.file: gone\.csv does not exist"):
        join_selection([exam("local", 2003, "7")], ProblemSelection(file="gone.csv"))


def test_the_stage_rejects_other_problems_and_warns_of_unread_lines(
    exam: Exam, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    selection = table(tmp_path, HEAD + "2003,local,7,C,table,,\n2003,local,30,C,table,,\n")
    write_jsonl(tmp_path / "problems.jsonl", [exam("local", 2003, "7"), exam("local", 2003, "8")])
    study = Study(filter=FilterParams(preset="usnco-v", selection=selection))
    with caplog.at_level(logging.WARNING):
        filter_problems(tmp_path / "problems.jsonl", tmp_path / "out", study)
    (kept,) = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert (kept.id, kept.answer, kept.attributes["category"]) == ("local-2003-7", ["C"], "table")
    rejects = read_parquet(tmp_path / "out/rejects.parquet", Reject)
    assert rejects.select("id", "reason").rows() == [("local-2003-8", "not_selected")]
    assert "no problem was read for local, 2003: 30" in caplog.text
    assert selection.file in list_named_files(study, "filter"), "a changed table filters again"
