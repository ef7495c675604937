"""profiles/slurm on a real Slurm of one node: the sample study from raw papers to the report."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from tests.cluster_plugins import require_plugins
from tests.integration.slurm_node import NoSlurmError, running_slurm
from tests.workflows_support import environment, study_folder, until

from model_server.handle import running_server

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)]

Run = Callable[..., subprocess.CompletedProcess[str]]

CELLS = "infer={models: [sim-apex, sim-bravo], settings: [cot]}"
"""Two of the sample study's nine cells: a job costs two more starts of Snakemake, on two cores."""
HERE = ["--slurm-no-account", "--slurm-status-command", "squeue", "--latency-wait", "5"]
"""This Slurm keeps no accounts."""
POLL = ["--slurm-init-seconds-before-status-checks", "15"]
"""After each look at which no job has ended, the executor waits 10 s longer for the next."""


@pytest.fixture(scope="module")
def clients() -> Iterator[Path]:
    try:
        with running_slurm() as folder:
            yield folder
    except NoSlurmError as why:
        pytest.skip(str(why))


@pytest.fixture(scope="module")
def submit(checkout: Path, clients: Path) -> Run:
    """Run Snakemake in the checkout by profiles/slurm."""
    path = os.pathsep.join(filter(None, [require_plugins(), *_python_path()]))
    programs = f"{clients}{os.pathsep}{Path(sys.executable).parent}"
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"PYTHONPATH": path} if path else {}

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = ["snakemake", "--workflow-profile", "profiles/slurm", *HERE, *POLL, *words]
        return subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, text=True, check=False
        )

    return call


def _python_path() -> list[str]:
    return [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []


def _jobs(clients: Path, shown: str) -> list[str]:
    done = subprocess.run(
        [clients / "squeue", "--states=all", "--noheader", f"--format={shown}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_the_sample_study_completes_through_slurm(
    checkout: Path, clients: Path, submit: Run
) -> None:
    before = set(_jobs(clients, "%i|%k|%T"))
    done = submit("--config", CELLS)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-9000:]
    report = (checkout / "results/analyze/report.html").read_text("utf-8")
    assert "SIMULATED" in report

    jobs = [line.split("|")[1:] for line in set(_jobs(clients, "%i|%k|%T")) - before]
    ran = Counter(rule.removeprefix("rule_").split("_wildcards_")[0] for rule, _ in jobs)
    assert ran.keys() >= {"ocr", "filter", "rationale", "freeze", "infer", "score", "analyze"}
    assert ran["infer"] == ran["score"] == 2
    assert {state for _, state in jobs} == {"COMPLETED"}

    again = submit("--config", CELLS, "-n")
    assert "Nothing to be done" in again.stdout + again.stderr


def test_a_local_model_gets_the_gpus_memory_and_time_that_its_block_asks_for(
    checkout: Path, clients: Path, submit: Run
) -> None:
    """Slurm takes the job with them; the model itself is not there, and the job says so."""
    params = yaml.safe_load((checkout / "params.yaml").read_text("utf-8"))
    resources = {"cpus": 2, "memory_gb": 6, "hours": 3}
    params["models"]["big"] = {
        "provider": "vllm", "id": "/nowhere", "tensor_parallel": 2, "resources": resources
    }  # fmt: skip
    params["infer"] = {"models": ["big"], "settings": ["cot"]}
    params["study"]["results"] = "elsewhere"
    params["rationale"] = {}
    # The sample's decisions were made on problems with rationales.
    del params["review"]
    (checkout / "gpu.yaml").write_text(yaml.safe_dump(params), "utf-8")
    local = subprocess.run(
        [Path(sys.executable).parent / "snakemake", "freeze_all", "--cores", "2",
         "--configfile", "gpu.yaml"],
        cwd=checkout, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert local.returncode == 0, local.stdout + local.stderr
    done = submit("--configfile", "gpu.yaml", "--", "elsewhere/infer/big/filled.txt")
    assert done.returncode != 0
    jobs = [line for line in _jobs(clients, "%i|%k") if "rule_fill" in line]
    assert len(jobs) == 1, done.stdout[-3000:] + done.stderr[-6000:]
    shown = subprocess.run(
        [clients / "scontrol", "show", "job", jobs[0].split("|")[0]],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "TimeLimit=03:00:00" in shown
    assert "MinMemoryNode=6000M" in shown or "MinMemoryNode=6G" in shown
    assert re.search(r"gres[:/]gpu[:=]2\b", shown)
    assert "CPUs/Task=2" in shown


def test_what_a_dead_snakemake_left_is_ended_and_the_study_goes_on(
    tmp_path: Path, root: Path, clients: Path
) -> None:
    """Its jobs are told by SIGTERM: what they have in flight is kept, so nothing is paid twice."""
    path = os.pathsep.join(filter(None, [require_plugins(), *_python_path()]))
    with running_server(latency_s=1.0, letters=True) as endpoint:
        folder = study_folder(tmp_path / "study", root, endpoint.openai_url, problems=120)
        env = environment(tmp_path) | ({"PYTHONPATH": path} if path else {})
        env["PATH"] = f"{clients}{os.pathsep}{env['PATH']}"
        target = "results/infer/old-one/cot.parquet"
        own, here = [sys.executable, "-m"], [*HERE, POLL[0], "3"]
        with subprocess.Popen(
            [*own, "snakemake", "--workflow-profile", "profiles/slurm", *here, "--", target],
            cwd=folder, env=env, start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=(tmp_path / "said").open("w"), stderr=subprocess.STDOUT,
        ) as snakemake:  # fmt: skip
            said = (tmp_path / "said").read_text
            until(lambda: endpoint.stats(contents=False)["delivered"] >= 8, 200, said)
            os.killpg(snakemake.pid, signal.SIGKILL)

        def resume(*words: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [*own, "omibench", "run", *words, "--every", "1"],
                cwd=folder, env=env, capture_output=True, text=True, check=False,
            )  # fmt: skip

        named = resume()
        assert named.returncode == 3, named.stdout + named.stderr
        assert "infer old-one_cot" in named.stdout
        done = resume("--cancel")
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
        stats = endpoint.stats()
    assert (folder / target).is_file()
    assert [entry["paid"] for entry in stats["contents"].values()] == [1] * 120
