"""`omibench status` as people and scripts call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from tests.status.conftest import note_run, write_cell

from command_line import Ended, call_main
from omibench.params.study import Study
from omibench.store.processes import read_process_start


@pytest.fixture
def params(study: Study) -> str:
    values = study.model_dump(mode="json", exclude_defaults=True)
    Path("s.yaml").write_text(yaml.safe_dump(values))
    return "s.yaml"


def call(*words: str) -> Ended:
    return call_main("status", *words)


def test_text_json_page_and_lists(params: str) -> None:
    write_cell("one", "cot", ["answered", "answered", "provider_error"])
    text = call("--params", params, "--html", "out/status.html")
    assert (text.returncode, text.stderr) == (0, "")
    assert "2 of 12 answered" in text.stdout
    assert "2/3" in text.stdout
    assert Path("out/status.html").read_text("utf-8").startswith("<!doctype html>")
    told = json.loads(call("--params", params, "--json").stdout)
    assert (told["answered"], told["requests"]) == (2, 12)
    assert told["cells"][0]["infer"] == "incomplete"
    assert call("--params", params, "--lacking").stdout == "results/infer/one/cot.parquet\n"


def test_mistakes_are_one_line(params: str) -> None:
    Path("taken").write_text("a file where a folder is wanted")
    for words, begins in (
        (["--params", "absent.yaml"], "absent.yaml"),
        (["--params", params, "--watch", "--json"], "status: --watch"),
        (["--params", params, "--html", "taken/page.html"], "--html taken: cannot be a folder"),
    ):
        done = call(*words)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith(f"omibench: {begins}")


def test_watching_ends_with_the_run_and_says_that_jobs_failed(params: str) -> None:
    notes = note_run({"infer one/cot": ["running"]})
    watching = subprocess.Popen(
        [sys.executable, "-m", "omibench", "status", "--params", params, "--watch",
         "--every", "0.2", "--html", "status.html"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert watching.stdout is not None
    assert "running, 0 of 1 jobs done" in watching.stdout.readline()
    assert 'http-equiv="refresh"' in Path("status.html").read_text("utf-8")
    with notes.open("a") as file:
        file.write(json.dumps({"time": time.time(), "job": 1, "state": "failed"}) + "\n")
        file.write(json.dumps({"time": time.time(), "end": "failed"}) + "\n")
    out, err = watching.communicate(timeout=240)
    assert watching.returncode == 3, err
    assert "1 failed job" in out
    assert 'http-equiv="refresh"' not in Path("status.html").read_text("utf-8")


def test_looking_leaves_every_file_as_it_is(params: str) -> None:
    write_cell("one", "cot", ["answered"] * 3)
    note_run({"infer one/direct": ["running"]})
    assert read_process_start(os.getpid())

    def state() -> dict[Path, int]:
        return {p: p.stat().st_mtime_ns for p in Path().rglob("*") if p.is_file()}

    before = state()
    assert call("--params", params).returncode == 0
    assert state() == before
