"""One run of a study at a time; a dead one's lock is removed, and a living one's never."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from omibench.errors import OmibenchError
from omibench.store.segments import read_process_start
from omibench.study.status.owners import (
    CLAIM_ENV,
    FOLDER,
    LOCKS,
    HeldClaim,
    LockFilter,
    claim_in_snakemake,
    format_moment,
    new_claim_path,
    read_locks,
    read_refusal,
    take_folder,
)

BEGAN = 1.5e9
TAKE = """
import sys
from omibench.errors import OmibenchError
from omibench.study.status.owners import take_folder
said = []
try:
    with take_folder("results", said.append):
        print("took it", *said, flush=True)
        sys.stdin.read()
except OmibenchError as error:
    print("refused", error, flush=True)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the study, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(CLAIM_ENV, raising=False)
    return tmp_path


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until the end of the test."""
    words = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def lock(number: int = 0) -> dict[str, int]:
    """The locks of a run of Snakemake."""
    LOCKS.mkdir(parents=True, exist_ok=True)
    names = [f"{number}.input.lock", f"{number}.output.lock"]
    for name in names:
        (LOCKS / name).write_text("results/made\n")
    return {name: at for name, at in read_locks(Path()).items() if name in names}


def claim(alive: subprocess.Popen[bytes] | None = None, **changed: Any) -> Path:
    """The record of a run: of this process, or of one that has ended."""
    if alive:
        changed = {"pid": alive.pid, "process": read_process_start(alive.pid), **changed}
    values = {
        "began": BEGAN, "host": socket.gethostname(), "pid": 4_000_000, "process": "1",
        "results": "results", "locks": {},
    } | changed  # fmt: skip
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = new_claim_path(Path.cwd())
    path.write_text(json.dumps(values))
    return path


def take() -> list[str]:
    said: list[str] = []
    with take_folder("results", lambda line: said.append(str(line))):
        pass
    assert not any("unlock" in line for line in said)
    return said


def refusal() -> str:
    before = read_locks(Path())
    with pytest.raises(OmibenchError) as refused:
        take()
    assert read_locks(Path()) == before
    assert "unlock" not in str(refused.value)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_folder_without_a_lock_is_taken_and_left() -> None:
    with take_folder("results", print) as path:
        assert os.environ[CLAIM_ENV] == str(path)
        assert path.is_file()
    assert CLAIM_ENV not in os.environ
    assert not path.exists()


@pytest.mark.parametrize("noted", [True, False], ids=["with its locks", "before it noted them"])
def test_the_lock_of_a_dead_run_is_removed(noted: bool) -> None:
    locks = lock()
    path = claim(locks=locks if noted else {})
    (line,) = take()
    assert line == (
        f"the run that began at {format_moment(BEGAN)} (process 4000000) was ended without "
        "cleaning up; its lock is removed"
    )
    assert not read_locks(Path())
    assert not path.exists()
    assert take() == []


def test_a_lock_that_nobody_claims_is_removed() -> None:
    lock()
    (line,) = take()
    assert line == "a run in this folder was ended without cleaning up; its lock is removed"
    assert not read_locks(Path())


def test_a_reused_process_id_is_no_living_run(other: subprocess.Popen[bytes]) -> None:
    claim(other, process="1", locks=lock())
    assert f"(process {other.pid}) was ended" in take()[0]


def test_a_living_run_is_named_with_its_process_and_start(other: subprocess.Popen[bytes]) -> None:
    path = claim(other, locks=lock())
    host = socket.gethostname()
    told = refusal()
    assert f"process {other.pid} on {host} since {format_moment(BEGAN)}" in told
    assert path.exists()


def test_a_run_whose_file_is_locked_lives_whatever_its_process(folder: Path) -> None:
    held = HeldClaim(claim(), "results", lock())
    values = json.loads(held.path.read_text())
    held.path.write_text(json.dumps(values | {"pid": 4_000_000, "host": "elsewhere"}))
    assert "process 4000000 on elsewhere since" in refusal()
    held.close()
    assert take()


def test_a_lock_of_another_host_stays_until_its_file_is_deleted() -> None:
    path = claim(host="node7", locks=lock())
    told = refusal()
    assert f"process 4000000 on node7 since {format_moment(BEGAN)}" in told
    assert f"delete {path} and run again" in told
    path.unlink()
    assert len(take()) == 1
    assert not read_locks(Path())


def test_a_claim_of_another_host_without_its_lock_forbids_nothing() -> None:
    old = claim(host="node7", locks={"0.output.lock": 1})
    lock()
    assert len(take()) == 1
    assert not read_locks(Path())
    assert take() == []
    assert not old.exists()


def test_the_lock_of_another_study_stays(other: subprocess.Popen[bytes]) -> None:
    theirs = lock()
    claim(other, results="results/b", locks=theirs)
    claim(locks=lock(1))
    assert len(take()) == 1
    assert read_locks(Path()) == theirs


def test_nothing_is_removed_while_a_run_that_just_starts_can_hold_the_lock(
    other: subprocess.Popen[bytes],
) -> None:
    claim(other, results="results/b")
    locks = lock()
    assert take() == []
    assert read_locks(Path()) == locks


@pytest.mark.slow
def test_of_several_that_start_at_once_one_removes_the_lock_and_the_others_name_it() -> None:
    claim(locks=lock())
    starting = [
        subprocess.Popen(
            [sys.executable, "-c", TAKE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    told = {process.pid: process.stdout.readline() for process in starting if process.stdout}
    for process in starting:
        process.communicate("")
    (winner,) = [pid for pid, line in told.items() if line.startswith("took it")]
    assert "its lock is removed" in told.pop(winner)
    assert all(f"process {winner} on" in line for line in told.values())


def test_a_plain_snakemake_in_the_folder_is_found(folder: Path) -> None:
    pytest.importorskip("snakemake")
    (folder / "Snakefile").write_text('rule all:\n    output: "made"\n    shell: "sleep 600"\n')
    words = [sys.executable, "-m", "snakemake", "--cores", "1"]
    with subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            deadline = time.monotonic() + 100
            while not read_locks(Path()):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            told = refusal()
        finally:
            os.killpg(process.pid, 9)
    assert f"snakemake is active in this folder (process {process.pid} on " in told
    assert len(take()) == 1


def test_jobs_that_a_dead_run_left_are_stopped_before_its_lock_is_removed(folder: Path) -> None:
    pytest.importorskip("psutil")
    path = claim(locks=lock())
    program = folder / "omibench"
    program.write_text("import time\ntime.sleep(600)\n")
    mine, others = (
        subprocess.Popen([sys.executable, program], env={**os.environ, CLAIM_ENV: value})
        for value in (str(path), "another")
    )
    try:
        said = take()
        assert said[0].startswith("1 job of a dead run still ran")
        assert mine.wait(20) == -15
        assert others.poll() is None
    finally:
        for process in (mine, others):
            process.kill()
            process.wait()


def test_snakemake_takes_over_the_claim_of_omibench_run() -> None:
    with take_folder("results", print) as path:
        locks = lock()
        assert claim_in_snakemake("results") is None
        assert json.loads(path.read_text())["locks"] == locks
    assert path.exists(), "its lock is left"


def record() -> logging.LogRecord:
    told = "Error: Directory cannot be locked. ... It can be removed with the --unlock argument."
    found = logging.LogRecord("snakemake.logging", logging.ERROR, "", 0, told, (), None)
    found.exception = "LockException"
    return found


def test_the_message_of_snakemake_names_the_other_run(other: subprocess.Popen[bytes]) -> None:
    claim(other, locks=lock())
    plain = record()
    assert LockFilter("results").filter(plain)
    assert f"process {other.pid} on " in plain.getMessage()
    assert "unlock" not in plain.getMessage()
    assert LockFilter("results").filter(logging.LogRecord("s", 20, "", 0, "Done", (), None))


def test_the_message_of_snakemake_names_a_dead_run() -> None:
    claim(locks=lock())
    plain = record()
    assert LockFilter("results").filter(plain)
    assert "(process 4000000) was ended" in plain.getMessage()
    assert "`omibench run` removes its lock" in plain.getMessage()


def test_omibench_run_is_told_why_its_snakemake_did_not_start(
    other: subprocess.Popen[bytes],
) -> None:
    with take_folder("results", print) as path:
        claim(other, locks=lock())
        assert not LockFilter("results").filter(record()), "omibench run prints it"
        assert f"process {other.pid} on " in (read_refusal(path) or "")
