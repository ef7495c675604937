"""The command and the function of the API, and what they say."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest
from tests.run_comparison.runs import MadeJudge, make_run
from typer.testing import CliRunner

import omibench
from command_line import app
from omibench.answers.scorers.robust import VERSION
from omibench.errors import ArgumentError, UnfinishedError
from omibench.files.reading import read_csv
from omibench.results.comparison.report import RunComparison
from omibench.store.segments import read_process_start

A = make_run("ABCDABCA", "ABCDBBCA").change(judge=MadeJudge())
B = make_run("ABCDBBCA").change(judge=MadeJudge(name="kind"), revision="2")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs in the working folder."""
    monkeypatch.chdir(tmp_path)
    A.write(Path("a"))
    B.write(Path("b"))
    return tmp_path


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["results", "compare", *words])
    return result.exit_code, result.output + str(result.exception or "")


def test_the_command_writes_a_typed_document_and_a_summary(folders: Path) -> None:
    before = sorted(Path("a").rglob("*"))
    code, output = run("a", "b", "--out", "compare.json", "--items", "moved.csv")
    assert code == 0, output
    assert f"robust {VERSION}, 1 cell\n" in output
    assert "gold      another gold answer (1 verdict)" in output
    assert "scorer: scored by: gptscore 3, judge judge, prompt 55555555 > gptscore 3" in output
    comparison = RunComparison.model_validate_json(Path("compare.json").read_bytes())
    assert comparison.gptscore is not None
    rows = list(read_csv(Path("moved.csv")))
    assert len(rows) == comparison.changed + comparison.gptscore.changed
    assert {row["rules"] for row in rows} <= {"robust", "gptscore"}
    assert sorted(Path("a").rglob("*")) == before


def test_rules_of_each_run(folders: Path) -> None:
    code, output = run("a", "b", "--scorer", "robust,gptscore")
    assert code == 0, output
    assert json.loads(Path("compare.json").read_text("utf-8"))["scoring_b"]["rules"] == "gptscore"
    assert "one scorer, or two" in run("a", "b", "--scorer", "robust,,emma")[1]
    assert "is a folder; give a file in it" in run("a", "b", "--out", "a")[1]
    assert "c: contains no cell of responses" in run("a", "c")[1]


def test_the_api(folders: Path) -> None:
    comparison = omibench.compare_runs("a", "b", scorer="robust")
    assert comparison.items.columns[:4] == ["model", "setting", "rules", "id"]
    assert comparison.items.height == comparison.changed
    assert comparison.gptscore is None
    with pytest.raises(ArgumentError, match="give a scorer, or one for each run"):
        omibench.compare_runs("a", "b", scorer=("a", "b", "c"))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="confidence: is 2"):
        omibench.compare_runs("a", "b", confidence=2)


def test_a_folder_that_a_run_writes_to_is_refused(folders: Path) -> None:
    head = {
        "time": 0, "pid": os.getpid(), "host": socket.gethostname(), "cluster": None,
        "process": read_process_start(os.getpid()), "command": [], "jobs": [], "current": [],
    }  # fmt: skip
    Path("b/runs").mkdir()
    Path("b/runs/1.jsonl").write_text(json.dumps(head) + "\n", "utf-8")
    with pytest.raises(UnfinishedError, match="b: a run is writing to it; wait until"):
        omibench.compare_runs("a", "b")


def test_names_of_others_command_no_terminal(folders: Path) -> None:
    manifest = Path("a/freeze/manifest.json")
    values = json.loads(manifest.read_text("utf-8")) | {"name": "\x1b[31mred"}
    manifest.write_text(json.dumps(values), "utf-8")
    code, output = run("a", "b")
    assert code != 0
    assert "name" in output
    assert "\x1b" not in output
