"""What runs noted: who lives, what was stopped, and which word is the last."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from tests.status.conftest import note_run

from omibench.schemas.tables import write_text
from omibench.study.status.runs import RunJob, find_latest_run, merge_jobs, read_runs

CELL = "results/infer/one/cot.parquet"
RESULTS = Path("results")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(path: str = CELL) -> RunJob | None:
    return merge_jobs(read_runs(RESULTS)).get(path)


def test_a_living_run_has_running_and_waiting_jobs() -> None:
    note_run({"infer one/cot": ["running"], "score one/cot": []})
    (run,) = read_runs(RESULTS)
    assert run.live
    assert [job.state for job in run.jobs.values()] == ["running", "waiting"]
    assert run.jobs[CELL].name == "infer one/cot"


@pytest.mark.parametrize(
    ("jobs", "end", "state"),
    [
        ({"infer one/cot": ["running"], "score one/cot": []}, None, "stopped"),
        ({"score one/cot": ["running"], "infer one/cot": []}, None, "waiting"),
        ({"infer one/cot": ["running"]}, "failed", "failed"),
        ({"infer one/cot": ["running", "failed", "running", "done"]}, "done", "done"),
        ({"freeze": ["running", "done"], "infer one/cot": []}, "done", None),
    ],
    ids=["left running by a kill", "never begun", "left running", "begun again", "up to date"],
)
def test_what_a_run_that_is_over_leaves(
    jobs: dict[str, list[str]], end: str | None, state: str | None
) -> None:
    note_run(jobs, end=end, alive=False)
    job = said()
    assert (job and job.state) == state
    assert job is None or state != "done" or job.seconds(time.time()) == pytest.approx(10)


def test_a_later_run_that_finds_the_output_current_forgets_the_failure() -> None:
    note_run({"infer one/cot": ["running", "failed"]}, end="failed", age=900)
    note_run({"infer two/cot": ["running", "done"]}, end="done", age=500)
    job = said()
    assert job.state == "failed"
    note_run({"score one/cot": ["running", "done"]}, end="done", current=[CELL])
    assert said() is None


def test_an_output_that_was_written_after_the_failure_speaks_for_itself() -> None:
    note_run({"infer one/cot": ["running", "failed"]}, end="failed")
    write_text(CELL, "x")
    assert said() is None
    os.utime(CELL, (1, 1))
    assert said() is not None


def test_torn_and_foreign_lines_are_left_out(tmp_path: Path) -> None:
    note_run({"infer one/cot": ["running"]}, torn='{"time": 3, "job": 1, "sta')
    (tmp_path / "results/runs/zero.jsonl").write_bytes(b"")
    (tmp_path / "results/runs/noise.jsonl").write_bytes(b"\x00\xff\n[]\n")
    (run,) = read_runs(RESULTS)
    assert run.jobs[CELL].state == "running"


@pytest.mark.parametrize("new", ["text", ["stage"], None, {"output": "x"}])
def test_a_job_of_another_kind_is_left_out(new: object) -> None:
    line = json.dumps({"time": 3, "job": 9, "new": new})
    note_run({"infer one/cot": ["running"]}, torn=f"{line}\n")
    (run,) = read_runs(RESULTS)
    assert [*run.jobs] == [CELL]


def test_the_run_to_tell_of_is_the_one_that_lives() -> None:
    living = note_run({"infer one/cot": ["running"]}, age=900)
    note_run({"infer two/cot": ["running", "done"]}, end="done")
    run = find_latest_run(read_runs(RESULTS))
    assert run.path.name == living.name
    assert find_latest_run([]) is None
