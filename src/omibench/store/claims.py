"""Claims: the requests that a process is sending, so that no other sends them too.

Before sending, a process writes the keys of its requests into a file and locks it until they are
answered. The lock ends with the process in any case, so the claim of a killed process blocks
nothing. A claim counts as held if its lock is in doubt. If the file system reports that it has no
locks at all, other processes' claims are ignored.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

from omibench.errors import StoreError, reason_of
from omibench.files.locks import LockError, has_none, hold, lock_path, try_lock
from omibench.files.modes import make_folder, open_new
from omibench.store.liveness import new_name

CLAIMS = "claims"
"""Folder of the store with a folder of claims per model."""
SUFFIX = ".keys"
TURN = ".turn"
"""File that a process locks while it reads the claims and writes its own; never deleted."""
TURN_S = 0.01


@contextmanager
def claim(folder: Path, keys: Iterable[str]) -> Iterator[set[str]]:
    """Claim keys for the duration of the block; yields those that no other process has claimed.

    `folder` contains the claims of one model. Raises StoreError if it cannot be written or locked.
    """
    try:
        make_folder(folder)
        with _turn(folder):
            free = set(keys) - _list_claims(folder)
            claim_file = _write(folder, free) if free else None
    except LockError as error:
        raise StoreError(
            f"{folder}: cannot be locked ({error.strerror}), and without a lock two processes may "
            "send and pay for the same requests; mount its disk with locks, or move "
            "`study.store` to another disk"
        ) from None
    except OSError as error:
        raise StoreError(f"{folder}: cannot be used: {reason_of(error, True)}") from None
    try:
        yield free
    finally:
        if claim_file is not None:
            path, file = claim_file
            path.unlink(missing_ok=True)
            os.close(file)


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Serialise reading the claims of others and writing one's own."""
    os.close(open_new(folder / TURN, os.O_RDWR))
    while True:
        with lock_path(folder / TURN) as locked:
            if locked:
                yield
                return
        sleep(TURN_S)


def _write(folder: Path, keys: set[str]) -> tuple[Path, int]:
    path = folder / new_name(SUFFIX)
    file = open_new(path, os.O_RDWR | os.O_EXCL)
    try:
        try_lock(file)
    except LockError as error:
        if not has_none(error):
            os.close(file)
            path.unlink(missing_ok=True)
            raise
    with os.fdopen(file, "w", closefd=False) as text:
        text.write("\n".join(sorted(keys)))
    return path, file


def _list_claims(folder: Path) -> set[str]:
    keys: set[str] = set()
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        with os.fdopen(file, "r+") as text:
            if hold(file):
                path.unlink(missing_ok=True)  # Its process has ended, or has just released it.
            else:
                keys |= set(text.read().split())
    return keys
