"""A real `omibench run` that is killed, and a second one while the first lives."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
import yaml

from model_server.handle import KEY_ENV, ServerHandle

pytestmark = pytest.mark.slow
PARTS = ("Snakefile", "rules", "profiles", "schemas", "envs")
BIN = Path(sys.executable).parent


@pytest.fixture
def study(tmp_path: Path, root: Path, server: ServerHandle) -> Path:
    """A study of six questions, whose model answers as the server is configured."""
    for name in PARTS:
        copy = shutil.copytree if (root / name).is_dir() else shutil.copy
        copy(root / name, tmp_path / name)
    (tmp_path / "data").mkdir()
    pl.DataFrame(
        {
            "pid": [f"p{n}" for n in range(6)],
            "question": [f"Which of the balls is heavier in case {n}?" for n in range(6)],
            "options": [["1", "2"]] * 6, "answer": ["A"] * 6, "type": ["Multiple Choice"] * 6,
            "category": ["Counting"] * 6, "subject": ["Physics"] * 6,
        }
    ).write_parquet(tmp_path / "data/physics.parquet")  # fmt: skip
    model = {"provider": "openai", "id": "x", "base_url": server.openai_url, "key_env": KEY_ENV}
    values = {
        "study": {"name": "killed"}, "data": "data", "benchmark": {"name": "emma"},
        "models": {"m": model}, "settings": {"cot": {"prompt": "cot"}},
        "infer": {"models": ["m"], "settings": ["cot"]},
    }  # fmt: skip
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(values))
    return tmp_path


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    """A run in a process group of its own."""
    return subprocess.Popen(
        [BIN / words[0], *words[1:]], cwd=folder, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip


def finish(folder: Path, *words: str) -> tuple[int, str]:
    process = start(folder, *words)
    said, _ = process.communicate(timeout=200)
    assert "unlock" not in said
    return process.returncode, said


def wait_for_requests(server: ServerHandle, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 200
    while not server.stats()["requests"]:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.2)


def kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.timeout(600)
def test_a_killed_run_goes_on_and_a_living_one_is_left_alone(
    study: Path, server: ServerHandle
) -> None:
    server.configure(latency_s=600)
    first = start(study, "omibench", "run", "--cores", "2")
    try:
        wait_for_requests(server, first)
        (record,) = (study / ".snakemake/omibench/runs").glob("*.json")
        owner = json.loads(record.read_text())["pid"]
        for words in (["omibench", "run"], ["omibench", "resume"]):
            code, said = finish(study, *words)
            assert code == 2
            assert f"process {owner} on " in said.splitlines()[-1]
        assert " since 20" in finish(study, "omibench", "run")[1].splitlines()[-1]
        code, said = finish(study, "snakemake", "--cores", "1")
        assert code == 1
        assert f"process {owner} on " in said
        assert first.poll() is None
        assert list((study / ".snakemake/locks").iterdir())
    finally:
        kill(first)
    assert list((study / ".snakemake/locks").iterdir()), "the kill left the lock"
    status = json.loads(finish(study, "omibench", "status", "--json")[1])
    assert status["run"]["state"] == status["cells"][0]["infer"] == "stopped"
    assert status["go_on"] == "omibench run --cores 2"

    code, said = finish(study, "snakemake", "--cores", "1")
    assert code == 1
    assert "`omibench run` removes its lock" in said
    server.configure(latency_s=0)
    code, said = finish(study, "omibench", "run")
    assert code == 0, said
    (line,) = [line for line in said.splitlines() if "its lock is removed" in line]
    assert line.startswith("omibench: the run that began at 20")
    assert f"(process {owner}) was ended without cleaning up" in line
    assert said.splitlines()[-1] == "report: results/analyze/report.html"
    assert not list((study / ".snakemake/omibench/runs").glob("*.json"))


@pytest.mark.long
@pytest.mark.timeout(600)
def test_jobs_whose_snakemake_was_killed_are_stopped(study: Path, server: ServerHandle) -> None:
    server.configure(latency_s=600)
    first = start(study, "omibench", "run", "--cores", "2")
    try:
        wait_for_requests(server, first)
        (record,) = (study / ".snakemake/omibench/runs").glob("*.json")
        os.kill(json.loads(record.read_text())["pid"], signal.SIGKILL)
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        server.configure(latency_s=0)
        code, said = finish(study, "omibench", "run")
        assert code == 0, said
        assert "1 job of a dead run still ran" in said
        assert "its lock is removed" in said
    finally:
        kill(first)
