"""`omibench review status`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.errors import EXIT_SOME_FAILED, MissingInputError
from review.builders import GOOD, decide, make_task, write_lines

TASK = make_task()


def test_a_review_without_trouble_ends_with_zero(tmp_path: Path) -> None:
    write_lines(tmp_path / "tasks.jsonl", TASK)
    write_lines(tmp_path / "decisions.jsonl", decide(1, "ann", "annotator", TASK))
    words = ["review", "status", "--review", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0
    assert "item" in result.stdout
    document = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert document["kinds"][0]["audit"] == 1


def test_an_escalation_and_a_bad_line_end_with_three(tmp_path: Path) -> None:
    write_lines(tmp_path / "tasks.jsonl", TASK)
    first = decide(1, "ann", "annotator", TASK)
    second = decide(2, "bob", "auditor", TASK, GOOD | {"valid": "invalid"})
    words = ["review", "status", "--review", str(tmp_path)]
    for lines in ([first, second], [first, "{"]):
        write_lines(tmp_path / "decisions.jsonl", *lines)
        assert CliRunner().invoke(app, words).exit_code == EXIT_SOME_FAILED


def test_the_folder_is_that_of_the_params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text, line in [
        (None, "params.yaml does not exist"),
        ("study: {name: mine}", "params.yaml: review.folder is missing"),
        ("review: {folder: mine}", "mine: tasks.jsonl not found"),
    ]:
        if text is not None:
            Path("params.yaml").write_text(text, encoding="utf-8")
        result = CliRunner().invoke(app, ["review", "status"])
        assert isinstance(result.exception, MissingInputError)
        assert line in str(result.exception)


def test_the_rule_and_the_calibration_are_those_of_the_params(tmp_path: Path) -> None:
    bad = {"valid": "invalid"}
    good = make_task("p2", id="item:p2@gate", purpose="calibration", gold=GOOD)
    faulty = make_task("p3", id="item:p3@gate", purpose="calibration", gold=bad)
    write_lines(tmp_path / "tasks.jsonl", TASK, good, faulty)
    decisions = [
        decide(1, "ann", "annotator", TASK),
        decide(2, "ann", "annotator", good),
        decide(3, "ann", "annotator", faulty, GOOD | bad),
    ]
    write_lines(tmp_path / "decisions.jsonl", *decisions)
    block = {"folder": str(tmp_path), "reviewers": 1, "calibration": {"items": 2}}
    words = ["review", "status", "--params", json.dumps({"review": block})]
    document = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert document["kinds"][0]["settled"] == 1
    assert document["calibration"][0]["status"] == "passed"
    assert "passed" in CliRunner().invoke(app, words).stdout
