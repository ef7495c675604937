"""The verb `omibench new`, and the option --plugin of `omibench score`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from command_line import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*words: str) -> str:
    """What a verb prints; it succeeds."""
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_what_was_written_scores_a_file(folder: Path) -> None:
    said = invoke("new", "rules", "my-rules")
    assert "is now called `omibench new scorer`" in said
    assert "new      my_rules.py" in said
    assert "plugins: [my_rules.py]\nscore: {scorers: [my-rules]}" in said
    rows = [
        {"id": name, "prediction": f"\\boxed{{{answer}}}", "gold": "12"}
        for name, answer in (("a", "12"), ("b", "12.0"))
    ]
    (folder / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ("score", "answers.jsonl", "--plugin", "my_rules.py", "--scorer", "my-rules")
    invoke(*words, "--out", "verdicts.parquet", "--no-cache")
    assert pl.read_parquet("verdicts.parquet")["verdict"].to_list() == [1.0, 0.0]
