"""Forwards Snakemake's signals to the commands of its local jobs.

On SIGTERM and Ctrl-C, Snakemake waits for running jobs without notifying them: only a terminal and
a cluster signal all processes of a job.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import FrameType
from typing import Any

from omibench.errors import OmibenchError, OutputError, reason_of
from omibench.files.locks import LockError, open_lock, try_lock, wait_lock, wait_path
from omibench.files.reading import parse_json, read_bytes
from omibench.store.processes import new_name, read_process_start

FORWARDED_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def forward_signals() -> None:
    """Tell the jobs of this process to stop before it handles a signal."""
    for number in FORWARDED_SIGNALS:
        before = signal.getsignal(number)
        if callable(before):
            signal.signal(number, partial(_stop, before))


def _stop(before: Any, number: int, frame: FrameType | None) -> None:
    stop_jobs()
    before(number, frame)


def stop_jobs() -> None:
    """Send SIGTERM to each `omibench` that this process has started, through shells or not.

    One that a terminal has already interrupted ignores it.
    """
    import psutil  # installed with Snakemake

    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error, OSError):
            if is_command(process.cmdline()):
                os.kill(process.pid, signal.SIGTERM)


def is_command(words: list[str]) -> bool:
    """Return whether this is the program `omibench`, not a worker of one of its commands."""
    return any(os.path.basename(word) == "omibench" for word in words[:4])  # noqa: PTH119


# Records of who runs the graph in a folder: process, host, start, results and locks.
#
# Snakemake's locks list files but no process. So each run has a file in `.snakemake/omibench/runs`,
# which its processes lock while they live. All files there are read and written under one lock.

CLAIM_ENV = "OMIBENCH_CLAIM"
"""Path of the claim of a run: for its Snakemake, and to find the jobs that it left."""
FOLDER = Path(".snakemake/omibench/runs")
LOCKS = Path(".snakemake/locks")
_MUTEX = "lock"
_BYTES = 2**20


@dataclass(frozen=True)
class Claim:
    """One run of a graph. `locks` are the names and times of its files in `.snakemake/locks`."""

    path: Path
    began: float
    host: str
    pid: int
    process: str | None
    results: str
    locks: Mapping[str, int] = field(default_factory=dict)
    refused: str | None = None
    """Why Snakemake did not start, if another run holds the lock."""

    @property
    def is_here(self) -> bool:
        """Whether it is of this host."""
        return self.host == socket.gethostname()

    @cached_property
    def live(self) -> bool:
        """Whether it is known to run; looked up once."""
        known = self.is_here and self.process is not None
        return (known and read_process_start(self.pid) == self.process) or _is_held(self.path)

    @property
    def dead(self) -> bool:
        """Whether it is known to have ended; only its own host can know."""
        return self.is_here and not self.live

    def owns(self, locks: Mapping[str, int]) -> dict[str, int]:
        """Return those of the existing locks that are its own."""
        return {name: at for name, at in locks.items() if self.locks.get(name) == at}

    def describe(self) -> str:
        """Return its process, host and start."""
        return f"process {self.pid} on {self.host} since {format_moment(self.began)}"


def format_moment(moment: float) -> str:
    """Return a date and time in local time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


@contextmanager
def claims_locked(folder: Path) -> Iterator[None]:
    """Let no other process read or change the claims of a folder during a block.

    Raises OutputError if the folder cannot be written.
    """
    held = ExitStack()
    try:
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        held.enter_context(wait_path(folder / FOLDER / _MUTEX, 0o666))
    except OSError as error:
        raise OutputError(
            f"{folder / FOLDER}: cannot be written ({reason_of(error)}); run the study in a "
            "folder that you may change"
        ) from None
    with held:
        yield


class HeldClaim:
    """The claim of this process, which no other process takes for ended while this one lives."""

    def __init__(self, path: Path, results: str, locks: Mapping[str, int] | None = None) -> None:
        """Write the claim, or take over the one that the parent process made.

        Args:
            path: File of the claim.
            results: Results folder of the study.
            locks: Snakemake's locks that belong to the run.
        """
        before, pid = read_claim(path), os.getpid()
        self.path = path
        self.claim = Claim(
            path=path,
            began=before.began if before else time.time(),
            host=socket.gethostname(),
            pid=pid,
            process=read_process_start(pid),
            results=results,
            locks=dict(locks or {}),
        )
        self._file = open_lock(path, 0o666)
        with suppress(LockError):  # then only the process tells whether it lives
            wait_lock(self._file, shared=True)
        _write(self.claim)

    def close(self, *, keep: bool = False) -> None:
        """Remove the claim, or only let go of it."""
        if not keep:
            self.path.unlink(missing_ok=True)
        os.close(self._file)


def new_claim_path(folder: Path) -> Path:
    """Return the path of a claim that does not exist yet."""
    return folder / FOLDER / new_name(".json")


def read_claims(folder: Path, besides: Path | None = None) -> list[Claim]:
    """Return the claims in a folder, oldest first, without the one in `besides`."""
    paths = [path for path in (folder / FOLDER).glob("*.json") if path != besides]
    claims = [claim for path in paths if (claim := read_claim(path)) is not None]
    return sorted(claims, key=lambda claim: claim.began)


def read_claim(path: Path) -> Claim | None:
    """Return the claim in a file, or None if it has none."""
    try:
        values: dict[str, Any] = parse_json(read_bytes(path, _BYTES), str(path))
        return Claim(
            path=path,
            began=float(values["began"]),
            host=str(values["host"]),
            pid=int(values["pid"]),
            process=values["process"],
            results=str(values["results"]),
            locks={str(name): int(at) for name, at in values["locks"].items()},
            refused=values.get("refused"),
        )
    except (OmibenchError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def note_refusal(claim: Claim, reason: str) -> None:
    """Write into a claim why Snakemake did not start."""
    values = {name: getattr(claim, name) for name in _FIELDS}
    _write(Claim(claim.path, **{**values, "refused": reason}))


def read_locks(folder: Path) -> dict[str, int]:
    """Return the names of Snakemake's locks, with the times at which they were written."""
    locks: dict[str, int] = {}
    for path in (folder / LOCKS).glob("*.lock"):
        with suppress(OSError):
            locks[path.name] = path.stat().st_mtime_ns
    return locks


def remove_locks(folder: Path, locks: Mapping[str, int]) -> list[str]:
    """Remove locks that did not change since they were read; return the names of those removed."""
    removed = []
    for name, at in locks.items():
        path = folder / LOCKS / name
        with suppress(OSError):
            if path.stat().st_mtime_ns == at:
                path.unlink()
                removed.append(name)
    return removed


_FIELDS = ("began", "host", "pid", "process", "results", "locks", "refused")


def _write(claim: Claim) -> None:
    # Not replaced by another file: processes hold a lock on this one.
    claim.path.write_text(json.dumps({name: getattr(claim, name) for name in _FIELDS}), "utf-8")


def _is_held(path: Path) -> bool:
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not try_lock(file)
    except LockError:
        return False
    finally:
        os.close(file)
