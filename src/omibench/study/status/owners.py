"""Who may run a study's graph: one run at a time, and the lock of a dead one is removed."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from omibench.errors import OmibenchError, SomeFailedError
from omibench.study.status.claims import (
    CLAIM_ENV,
    FOLDER,
    Claim,
    HeldClaim,
    claims_locked,
    format_moment,
    new_claim_path,
    note_refusal,
    read_claim,
    read_claims,
    read_locks,
    remove_locks,
)
from omibench.study.status.processes import Snakemake, find_snakemakes, stop_left_jobs
from omibench.study.status.runs import ABANDONED_S, read_runs
from omibench.study.status.text import format_count

Say = Callable[[str], object]


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
        look = _Look.at(home)
        if (reason := look.find_conflict(results)) is not None:
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
        locks, others = read_locks(home), read_claims(home, path)
        owned = {name for claim in others for name in claim.owns(locks)}
        mine = {name: at for name, at in locks.items() if name not in owned}
        held = HeldClaim(path, given.results if given else results, mine)
    os.environ[CLAIM_ENV] = str(path)  # for its jobs
    if given is not None:
        _Kept.claims.append(held)
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
                reason = _Look.at(home, given.path if given else None).describe(self._results)
                if given is not None and is_refusal:
                    note_refusal(given, reason)
                    is_reported = True
        record.msg, record.args = reason, ()
        return not is_reported


class _Kept:
    claims: list[HeldClaim] = []
    """Held until this process ends."""


@dataclass(frozen=True)
class _Look:
    """What is known about a folder at one moment."""

    home: Path
    locks: dict[str, int]
    claims: list[Claim]
    unclaimed: list[Snakemake]

    @staticmethod
    def at(home: Path, own: Path | None = None) -> _Look:
        # Locks first: what ends or starts later is then never taken for the owner of a new lock.
        locks = read_locks(home)
        claims = read_claims(home, own)
        pids = {claim.pid for claim in claims if claim.live}
        unclaimed = [
            found for found in find_snakemakes(home) if not pids & {found.pid, *found.parents}
        ]
        return _Look(home, locks, claims, unclaimed)

    def list_unowned(self) -> dict[str, int]:
        """The locks of no claim."""
        owned = {name for claim in self.claims for name in claim.owns(self.locks)}
        return {name: at for name, at in self.locks.items() if name not in owned}

    def can_own(self, claim: Claim) -> bool:
        """Whether a run that did not record its locks, or one that did, can hold some here."""
        return bool(claim.owns(self.locks) or (not claim.locks and self.list_unowned()))

    def find_conflict(self, results: str) -> str | None:
        """Why another run of the study forbids this one, or None."""
        for claim in reversed(self.claims):
            if claim.results != results:
                continue
            if claim.live:
                return _tell_live(claim)
            if not claim.is_here and self.can_own(claim):
                return _tell_foreign(claim)
        if self.unclaimed and self.list_unowned() and not self._starting():
            return _tell_unclaimed(self.unclaimed[-1])
        return None

    def dead(self) -> tuple[list[Claim], dict[str, int]]:
        """The dead runs, oldest first, and the locks that no other run can hold."""
        doubtful = [claim for claim in self.claims if not claim.dead]
        dead = [claim for claim in self.claims if claim.dead]
        uncertain = self.unclaimed or any(self.can_own(c) and not c.locks for c in doubtful)
        locks = {} if uncertain else self.list_unowned()
        for claim in dead:
            locks |= claim.owns(self.locks)
        return dead, locks

    def describe(self, results: str) -> str:
        """Who holds the locks."""
        if (reason := self.find_conflict(results)) is not None:
            return reason
        for claim in reversed(self.claims):
            if claim.live and self.can_own(claim):
                return _tell_live(claim)
        if self.unclaimed and self.list_unowned():
            return _tell_unclaimed(self.unclaimed[-1])
        for claim in reversed(self.claims):
            if not claim.is_here and self.can_own(claim):
                return _tell_foreign(claim)
        dead, _ = self.dead()
        return f"{_name_dead(dead[-1] if dead else None)}; `omibench run` removes its lock"

    def _starting(self) -> bool:
        return any(claim.live and not claim.locks for claim in self.claims)


def _clear(home: Path, results: str, say: Say, own: Path) -> None:
    with claims_locked(home):
        dead, locks = _Look.at(home, own).dead()
    if locks:
        _refuse_cluster_jobs(results)
    for count in stop_left_jobs([claim.path for claim in dead]):
        say(f"{format_count(count, 'job')} of a dead run still ran: stopped, and answers are kept")
    with claims_locked(home):
        again, still = _Look.at(home, own).dead()
        removed = remove_locks(home, {n: at for n, at in still.items() if locks.get(n) == at})
        owners = [claim for claim in again if claim.owns({n: locks[n] for n in removed})]
        for claim in again:
            claim.path.unlink(missing_ok=True)
        _forget_foreign(home, own)
    for claim in owners:
        say(f"{_name_dead(claim)}; its lock is removed")
    if removed and not owners:
        say(f"{_name_dead(_find_noted(results) or (again[-1] if again else None))}; "
            "its lock is removed")  # fmt: skip


def _forget_foreign(home: Path, own: Path) -> None:
    """Remove old claims of other hosts, whose locks are gone."""
    locks = read_locks(home)
    for claim in read_claims(home, own):
        is_old = time.time() - claim.began > ABANDONED_S
        if is_old and not locks and not claim.live:
            claim.path.unlink(missing_ok=True)


def _refuse_cluster_jobs(results: str) -> None:
    from omibench.study.status.runs import list_jobs, select_unfinished_runs

    for run in select_unfinished_runs(read_runs(Path(results))):
        if run.cluster is not None and not run.live and (jobs := list_jobs(run.cluster)):
            raise SomeFailedError(
                f"{len(jobs)} jobs of the run that began at {format_moment(run.began)} are still "
                "in Slurm; wait for them with `omibench resume --wait`, or end them with "
                "`omibench resume --cancel`"
            )


def _find_noted(results: str) -> Claim | None:
    """Return the last dead run according to the notes of the study's runs."""
    runs = [run for run in read_runs(Path(results)) if run.end is None and not run.live]
    if not runs:
        return None
    host, pid, process = runs[-1].owner
    return Claim(runs[-1].path, runs[-1].began, host, pid, process, results)


def _find_given_claim(home: Path) -> Claim | None:
    """Return the claim of the `omibench run` that started this process in this folder."""
    path = Path(os.environ.get(CLAIM_ENV, ""))
    return read_claim(path) if path.parent == home / FOLDER else None


def _name_dead(claim: Claim | None) -> str:
    if claim is None:
        return "a run in this folder was ended without cleaning up"
    return (
        f"the run that began at {format_moment(claim.began)} (process {claim.pid}) was ended "
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
