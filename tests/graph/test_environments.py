"""Jobs of several studies in one Snakefile get the environment of their own study."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from omibench.graph import hooks


def variable(prefix: str, folder: Path, command: str) -> str:
    """The value of STORE that a command of omibench sees."""
    program = folder / "omibench"
    program.write_text('#!/bin/sh\nprintf "%s" "$STORE"\n')
    program.chmod(0o755)
    return subprocess.run(
        ["bash", "-c", f"set -euo pipefail; export PATH={folder}:$PATH; {prefix}{command}"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip


def test_each_command_gets_the_environment_of_its_results_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "_ENVIRONMENTS", {})
    alone = hooks.pick_environment("results", {"STORE": "one's own"})
    assert variable(alone, tmp_path, "omibench init x") == "one's own"
    hooks.pick_environment("results/b", {"STORE": "b", "BUDGET": 2.5})
    prefix = hooks.pick_environment("lab c/[x]", {"STORE": "c"})
    for command, store in (
        ("omibench score results/infer/m/s.parquet --out results/score/m/s.parquet", "one's own"),
        ("omibench infer q --out results/b/infer/m/s.parquet | tee /dev/null", "b"),
        ("omibench freeze --out 'lab c/[x]/freeze'", "c"),
        ("omibench freeze --out other/results/b/freeze", ""),
    ):
        assert variable(prefix, tmp_path, command) == store, command
