"""`omibench review assign`."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from omibench.cli.main import app
from omibench.errors import OmibenchError
from omibench.schemas.tables import write_jsonl
from review_tasks.makers import make_problem

REVIEWERS = "- {name: ann, roles: [annotator]}\n- {name: bob, roles: [auditor]}\n"


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = Path("results/rationale")
    write_jsonl(folder / "problems.jsonl", [make_problem(k, folder) for k in range(3)])
    Path("params.yaml").write_text("study: {name: s}\nreview: {folder: review}\n", "utf-8")
    Path("review").mkdir()
    Path("review/reviewers.yaml").write_text(REVIEWERS, "utf-8")
    return tmp_path


def invoke(*words: str) -> str:
    result = CliRunner().invoke(app, ["review", "assign", *words], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_kinds_of_a_study_become_tasks(study: Path) -> None:
    out = invoke("difficulty", "item", "--limit", "2", "--to", "ann")
    assert out.splitlines() == [
        "difficulty: 2 new, 0 changed, 0 unchanged",
        "  annotator: ann 2",
        "  auditor: bob 2",
        "item: 2 new, 0 changed, 0 unchanged",
        "  annotator: ann 2",
        "  auditor: bob 2",
    ]
    assert len((study / "review/tasks.jsonl").read_text("utf-8").splitlines()) == 4
    assert invoke("item").splitlines()[0] == "item: 1 new, 0 changed, 2 unchanged"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["items"], "'items'"),
        (["item", "--to", "bob"], "bob has the roles auditor in reviewers.yaml, not annotator"),
        (["steps", "--model", "gpt"], "--model 'gpt' is not defined"),
        (["photo_fields", "--photographs", "none"], "none: is not a folder of photographs"),
        (["baseline"], "questions.jsonl"),
    ],
)
def test_a_mistake_is_one_line(study: Path, words: list[str], line: str) -> None:
    result = CliRunner().invoke(app, ["review", "assign", *words])
    assert isinstance(result.exception, OmibenchError)
    assert line in str(result.exception)
    assert "\n" not in str(result.exception)
    assert not (study / "review/tasks.jsonl").exists()
