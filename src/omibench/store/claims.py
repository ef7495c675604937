"""Claims: what somebody is buying at this moment, so that nobody else buys it too.

Whoever is about to send requests writes their keys into a file and holds a lock on it until they
are answered. The lock goes with its process, however that ends, so a claim of the dead holds
nobody up. Where the file system has no locks nothing is claimed by others.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep

from omibench.errors import StoreError, reason_of
from omibench.store.liveness import hold, holding, new_name

CLAIMS = "claims"
"""Folder of the store in which each model has a folder of claims."""
SUFFIX = ".keys"
TURN_S = 0.01


@contextmanager
def claim(folder: Path, keys: Iterable[str]) -> Iterator[set[str]]:
    """Claim keys for as long as the block lasts; the value is those that nobody else has claimed.

    `folder` holds the claims of one model. Raises StoreError when it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _turn(folder):
            free = set(keys) - _claimed(folder)
            own = _write(folder, free) if free else None
    except OSError as error:
        raise StoreError(f"{folder}: cannot be used: {reason_of(error)}") from None
    try:
        yield free
    finally:
        if own is not None:
            path, file = own
            path.unlink(missing_ok=True)
            os.close(file)


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """One at a time looks at the claims of others and writes its own."""
    while True:
        with holding(folder) as ours:
            if ours:
                yield
                return
        sleep(TURN_S)


def _write(folder: Path, keys: set[str]) -> tuple[Path, int]:
    path = folder / new_name(SUFFIX)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    hold(file)
    with os.fdopen(file, "w", closefd=False) as text:
        text.write("\n".join(sorted(keys)))
    return path, file


def _claimed(folder: Path) -> set[str]:
    keys: set[str] = set()
    for path in folder.glob(f"*{SUFFIX}"):
        with suppress(FileNotFoundError), path.open() as file:
            if hold(file.fileno()):
                path.unlink(missing_ok=True)  # Its owner is dead, or has just let go of it.
            else:
                keys |= set(file.read().split())
    return keys
