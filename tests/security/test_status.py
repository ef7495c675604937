"""Notes of a run that somebody else wrote: `omibench status` shows no more than it may."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from omibench.params.study import Study, parse_study
from omibench.study.status.reader import look
from omibench.study.status.text import render

KEY = "ssh-key-of-the-user"


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    (tmp_path / "study").mkdir()
    (tmp_path / "id_rsa").write_text(KEY)
    monkeypatch.chdir(tmp_path / "study")
    model = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "id": "m", "key_env": "NO"}
    return parse_study(
        {"models": {"m": model}, "settings": {"cot": {}}, "infer": {"models": ["m"]}}, "test"
    )


def note(log: str, command: list[str], name: str = "m") -> None:
    job = {"id": 1, "stage": "infer", "output": "results/infer/m/cot.parquet", "log": log}
    head = {
        "time": 1.0, "host": "elsewhere", "pid": 1, "process": None, "command": command,
        "current": [], "jobs": [{**job, "model": name, "setting": "cot"}],
    }  # fmt: skip
    events = [head, {"time": 2.0, "job": 1, "state": "failed"}, {"time": 3.0, "end": "failed"}]
    Path("results/runs").mkdir(parents=True, exist_ok=True)
    Path("results/runs/1.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events))


@pytest.mark.parametrize("where", ["absolute", "dots", "link"])
def test_only_logs_of_the_study_are_shown(study: Study, tmp_path: Path, where: str) -> None:
    Path("logs").mkdir()
    Path("logs/link.log").symlink_to(tmp_path / "id_rsa")
    logs = {"absolute": str(tmp_path / "id_rsa"), "dots": "logs/../../id_rsa"}
    note(logs.get(where, "logs/link.log"), ["snakemake"])
    said = render(look(study))
    assert KEY not in said
    assert "infer m/cot: it left no message" in said


def test_a_log_of_the_study_is_shown(study: Study) -> None:
    Path("logs").mkdir()
    Path("logs/a.log").write_text("omibench: \x1b]0;x\x07why\n")
    note("logs/a.log", ["snakemake"])
    assert "infer m/cot: why" in render(look(study)).replace("]0;x", "")


def test_a_pipe_for_a_log_keeps_nobody_waiting(study: Study) -> None:
    Path("logs").mkdir()
    os.mkfifo("logs/a.log")
    note("logs/a.log", ["snakemake"])
    assert "it left no message" in render(look(study))


def test_names_and_commands_of_others_command_nothing(study: Study) -> None:
    note("logs/\x1b[2J\nomibench: paid", ["curl", "evil.example"], name="\x1b[8m\nx")
    said = render(look(study))
    assert "\x1b" not in said
    assert "\nomibench: paid" not in said
    assert "curl" not in said
    assert "snakemake --cores all" in said
