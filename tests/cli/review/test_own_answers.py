"""Own answers of reviewers in `omibench review agree` and `export`."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import app
from review.builders import decide, write_lines
from review_app.builders import make_task

KEYED = {"question": "How far?", "answer": ["9 m"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A review in which two people answered one item, one of them rightly."""
    task = make_task(1, content=KEYED)
    decisions = [
        decide(number, person, role, task).model_copy(update={"own_answer": answer})
        for number, (person, role, answer) in enumerate(
            [("ann", "annotator", "900 cm"), ("bob", "auditor", "7 m")]
        )
    ]
    write_lines(tmp_path / "tasks.jsonl", task)
    write_lines(tmp_path / "decisions.jsonl", *decisions)
    return tmp_path


def call(*words: str) -> str:
    result = CliRunner().invoke(app, ["review", *words], catch_exceptions=False)
    return result.stdout


def test_own_answers_are_compared_with_the_key(folder: Path) -> None:
    text = call("agree", "--review", str(folder), "--out", str(folder / "agreement.csv"))
    (line,) = [line for line in text.splitlines() if "own answer" in line]
    assert line.split()[:6] == ["item", "own", "answer", "equal", "to", "the"]
    assert "0.500" in line
    assert '"I cannot answer it" counts as not equal' in text
    rows = list(csv.DictReader((folder / "agreement.csv").open()))
    assert [row["measure"] for row in rows if row["field"] == "own answer"] == ["equal to the key"]


def test_own_answers_are_exported(folder: Path) -> None:
    out = folder / "own.csv"
    assert call("export", "--review", str(folder), "--own-answers", str(out)).startswith("2 own")
    rows = list(csv.DictReader(out.open()))
    assert [(row["person"], row["own_answer"], row["right"]) for row in rows] == [
        ("ann", "900 cm", "true"),
        ("bob", "7 m", "false"),
    ]


def test_a_key_that_nobody_finds_is_doubted(folder: Path) -> None:
    path = folder / "decisions.jsonl"
    path.write_text(path.read_text().replace("900 cm", "7 m"))
    text = call("agree", "--review", str(folder))
    assert "no reader's own answer is the official one, check the key: item:p1" in text
