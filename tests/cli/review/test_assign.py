"""`omibench review assign`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from command_line import app
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


def test_suspected_keys_become_tasks_of_their_own(study: Path) -> None:
    tables = study / "results/analyze/tables"
    tables.mkdir(parents=True)
    names = [row["id"] for row in read_rows(study / "results/rationale/problems.jsonl")]
    pl.DataFrame(
        {"id": [*names, None], "suspected_key": [None, "7 cm", None, None], "metric": ["m"] * 4}
    ).write_parquet(tables / "items.parquet")
    assert (
        invoke("item", "--suspected-keys").splitlines()[0] == "item: 1 new, 0 changed, 0 unchanged"
    )
    assert [row["id"] for row in read_rows(study / "review/tasks.jsonl")] == [f"item:{names[1]}"]
    assert invoke("item").splitlines()[0] == "item: 2 new, 0 changed, 1 unchanged"
    assert (
        invoke("item", "--suspected-keys").splitlines()[0] == "item: 0 new, 0 changed, 3 unchanged"
    )


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["items"], "'items'"),
        (["item", "--suspected-keys"], "items.parquet not found, so no key is suspected"),
        (["steps", "--suspected-keys"], "--suspected-keys: 'steps' is not about a key"),
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
