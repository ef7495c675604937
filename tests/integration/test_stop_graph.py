"""Snakemake that is told to stop: its jobs send nothing more and keep what is in flight."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.workflows_support import environment, study_folder, until

from model_server.handle import ServerHandle

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(200)]
IN_FLIGHT = 8
STOPPED = "omibench: stopped; run the same command again to continue"


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {"latency_s": 0.5, "latency_sigma": 0.4, "letters": True}


def by_terminal(snakemake: subprocess.Popen[str]) -> None:
    """Ctrl-C: the shells of the jobs and `tee` get it, too."""
    os.killpg(snakemake.pid, signal.SIGINT)


def by_supervisor(snakemake: subprocess.Popen[str]) -> None:
    """The jobs are told by nobody but Snakemake."""
    snakemake.send_signal(signal.SIGTERM)


def by_cluster(snakemake: subprocess.Popen[str]) -> None:
    """Slurm, before it preempts a job, signals all of its processes."""
    os.killpg(snakemake.pid, signal.SIGTERM)


@pytest.mark.parametrize("stop", [by_terminal, by_supervisor, by_cluster])
def test_jobs_under_snakemake_keep_what_is_in_flight(
    stop: Callable[[subprocess.Popen[str]], None],
    tmp_path: Path, root: Path, server: ServerHandle,
) -> None:  # fmt: skip
    folder = study_folder(tmp_path / "study", root, server.openai_url, problems=200)
    command = ["-m", "snakemake", "--cores", "1", "results/infer/old-one/cot.parquet"]
    log = (tmp_path / "said.txt").open("w")
    with subprocess.Popen(
        [sys.executable, *command], cwd=folder, env=environment(tmp_path / "home"),
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, text=True, start_new_session=True,
    ) as snakemake:  # fmt: skip

        def said() -> str:
            return (tmp_path / "said.txt").read_text()

        until(lambda: server.stats(contents=False)["delivered"] >= 3 * IN_FLIGHT, 100, said)
        before = server.stats(contents=False)["requests"]
        stop(snakemake)
        assert snakemake.wait(30) != 0, said()
    stats = server.stats(contents=False)
    assert stats["concurrent"] == 0, "Snakemake ended before its job"
    assert stats["requests"] - before <= IN_FLIGHT
    kept = sum(len(file.read_bytes().splitlines()) for file in folder.glob("store/*/*.jsonl"))
    assert kept == stats["paid"], "what was paid in flight was lost"
    log_of_job = folder / "logs/infer/old-one/cot.log"
    assert log_of_job.read_text().splitlines()[-1] == STOPPED
