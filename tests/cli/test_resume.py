"""`omibench run` after a dead one: its jobs in Slurm are found by its number, no other's ever."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from command_line import Ended, call_main
from omibench.store.segments import read_process_start
from omibench.study.status.hooks import command
from omibench.study.status.runs import (
    Run,
    build_resume_command,
    is_plain,
    name_in_slurm,
    read_runs,
    restore_run_command,
)

NAME = "0a1b2c3d-0000-4000-8000-00000000000a"
OTHER = "0a1b2c3d-0000-4000-8000-00000000000b"
pytestmark = pytest.mark.usefixtures("own_folder")
SLURM = """\
#!{python}
import json, sys
from pathlib import Path
state = Path({state!r})
jobs = json.loads(state.read_text())
program = Path(sys.argv[0]).name
options = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
with Path({calls!r}).open("a") as file:
    file.write(" ".join([program, *sys.argv[1:]]) + "\\n")
mine = [job for job in jobs if job["name"] == options["--name"]]
if program == "scancel":
    left = [job for job in jobs if job not in mine]
    state.write_text(json.dumps(left))
else:
    for job in mine:
        print("|".join([job["id"], job["state"], job["comment"]]))
    if {ends}:
        state.write_text(json.dumps([job for job in jobs if job not in mine]))
"""


class Slurm:
    """Stand-ins for squeue and scancel, over a file of jobs."""

    def __init__(self, folder: Path, *, ends: bool = False) -> None:
        self.bin, self.calls_file, self.state = folder / "bin", folder / "calls", folder / "state"
        self.bin.mkdir()
        self.calls_file.touch()
        text = SLURM.format(
            python=sys.executable, state=str(self.state), calls=str(self.calls_file), ends=ends
        )
        for name in ("squeue", "scancel"):
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)

    def has(self, *names: str) -> None:
        jobs = [
            {"id": str(100 + n), "name": name, "state": "RUNNING",
             "comment": "rule_infer_wildcards_gpt_cot"}
            for n, name in enumerate(names)
        ]  # fmt: skip
        self.state.write_text(json.dumps(jobs))

    def left(self) -> list[str]:
        return [job["name"] for job in json.loads(self.state.read_text())]

    def calls(self) -> list[str]:
        return self.calls_file.read_text().splitlines()


@pytest.fixture
def slurm(tmp_path: Path) -> Slurm:
    return Slurm(tmp_path)


def note_run(folder: Path, stamp: str = "20261122T100000", **changed: Any) -> Path:
    """The notes of a run whose process is gone."""
    head = {
        "time": 1e9, "pid": 4_000_000, "host": socket.gethostname(), "process": "1",
        "command": ["snakemake", "--cores", "2", "--keep-going"], "cluster": NAME,
        "jobs": [], "current": [],
    } | changed  # fmt: skip
    runs = folder / "results" / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    end = head.pop("end", None)
    lines = [head] + ([{"time": 1e9 + 1, "end": end}] if end else [])
    path = runs / f"{stamp}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


MADE = 'rule all:\n    output: "made"\n    shell: "touch made"\n'


def go_on(folder: Path, slurm: Slurm, *words: str, command: str = "run") -> Ended:
    (folder / "params.yaml").write_text("study: {name: small}\n")
    (folder / "Snakefile").write_text(MADE)
    with patch.dict(os.environ, PATH=f"{slurm.bin}{os.pathsep}{os.environ['PATH']}"):
        return call_main(command, *words, "--every", "0.2", cwd=folder)


def test_what_still_runs_is_named_and_nothing_is_done(tmp_path: Path, slurm: Slurm) -> None:
    note_run(tmp_path)
    slurm.has(NAME, OTHER, NAME)
    done = go_on(tmp_path, slurm, command="resume")
    assert done.returncode == 3, done.stderr
    assert done.stderr.splitlines()[0] == "`omibench resume` is now part of `omibench run`"
    assert "  100  running  infer gpt_cot" in done.stdout.splitlines()
    assert "2 jobs of the dead run are still in Slurm; nothing was done" in done.stderr
    assert slurm.left() == [NAME, OTHER, NAME]
    assert not any(call.startswith("scancel") for call in slurm.calls())


@pytest.mark.slow
def test_cancel_ends_the_jobs_of_the_run_alone_and_goes_on(tmp_path: Path, slurm: Slurm) -> None:
    note_run(tmp_path)
    locks = tmp_path / ".snakemake/locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").write_text(f"{tmp_path / 'made'}\n")
    slurm.has(NAME, OTHER)
    done = go_on(tmp_path, slurm, "--cancel")
    assert done.returncode == 0, done.stdout + done.stderr
    assert slurm.left() == [OTHER]
    assert (tmp_path / "made").is_file()
    assert "snakemake --rerun-incomplete --cores 2 --keep-going" in done.stdout.splitlines()
    assert all(f"--name={NAME}" in call and "--user=" in call for call in slurm.calls())


@pytest.mark.slow
def test_wait_waits_until_they_have_ended(tmp_path: Path) -> None:
    slurm = Slurm(tmp_path, ends=True)
    note_run(tmp_path)
    slurm.has(NAME)
    done = go_on(tmp_path, slurm, "--wait")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(slurm.calls()) == 2
    assert (tmp_path / "made").is_file()


@pytest.mark.slow
def test_a_dry_run_does_nothing(tmp_path: Path, slurm: Slurm) -> None:
    note_run(tmp_path)
    slurm.has(OTHER)
    done = go_on(tmp_path, slurm, "-n", "--cancel")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "snakemake --rerun-incomplete --cores 2 --keep-going",
    ]
    assert slurm.left() == [OTHER]


def test_a_run_that_goes_on_is_left_alone(tmp_path: Path, slurm: Slurm) -> None:
    note_run(tmp_path, pid=os.getpid(), process=read_process_start(os.getpid()))
    slurm.has(NAME)
    done = go_on(tmp_path, slurm, "--cancel")
    assert done.returncode == 2
    assert f"a run of this study is active (process {os.getpid()} on " in done.stderr
    assert slurm.left() == [NAME]


@pytest.mark.slow
def test_a_study_whose_last_run_was_done_has_nothing_to_resume(
    tmp_path: Path, slurm: Slurm
) -> None:
    note_run(tmp_path)
    note_run(tmp_path, "20261122T110000", time=2e9, end="done")
    slurm.has(NAME)
    done = go_on(tmp_path, slurm, "--cancel")
    assert (done.returncode, slurm.calls()) == (0, [])
    assert "snakemake" not in done.stdout, "no command is repeated"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["*", "", "root", f"{NAME},{OTHER}", f"{NAME} --state=RUNNING", f"{NAME}\n", 7, None]
)
def test_notes_of_others_select_no_job(name: object, tmp_path: Path, slurm: Slurm) -> None:
    note_run(tmp_path, cluster=name)
    assert name_in_slurm(name) is None
    assert [run.cluster for run in read_runs(tmp_path / "results")] == [None]
    slurm.has(NAME, OTHER)
    go_on(tmp_path, slurm, "--cancel", "-n")
    assert slurm.calls() == []


@pytest.mark.parametrize(
    "words",
    [
        ["-s", "/tmp/evil.smk"], ["--snakefile=evil.smk"], ["--directory", "/"],
        ["--cores", "2", "--executor", "cluster-generic"], ["-d/"], ["--envvars", "KEY"],
        ["--default-resources", "mem_mb=__import__('os').system('id')"],
        ["--cores", "2", "--set-resources=infer:mem_mb=open('x','w')"],
        ["--profile", "results/evil"], ["--workflow-profile=profiles/../results/evil"],
        ["--profile", "src"], ["--configfile", "results/params.yaml"], ["--configfile", "/tmp/p"],
        ["--config", "models={m: {base_url: 'http://evil'}}"],
    ],
)  # fmt: skip
def test_commands_of_others_name_no_code(words: list[str], tmp_path: Path) -> None:
    assert not is_plain(words)
    run = Run(tmp_path, 0.0, 0.0, command=("snakemake", *words))
    assert build_resume_command(run, "small.yaml", ["data=d"]) == [
        "snakemake", "--rerun-incomplete", "--cores", "all",
        "--configfile", "small.yaml", "--config", "data=d",
    ]  # fmt: skip


def test_the_command_of_a_run_is_given_again(tmp_path: Path) -> None:
    argv = ["snakemake", "--workflow-profile", "profiles/slurm", "--configfile", "a.yaml",
            "--config", "simulated=true", "-F", "--slurm-no-account", "--", "report"]  # fmt: skip
    run = Run(tmp_path, 0.0, 0.0, command=tuple(command(argv)))
    again = build_resume_command(run, "params.yaml", [])
    kept = [word for word in argv[1:] if word != "-F"]
    assert again == ["snakemake", "--rerun-incomplete", *kept]


@pytest.mark.parametrize(
    ("words", "restored"),
    [
        (["--rerun-incomplete", "--keep-going", "--cores", "all"], ""),
        (
            ["--configfile", "my own.yaml", "--config", "data=d", "simulated=true",
             "--rerun-incomplete", "--keep-going", "--cores", "2", "freeze_all"],
            "--params 'my own.yaml' --set data=d --set simulated=true --cores 2 -- freeze_all",
        ),
    ],
)  # fmt: skip
def test_a_command_of_omibench_run_is_given_as_one(words: list[str], restored: str) -> None:
    again = restore_run_command(["snakemake", *words])
    assert shlex.join(again) == f"omibench run {restored}".strip()


def test_a_command_of_snakemake_stays() -> None:
    command = ["snakemake", "--keep-going", "--rerun-incomplete", "--cores", "2"]
    assert restore_run_command(command) == command
