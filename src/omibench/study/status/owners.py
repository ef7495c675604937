"""Who may run a study's graph: one run at a time, and the lock of a dead one is removed.

Snakemake's locks list files but no process. So each run has a file in `.snakemake/omibench/runs`,
which its processes lock while they live. All files there are read and written under one lock.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from omibench.errors import OmibenchError, OutputError, SomeFailedError, reason_of
from omibench.files.locks import LockError, open_lock, try_lock, wait_lock, wait_path
from omibench.files.reading import parse_json, read_bytes
from omibench.models.api.stop import pause
from omibench.schemas.problem import FrozenModel
from omibench.store.segments import new_name, read_process_start
from omibench.study.status.runs import (
    ABANDONED_S,
    Run,
    list_jobs,
    read_runs,
    select_unfinished_runs,
)
from omibench.text.terminal import count_noun

CLAIM_ENV = "OMIBENCH_CLAIM"
"""Path of the claim of a run: for its Snakemake, and to find the jobs that it left."""
FOLDER = Path(".snakemake/omibench/runs")
LOCKS = Path(".snakemake/locks")
_MUTEX = "lock"
_BYTES = 2**20

Say = Callable[[str], object]


class Claim(FrozenModel, extra="ignore"):
    """One run of a graph. `locks` are the names and times of its files in `.snakemake/locks`."""

    path: Path
    began: float
    host: str
    pid: int
    process: str | None
    results: str
    locks: dict[str, int] = {}
    refused: str | None = None
    """Why Snakemake did not start, if another run holds the lock."""

    @property
    def is_here(self) -> bool:
        """Whether it is of this host."""
        return self.host == socket.gethostname()

    @cached_property
    def live(self) -> bool:
        """Whether it is known to run; looked up once."""
        if self.is_here and self.process and read_process_start(self.pid) == self.process:
            return True
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            return not try_lock(file)  # one of its processes holds its file
        except LockError:
            return False
        finally:
            os.close(file)

    @property
    def dead(self) -> bool:
        """Whether it is known to have ended; only its own host can know."""
        return self.is_here and not self.live

    def owns(self, locks: dict[str, int]) -> dict[str, int]:
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

    def __init__(self, path: Path, results: str, locks: dict[str, int] | None = None) -> None:
        """Write the claim, or take over the one that the parent process made.

        Args:
            path: File of the claim.
            results: Results folder of the study.
            locks: Snakemake's locks that belong to the run.
        """
        before, pid = read_claim(path), os.getpid()
        claim = Claim(
            path=path, began=before.began if before else time.time(), host=socket.gethostname(),
            pid=pid, process=read_process_start(pid), results=results, locks=locks or {},
        )  # fmt: skip
        self.path = path
        self._file = open_lock(path, 0o666)
        with suppress(LockError):  # then only the process tells whether it lives
            wait_lock(self._file, shared=True)
        _write(claim)

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
        return Claim(**parse_json(read_bytes(path, _BYTES), str(path)), path=path)
    except (OmibenchError, OSError, ValueError, TypeError):
        return None


def read_locks(folder: Path) -> dict[str, int]:
    """Return the names of Snakemake's locks, with the times at which they were written."""
    locks: dict[str, int] = {}
    for path in (folder / LOCKS).glob("*.lock"):
        with suppress(OSError):
            locks[path.name] = path.stat().st_mtime_ns
    return locks


def _write(claim: Claim) -> None:
    # Not replaced by another file: processes hold a lock on this one.
    claim.path.write_text(claim.model_dump_json(exclude={"path"}), "utf-8")


# Who may run.


@contextmanager
def take_folder(results: str, say: Say, folder: Path | None = None) -> Iterator[Path]:
    """Make this process the one that runs a study's graph during a block.

    The lock of a dead run is removed and `say` receives a line about it; jobs that it left on this
    host are stopped first.

    Args:
        results: Results folder of the study, as in its parameters.
        say: Called with each line for the user.
        folder: Folder of the study, by default the current one.

    Yields:
        The file of the claim.

    Raises:
        OmibenchError: If another run of the study lives, or can live on another host.
        OutputError: If the folder cannot be written.
        SomeFailedError: If jobs of a dead run are still in Slurm.
    """
    home = (folder or Path()).resolve()
    with claims_locked(home):
        if (reason := _look(home).find_conflict(results)) is not None:
            raise OmibenchError(reason)
        held = HeldClaim(new_claim_path(home), results)
    before = os.environ.get(CLAIM_ENV)
    os.environ[CLAIM_ENV] = str(held.path)
    try:
        _clear(home, results, say, held.path)
        yield held.path
    finally:
        os.environ.pop(CLAIM_ENV, None)
        if before is not None:
            os.environ[CLAIM_ENV] = before
        with claims_locked(home):
            own = read_claim(held.path)
            held.close(keep=own is not None and bool(own.owns(read_locks(home))))


def read_refusal(claim: Path) -> str | None:
    """Return why the Snakemake of a run did not start, if another run holds the lock."""
    found = read_claim(claim)
    return found.refused if found else None


def claim_in_snakemake(results: str) -> HeldClaim | None:
    """Record this Snakemake and its locks, from its `onstart`.

    Returns:
        The claim to close at the end, or None if it is that of the `omibench run` around it.
    """
    home = Path().resolve()
    with claims_locked(home):
        given = _find_given_claim(home)
        path = given.path if given else new_claim_path(home)
        locks = _list_unowned(read_locks(home), read_claims(home, path))
        held = HeldClaim(path, given.results if given else results, locks)
    os.environ[CLAIM_ENV] = str(path)  # for its jobs
    if given is not None:
        _kept.append(held)
        return None
    return held


class LockFilter(logging.Filter):
    """Replaces Snakemake's message about a held lock by one that says who holds it."""

    _BEGINS = "Error: Directory cannot be locked."

    def __init__(self, results: str) -> None:
        super().__init__()
        self._results = results

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the message of a record; False if `omibench run` prints it."""
        is_refusal = getattr(record, "exception", None) == "LockException"
        if not is_refusal and self._BEGINS not in str(record.msg):
            return True
        reason, is_reported = "another run holds the lock of this folder", False
        with suppress(Exception):  # a message must not end Snakemake in another way
            home = Path().resolve()
            with claims_locked(home):
                given = _find_given_claim(home)
                reason = _look(home, given.path if given else None).describe(self._results)
                if given is not None and is_refusal:
                    _write(given.model_copy(update={"refused": reason}))
                    is_reported = True
        record.msg, record.args = reason, ()
        return not is_reported


_kept: list[HeldClaim] = []
"""Held until this process ends."""


def _look(home: Path, own: Path | None = None) -> _Look:
    # Locks first: what ends or starts later is then never taken for the owner of a new lock.
    locks = read_locks(home)
    claims = read_claims(home, own)
    pids = {claim.pid for claim in claims if claim.live}
    unclaimed = [s for s in find_snakemakes(home) if not pids & {s.pid, *s.parents}]
    return _Look(locks, claims, _list_unowned(locks, claims), unclaimed)


def _list_unowned(locks: dict[str, int], claims: Iterable[Claim]) -> dict[str, int]:
    """Return the locks of no claim."""
    owned = {name for claim in claims for name in claim.owns(locks)}
    return {name: at for name, at in locks.items() if name not in owned}


class _Look(NamedTuple):
    """What is known about a folder at one moment."""

    locks: dict[str, int]
    claims: list[Claim]
    unowned: dict[str, int]
    """The locks of no claim."""
    unclaimed: list[Snakemake]

    def can_own(self, claim: Claim) -> bool:
        """Whether a run that did not record its locks, or one that did, can hold some here."""
        return bool(claim.owns(self.locks) or (not claim.locks and self.unowned))

    def find_conflict(self, results: str) -> str | None:
        """Why another run of the study forbids this one, or None."""
        for claim in reversed(self.claims):
            if claim.results != results:
                continue
            if claim.live:
                return _tell_live(claim)
            if not claim.is_here and self.can_own(claim):
                return _tell_foreign(claim)
        is_starting = any(claim.live and not claim.locks for claim in self.claims)
        if self.unclaimed and self.unowned and not is_starting:
            return _tell_unclaimed(self.unclaimed[-1])
        return None

    def dead(self) -> tuple[list[Claim], dict[str, int]]:
        """The dead runs, oldest first, and the locks that no other run can hold."""
        doubtful = [claim for claim in self.claims if not claim.dead]
        dead = [claim for claim in self.claims if claim.dead]
        uncertain = self.unclaimed or any(self.can_own(c) and not c.locks for c in doubtful)
        locks = {} if uncertain else dict(self.unowned)
        for claim in dead:
            locks |= claim.owns(self.locks)
        return dead, locks

    def describe(self, results: str) -> str:
        """Who holds the locks."""
        if (reason := self.find_conflict(results)) is not None:
            return reason
        owners = [claim for claim in reversed(self.claims) if self.can_own(claim)]
        for claim in owners:
            if claim.live:
                return _tell_live(claim)
        if self.unclaimed and self.unowned:
            return _tell_unclaimed(self.unclaimed[-1])
        for claim in owners:
            if not claim.is_here:
                return _tell_foreign(claim)
        dead = next((claim for claim in reversed(self.claims) if claim.dead), None)
        return f"{_name_dead(dead)}; `omibench run` removes its lock"


def _clear(home: Path, results: str, say: Say, own: Path) -> None:
    """Remove the locks and claims of dead runs, after the jobs that they left have ended."""
    with claims_locked(home):
        dead, locks = _look(home, own).dead()
    for run in select_unfinished_runs(read_runs(Path(results))) if locks else ():
        if run.cluster is not None and not run.live and (jobs := list_jobs(run.cluster)):
            raise SomeFailedError(
                f"{len(jobs)} jobs of the run that began at {format_moment(run.began)} are still "
                "in Slurm; wait for them with `omibench run --wait`, or end them with "
                "`omibench run --cancel`"
            )
    _stop_left_jobs([claim.path for claim in dead], say)
    removed: dict[str, int] = {}
    with claims_locked(home):
        again, still = _look(home, own).dead()
        for name, at in still.items():
            path = home / LOCKS / name
            with suppress(OSError):
                if locks.get(name) == at == path.stat().st_mtime_ns:  # unchanged since it was read
                    path.unlink()
                    removed[name] = at
        for claim in again:
            claim.path.unlink(missing_ok=True)
        if not read_locks(home):  # old claims of other hosts are of no use
            for claim in read_claims(home, own):
                if time.time() - claim.began > ABANDONED_S and not claim.live:
                    claim.path.unlink(missing_ok=True)
    owners: list[Claim | Run | None] = [claim for claim in again if claim.owns(removed)]
    if removed and not owners:
        noted = [run for run in read_runs(Path(results)) if run.end is None and not run.live]
        owners = [*noted[-1:], *again[-1:], None][:1]
    for owner in owners:
        say(f"{_name_dead(owner)}; its lock is removed")


def _find_given_claim(home: Path) -> Claim | None:
    """Return the claim of the `omibench run` that started this process in this folder."""
    path = Path(os.environ.get(CLAIM_ENV, ""))
    return read_claim(path) if path.parent == home / FOLDER else None


def _name_dead(dead: Claim | Run | None) -> str:
    if dead is None:
        return "a run in this folder was ended without cleaning up"
    pid = dead.pid if isinstance(dead, Claim) else dead.owner[1]
    return (
        f"the run that began at {format_moment(dead.began)} (process {pid}) was ended "
        "without cleaning up"
    )


def _tell_live(claim: Claim) -> str:
    end = f"`kill {claim.pid}`" + ("" if claim.is_here else f" on {claim.host}")
    return (
        f"a run of {claim.results} is active ({claim.describe()}): `omibench status --watch` "
        f"shows its progress; wait until it has ended, or end it with {end}, and run again"
    )


def _tell_unclaimed(found: Snakemake) -> str:
    return (
        f"snakemake is active in this folder (process {found.pid} on {socket.gethostname()} since "
        f"{format_moment(found.began)}): wait until it has ended, or end it with "
        f"`kill {found.pid}`, and run again"
    )


def _tell_foreign(claim: Claim) -> str:
    return (
        f"the lock of this folder is of a run on another host ({claim.describe()}), and only that "
        f"host knows whether it is active; if it has ended, run `omibench run` on {claim.host}, or "
        f"delete {claim.path} and run again"
    )


# Processes of this host: those that run Snakemake in a folder, and jobs that a dead one left.

FORWARDED_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_ASKING = {"--dry-run", "--dryrun", "--unlock", "--list-rules", "--summary", "--dag", "--rulegraph"}
_SHORT_DRY_RUN = re.compile(r"-[pqrFk]*n[pqrFk]*")
_CHECK_S = 0.2


class Snakemake(NamedTuple):
    """A process that runs Snakemake: its id, its start in seconds since 1970, and its parents."""

    pid: int
    began: float
    parents: frozenset[int]


def asks_only(words: Sequence[str]) -> bool:
    """Return whether these options of Snakemake run no job."""
    return any(word in _ASKING or _SHORT_DRY_RUN.fullmatch(word) for word in words)


def find_snakemakes(folder: Path) -> list[Snakemake]:
    """Return the running Snakemakes of a folder, without this process and those it is part of."""
    import psutil

    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            words = process.cmdline() if process.pid not in own else []
            if (
                any(Path(word).name == "snakemake" for word in words[:5])
                and not asks_only(words)
                and "python" in Path(process.exe()).name
                and Path(process.cwd()) == folder
                and _lives(process)
            ):
                parents: frozenset[int] = frozenset()
                with suppress(psutil.Error):
                    parents = frozenset(parent.pid for parent in process.parents())
                found.append(Snakemake(process.pid, process.create_time(), parents))
    return found


def _stop_left_jobs(claims: Sequence[Path], say: Say) -> None:
    """Stop the jobs that dead runs left on this host, and wait until they have ended.

    They keep the answers to their requests in flight.
    """
    import psutil

    wanted, jobs = {str(path) for path in claims}, []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if (
                process.pid != os.getpid()
                and _is_command(process.cmdline())
                and process.environ().get(CLAIM_ENV) in wanted
                and _lives(process)
            ):
                jobs.append(process)
    if jobs:
        count = count_noun(len(jobs), "job")
        say(f"{count} of a dead run still ran: stopped, and answers are kept")
    for job in jobs:
        with suppress(Exception):
            job.send_signal(signal.SIGTERM)  # psutil signals no reused id
    while any(_lives(job) for job in jobs):
        pause(_CHECK_S)


def _lives(process: Any) -> bool:
    import psutil

    with suppress(psutil.Error):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False


def _is_command(words: list[str]) -> bool:
    """Return whether this is the program `omibench`, not a worker of one of its commands."""
    return any(os.path.basename(word) == "omibench" for word in words[:4])  # noqa: PTH119


def forward_signals() -> None:
    """Tell the jobs of this process to stop before it handles a signal.

    On SIGTERM and Ctrl-C, Snakemake waits for running jobs without notifying them: only a terminal
    and a cluster signal all processes of a job.
    """
    for number in FORWARDED_SIGNALS:
        before = signal.getsignal(number)
        if callable(before):
            signal.signal(number, partial(_stop, before))


def _stop(before: Any, number: int, frame: FrameType | None) -> None:
    """Send SIGTERM to each `omibench` that this process has started, through shells or not.

    One that a terminal has already interrupted ignores it.
    """
    import psutil  # installed with Snakemake

    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error, OSError):
            if _is_command(process.cmdline()):
                os.kill(process.pid, signal.SIGTERM)
    before(number, frame)
