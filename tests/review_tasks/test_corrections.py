"""Corrections of a reading, made of what reviewers of pages settled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.stages.ocr.corrections.mock_paper import read_mock
from typer.testing import CliRunner

from command_line import app
from omibench.errors import OutputError
from omibench.review.contents import make_content
from omibench.review.outcomes import ReviewRule
from omibench.review.tasks.corrections import list_page_corrections
from omibench.schemas.problem import Problem
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.schemas.tables import write_jsonl
from omibench.stages.ocr.corrections.entry import collect_corrections, read_corrections
from omibench.stages.ocr.sources.manifest import Source
from review.builders import decide, make_task, write_lines

RULE = ReviewRule(reviewers=1)


def decide_page(
    problem: Problem, number: int, fields: dict[str, Any], **values: Any
) -> tuple[ReviewTask, ReviewDecision]:
    """The page task of a problem, and Ana's decision on it."""
    task = make_task(problem.id, "page", make_content("page", problem))
    usable = {"usable": "usable", "pictures": "right"}
    return task, decide(number, "Ana", "annotator", task, usable | fields, **values)


@pytest.fixture
def problems(tmp_path: Path) -> dict[str, Problem]:
    """Problems as read; none of them has a figure that a task would show."""
    read = read_mock(tmp_path).problems
    return {number: read[number] for number in ("1", "3")}


def test_what_pages_settle_becomes_corrections_that_fit_the_reading(
    tmp_path: Path, problems: dict[str, Problem]
) -> None:
    choices = "A) 3 s\nB) $5$ s\nC) 5 s\nD) 6 s"
    pairs = [
        decide_page(
            problems["1"], 1, {"choices": choices, "answer": "B"}, comment="The 5 is a fraction."
        ),
        decide_page(problems["3"], 2, {"question": "Which is the third planet?"}, simulated=True),
    ]
    study = tmp_path / "study"
    write_jsonl(study / "ocr/problems.jsonl", list(problems.values()))
    write_lines(tmp_path / "review/tasks.jsonl", *(task for task, _ in pairs))
    write_lines(tmp_path / "review/decisions.jsonl", *(decision for _, decision in pairs))
    params = f'{{"study": {{"results": "{study}"}}, "review": {{"reviewers": 1}}}}'
    words = ["review", "export", "--review", str(tmp_path / "review"), "--params", params]
    out = tmp_path / "reviewed.yaml"
    done = CliRunner().invoke(app, [*words, "--corrections", str(out)])
    assert done.exit_code == 0, done.output
    assert f"3 corrections in {out}" in done.output

    entries = [entry.correction for entry in read_corrections(out)]
    assert [(e.problem, e.kind) for e in entries] == [
        ("1", "choice"),
        ("1", "answer"),
        ("3", "text"),
    ]
    assert [e.by for e in entries] == ["Ana", "Ana", "Ana (SIMULATED)"]
    assert entries[0].note == "The 5 is a fraction."
    reading = read_mock(
        tmp_path, *(e.model_dump(mode="json", exclude_defaults=True) for e in entries)
    )
    assert reading.statuses == ["applied"] * 3
    assert reading.problems["1"].answer == ["B"]

    again = CliRunner().invoke(app, [*words, "--corrections", str(out)])
    assert isinstance(again.exception, OutputError)
    assert "the file exists" in str(again.exception)
    source = Source(name="mock.pdf", paper=str(tmp_path / "mock.pdf"))
    assert collect_corrections(str(out), None, [], [source]).by_source["mock.pdf"]


def test_a_page_that_cannot_be_used_drops_its_problem(problems: dict[str, Problem]) -> None:
    task, decision = decide_page(
        problems["1"], 1, {"usable": "unusable", "reasons": ["incomplete"]}
    )
    (correction,) = list_page_corrections(list(problems.values()), [task], [decision], RULE)
    assert (correction.drop, correction.note) == (True, "usable: unusable")


def test_what_is_open_or_about_another_reading_gives_none(problems: dict[str, Problem]) -> None:
    task, decision = decide_page(problems["1"], 1, {"question": "Find it."})
    assert list_page_corrections([problems["1"]], [task], [], RULE) == []
    other = problems["1"].model_copy(update={"question": "Find the period."})
    assert list_page_corrections([other], [task], [decision], RULE) == []
    benchmark = problems["1"].model_copy(update={"pages": []})
    assert list_page_corrections([benchmark], [task], [decision], RULE) == []
