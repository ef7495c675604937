"""Processes of this host: those that run Snakemake in a folder, and jobs that a dead one left."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from omibench.models.api.stop import pause
from omibench.study.status.claims import CLAIM_ENV, is_command

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
    return [
        Snakemake(process.pid, process.create_time(), _list_parents(process))
        for process in _list_processes()
        if process.pid not in own and _runs_in(process, folder)
    ]


def stop_left_jobs(claims: Sequence[Path]) -> Iterator[int]:
    """Stop the jobs that dead runs left on this host, and wait until they have ended.

    They keep the answers to their requests in flight. Yields their number first, if there are any.
    """
    jobs = _find_left_jobs(claims)
    if jobs:
        yield len(jobs)
    for job in jobs:
        with contextlib.suppress(Exception):
            job.send_signal(signal.SIGTERM)  # psutil signals no reused id
    while any(_lives(job) for job in jobs):
        pause(_CHECK_S)


def _find_left_jobs(claims: Sequence[Path]) -> list[Any]:
    import psutil

    wanted, found = {str(path) for path in claims}, []
    for process in _list_processes():
        with contextlib.suppress(psutil.Error, OSError):
            if (
                process.pid != os.getpid()
                and is_command(process.cmdline())
                and process.environ().get(CLAIM_ENV) in wanted
                and _lives(process)
            ):
                found.append(process)
    return found


def _list_parents(process: Any) -> frozenset[int]:
    import psutil

    with contextlib.suppress(psutil.Error):
        return frozenset(parent.pid for parent in process.parents())
    return frozenset()


def _list_processes() -> list[Any]:
    import psutil

    return list(psutil.process_iter())


def _lives(process: Any) -> bool:
    import psutil

    with contextlib.suppress(psutil.Error):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False


def _runs_in(process: Any, folder: Path) -> bool:
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        words = process.cmdline()
        is_snakemake = any(Path(word).name == "snakemake" for word in words[:5])
        if is_snakemake and not asks_only(words) and "python" in Path(process.exe()).name:
            return Path(process.cwd()) == folder and _lives(process)
    return False
