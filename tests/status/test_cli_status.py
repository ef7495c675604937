"""`omibench status` as people and scripts call it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml
from tests.status.conftest import note_run, write_cell

from command_line import Ended, call_main
from omibench.params.study import Study
from omibench.store.segments import read_process_start


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


def test_looking_leaves_every_file_as_it_is(params: str) -> None:
    write_cell("one", "cot", ["answered"] * 3)
    note_run({"infer one/direct": ["running"]})
    assert read_process_start(os.getpid())

    def state() -> dict[Path, int]:
        return {p: p.stat().st_mtime_ns for p in Path().rglob("*") if p.is_file()}

    before = state()
    assert call("--params", params).returncode == 0
    assert state() == before
