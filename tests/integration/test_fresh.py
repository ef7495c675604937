"""A study by `omibench init --generator`: a public and a fresh set, compared in the report."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from command_line import call_main

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
BIN = Path(sys.executable).parent


def run(study: Path) -> None:
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([BIN / "omibench", "run", "--cores", "2"], cwd=study, env=env, check=True)


def test_the_report_compares_public_and_fresh_problems(tmp_path: Path) -> None:
    study = tmp_path / "unseen"
    assert call_main("init", study, "--generator", "circuit,body").returncode == 0
    entries = yaml.safe_load((study / "sources.yaml").read_text())["generators"]
    for entry in entries:
        entry["counts"] = dict.fromkeys(entry["counts"], 15)
    old = [{**e, "name": f"{e['name']}-old", "seed": 1, "fresh": False} for e in entries]
    (study / "sources.yaml").write_text(yaml.safe_dump({"generators": [*old, *entries]}))
    run(study)
    shutil.copy(study / "results/freeze/answers.jsonl", study / "oracle.jsonl")
    params: dict[str, Any] = yaml.safe_load((study / "params.yaml").read_text())
    params |= {
        "models": {"m": {"provider": "simulated", "oracle": "oracle.jsonl", "ability": 0.5}},
        "settings": {"direct": {"prompt": "direct"}},
        "infer": {"models": ["m"], "settings": ["direct"]},
    }
    (study / "params.yaml").write_text(yaml.safe_dump(params))
    run(study)
    table = pl.read_csv(study / "results/analyze/tables/fresh.csv")
    row = table.filter(metric="difference").row(0, named=True)
    assert (row["n_before"], row["n_after"]) == (30, 30)
    assert row["low"] < row["before"] - row["after"] < row["high"]
    report = (study / "results/analyze/report.html").read_text("utf-8")
    assert "Public minus fresh problems, within templates" in report
