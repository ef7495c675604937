"""A real run in which two cells fail: nothing is hidden, and the command that is named goes on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = [pytest.mark.slow, pytest.mark.long]

PARTS = ("Snakefile", "rules", "profiles", "schemas", "envs")
BIN = Path(sys.executable).parent
KEY = "OMIBENCH_TEST_ABSENT_KEY"


@pytest.fixture
def checkout(tmp_path: Path, root: Path) -> Path:
    """A study of a published benchmark's form: one model that answers, one that lacks its key."""
    for name in PARTS:
        source = root / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    problems = [f"Which of the balls is heavier in case {n}?" for n in range(6)]
    import polars as pl

    data = tmp_path / "data"
    data.mkdir()
    pl.DataFrame(
        {
            "pid": [f"p{n}" for n in range(6)], "question": problems, "options": [["1", "2"]] * 6,
            "answer": ["A"] * 6, "type": ["Multiple Choice"] * 6, "category": ["Counting"] * 6,
            "subject": ["Physics"] * 6,
        }
    ).write_parquet(data / "physics.parquet")  # fmt: skip
    oracle = [{"id": f"p{n}", "answer": ["A"], "answer_type": "mcq"} for n in range(6)]
    (tmp_path / "oracle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in oracle))
    return tmp_path


def test_keep_going_hides_no_failure(checkout: Path, study_values: dict[str, Any]) -> None:
    (checkout / "params.yaml").write_text(yaml.safe_dump(study_values))
    done = run(checkout, "snakemake", "--cores", "2", "--keep-going")
    assert done.returncode != 0
    told = done.stderr[done.stderr.index("jobs failed:") - 4 :]
    assert "2 jobs failed:" in told
    assert f"infer gpt/cot, infer gpt/direct: the key {KEY} is missing" in told
    for cell in ("gpt/cot", "gpt/direct"):
        assert f"logs/infer/{cell}.log" in told
    assert "snakemake --cores 2 --keep-going" in told
    status = json.loads(run(checkout, "omibench", "status", "--json").stdout)
    states = {(c["model"], c["setting"]): (c["infer"], c["score"]) for c in status["cells"]}
    assert states == {
        ("sim", "cot"): ("done", "done"), ("sim", "direct"): ("done", "done"),
        ("gpt", "cot"): ("failed", "waiting"), ("gpt", "direct"): ("failed", "waiting"),
    }  # fmt: skip
    assert [f["job"] for f in status["failures"]] == ["infer gpt/cot", "infer gpt/direct"]
    assert status["go_on"] == "snakemake --cores 2 --keep-going"
    assert status["run"]["state"] == "failed"


def test_a_quiet_run_notes_its_jobs_and_says_nothing_else(
    checkout: Path, study_values: dict[str, Any]
) -> None:
    study_values["infer"]["models"] = ["sim"]
    (checkout / "params.yaml").write_text(yaml.safe_dump(study_values))
    done = run(checkout, "snakemake", "--cores", "2", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stderr
    assert "Finished jobid" not in done.stderr
    status = json.loads(run(checkout, "omibench", "status", "--json").stdout)
    assert {c["infer"] for c in status["cells"]} == {"done"}
    again = run(checkout, "snakemake", "--cores", "2", "--quiet")
    assert again.returncode == 0, again.stderr


def test_a_killed_run_is_told_as_stopped(checkout: Path, study_values: dict[str, Any]) -> None:
    # A provider that never answers: the address is reserved for documentation.
    slow = {"provider": "openai", "id": "x", "base_url": "http://192.0.2.1/v1", "key_env": "HOME"}
    study_values["models"]["gpt"] = slow
    (checkout / "params.yaml").write_text(yaml.safe_dump(study_values))
    process = subprocess.Popen(
        [BIN / "snakemake", "--cores", "2"], cwd=checkout, env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        wait_for(lambda: look(checkout), "running")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    status = look(checkout)
    assert status["run"]["state"] == "stopped"
    assert "stopped" in {c["infer"] for c in status["cells"] if c["model"] == "gpt"}
    assert status["go_on"] == "snakemake --cores 2"


@pytest.fixture
def study_values() -> dict[str, Any]:
    sim = {"provider": "simulated", "oracle": "oracle.jsonl"}
    gpt = {"provider": "openai", "id": "x", "base_url": "http://127.0.0.1:9/v1", "key_env": KEY}
    return {
        "study": {"name": "failing"}, "data": "data", "benchmark": {"name": "emma"},
        "models": {"sim": sim, "gpt": gpt},
        "settings": {"cot": {"prompt": "cot"}, "direct": {"prompt": "direct"}},
        "infer": {"models": ["sim", "gpt"], "settings": ["cot", "direct"]},
    }  # fmt: skip


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )


def look(folder: Path) -> dict[str, Any]:
    done = run(folder, "omibench", "status", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def wait_for(seen: Any, state: str) -> None:
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline:
        if any(c["infer"] == state and c["model"] == "gpt" for c in seen()["cells"]):
            return
    pytest.fail(f"no cell was ever {state}")
