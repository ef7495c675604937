"""Problems of papers are joined with a table of the wanted ones by exam, year and number."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.graph.inputs import list_named_files
from omibench.params.stages.filter import FilterParams, ListedProblems
from omibench.params.study import Study
from omibench.schemas.curation import Reject
from omibench.schemas.problem import Choice, Problem, ProblemWarning
from omibench.schemas.tables import read_jsonl, read_parquet, write_jsonl
from omibench.stages.filter import filter_problems
from omibench.stages.filter.listed import describe_unread, join_listed

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


def table(folder: Path, lines: str, name: str = "metadata.csv") -> ListedProblems:
    (folder / name).write_text(lines, encoding="utf-8")
    return ListedProblems(file=str(folder / name), attributes=["category"])


def test_a_line_gives_answer_topic_and_attributes(exam: Exam, tmp_path: Path) -> None:
    long = "a summary " * 40  # not an attribute, so of any length
    listed = table(tmp_path, f"{HEAD}2003,Local,07,b,chart,acids,{long}\n2003,local,9,,,,\n")
    problems = [exam("local", 2003, "7", answer=None), exam("local", 2003, "9", topic="bases")]
    first, second = join_listed(problems, listed).problems
    assert (first.answer, first.topic, first.attributes["category"]) == (["B"], "acids", "chart")
    assert first.attributes["country"] == "USA"
    assert not first.warnings
    assert second == problems[1], "a line that says nothing changes nothing"


def test_a_key_that_differs_is_told_and_the_table_is_kept(exam: Exam, tmp_path: Path) -> None:
    listed = table(tmp_path, HEAD + "2003,local,7,D,chart,,\n2003,local,8,B,chart,,\n")
    doubt = ProblemWarning("answer_conflict", "key B, solutions C")
    problems = [exam("local", 2003, "7", warnings=[doubt]), exam("local", 2003, "8")]
    first, second = join_listed(problems, listed).problems
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
def test_other_problems_are_unlisted(
    exam: Exam, tmp_path: Path, problem: tuple[str, int, str, dict[str, Any]], told: str
) -> None:
    listed = table(tmp_path, HEAD + "2003,local,7,B,chart,,\n")
    name, year, number, fields = problem
    other = exam(name, year, number, **fields)
    joined = join_listed([exam("local", 2003, "7"), other], listed)
    assert [p.id for p in joined.problems] == ["local-2003-7"]
    ((unlisted, evidence),) = joined.unlisted
    assert unlisted == other
    assert told in evidence


def test_lines_without_a_problem_are_told_by_paper(exam: Exam, tmp_path: Path) -> None:
    lines = "2003,local,7,B,,,\n2003,local,8,B,,,\n1999,national,1,B,,,\n2003,local,12,A,,,\n"
    listed = table(tmp_path, HEAD + lines)
    told = describe_unread([exam("local", 2003, "7")], listed)
    assert told == ["local, 2003: 8, 12", "national, 1999: 1"]


def test_other_tables_and_columns(exam: Exam, tmp_path: Path) -> None:
    row = {"competition": "ACS", "number": 7, "answer": "C", "levels": ["easy", "short"]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    listed = ListedProblems(
        file=str(tmp_path / "rows.jsonl"), by=["competition", "number"], attributes=["levels"]
    )
    (problem,) = join_listed([exam("local", 2003, "7", competition="acs")], listed).problems
    assert problem.answer == ["C"]
    assert problem.attributes["levels"] == ["easy", "short"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("2003,local,7,B,,,\n2003,LOCAL,07,C,,,\n", "item 2: is the second line for exam local"),
        ("2003,,7,B,,,\n", "item 1: has no `exam`, which filter.listed.by names"),
        (f"2003,local,7,B,{'x' * 300},,\n", "local-2003-7: category: a label must have 1 to 200"),
    ],
)
def test_wrong_tables_are_refused(exam: Exam, tmp_path: Path, lines: str, told: str) -> None:
    listed = table(tmp_path, HEAD + lines)
    with pytest.raises(FileFormatError, match=r"metadata\.csv") as error:
        join_listed([exam("local", 2003, "7")], listed)
    assert told in str(error.value)


def test_a_missing_table_is_named(exam: Exam) -> None:
    with pytest.raises(MissingInputError, match=r"listed\.file: gone\.csv does not exist"):
        join_listed([exam("local", 2003, "7")], ListedProblems(file="gone.csv"))


def test_the_stage_rejects_unlisted_problems_and_warns_of_unread_lines(
    exam: Exam, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    listed = table(tmp_path, HEAD + "2003,local,7,C,table,,\n2003,local,30,C,table,,\n")
    write_jsonl(tmp_path / "problems.jsonl", [exam("local", 2003, "7"), exam("local", 2003, "8")])
    study = Study(filter=FilterParams(preset="usnco-v", listed=listed))
    with caplog.at_level(logging.WARNING):
        filter_problems(tmp_path / "problems.jsonl", tmp_path / "out", study)
    (kept,) = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert (kept.id, kept.answer, kept.attributes["category"]) == ("local-2003-7", ["C"], "table")
    rejects = read_parquet(tmp_path / "out/rejects.parquet", Reject)
    assert rejects.select("id", "reason").rows() == [("local-2003-8", "unlisted")]
    assert "no problem was read for local, 2003: 30" in caplog.text
    assert listed.file in list_named_files(study, "filter"), "a changed table filters again"
