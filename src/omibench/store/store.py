"""Claims: the requests that a process is sending, so that no other sends them too.

Before sending, a process writes the keys of its requests into a file and locks it until they are
answered. The lock ends with the process in any case, so the claim of a killed process blocks
nothing. A claim counts as held if its lock is in doubt. If the file system reports that it has no
locks at all, other processes' claims are ignored.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any, Self

from omibench.errors import MissingInputError, OmibenchError, StoreError, reason_of
from omibench.files.locks import LockError, has_none, hold, lock_path, try_lock
from omibench.files.reading import read_json
from omibench.files.writing import make_folder, open_new
from omibench.store.images import ImageStore
from omibench.store.key import canonical
from omibench.store.ledger import LEDGER
from omibench.store.partition import CARD, Partition
from omibench.store.processes import new_name

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


# The store: a folder with one partition per model, and the pictures that all of them share.

log = logging.getLogger("omibench.store")
CARD_BYTES = 1 << 20
MARKS = ("images", "batches", "absorbed.txt", CLAIMS, LEDGER)
"""Names that identify a store without partitions."""
_PARTITION = re.compile(r".*-[0-9a-f]{12}")


class Store:
    """Every response ever received, in one folder that many processes can share."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.images = ImageStore(self.folder / "images")
        self._partitions: dict[str, Partition] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open_partition(self, identity: Mapping[str, Any]) -> Partition:
        """Return the partition of a model, indexed once; damaged lines cause a warning.

        Raises StoreError if the folder cannot be used or belongs to another model.
        """
        name = partition_name(identity)
        if name not in self._partitions:
            partition = Partition(self._folder(name, identity), dict(identity))
            _report(partition)
            self._partitions[name] = partition
        return self._partitions[name]

    def close(self) -> None:
        """Sync and close every partition."""
        for partition in self._partitions.values():
            partition.close()
        self._partitions.clear()

    def _folder(self, name: str, identity: Mapping[str, Any]) -> Path:
        folder = self.folder / name
        owner = read_card(folder) or dict(identity)
        if canonical(owner) != canonical(dict(identity)):
            raise StoreError(f"{folder / CARD}: identifies another model than the requested one")
        return folder


def partition_name(identity: Mapping[str, Any]) -> str:
    """Return the folder name of a model: provider, served id, 12 digits of its identity hash."""
    words = f"{identity.get('provider', 'model')}-{identity.get('id', '')}"
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", words).strip("-_.")[:60]
    return f"{slug}-{hashlib.sha256(canonical(dict(identity))).hexdigest()[:12]}"


def read_card(folder: Path) -> dict[str, Any] | None:
    """Return the identity of the model of a partition's folder; None without a card.

    Raises StoreError if the card cannot be read.
    """
    card = folder / CARD
    if not os.path.lexists(card):
        return None
    try:
        owner = read_json(card, CARD_BYTES)
    except OmibenchError as error:
        reason = str(error).removeprefix(f"{card}: ")
        raise StoreError(f"{card}: cannot be used: {reason}") from None
    if not isinstance(owner, dict):
        raise StoreError(f"{card}: cannot be used: it contains no model")
    return owner


def partition_folders(store: Path) -> list[Path]:
    """Return the folder of every partition of a store, by name.

    Raises MissingInputError if the folder does not exist or is not a store.
    """
    if not store.is_dir():
        raise MissingInputError(
            f"{store}: there is no store in this folder; give its folder with --store"
        )
    if not _is_store(store) and any(not p.name.startswith(".") for p in store.iterdir()):
        within = store / "store"
        meant = f"; is {within} meant?" if _is_store(within) else ""
        raise MissingInputError(f"{store}: is not a store: it contains no partition{meant}")
    return _partitions(store)


def _is_store(folder: Path) -> bool:
    return folder.is_dir() and (
        any((folder / name).exists() for name in MARKS) or bool(_partitions(folder))
    )


def _partitions(store: Path) -> list[Path]:
    return sorted(p for p in store.iterdir() if p.is_dir() and _PARTITION.fullmatch(p.name))


def _report(partition: Partition) -> None:
    if not partition.damaged_lines:
        return
    first = partition.damaged_lines[0]
    log.warning(
        "%s: %d of its lines cannot be read and were skipped; the first is %s, line %d: %s",
        partition.folder, sum(damage.lines for damage in partition.damaged_lines),
        first.segment, first.line, first.reason,
    )  # fmt: skip
