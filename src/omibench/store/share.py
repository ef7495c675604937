"""Shares a store: new responses go into an archive, and archived ones of others come back.

An archive is a folder of increments. Each is a small, packed store with a unique name that never
changes, so that DVC can track it, git merges the increments of two users, and no tracking tool ever
touches the live store (docs/keeping.md).
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from omibench.errors import MissingInputError, StoreError, reason_of
from omibench.files.outputs import write_private
from omibench.store.compaction import compact_partition
from omibench.store.contents import card_fault, image_files, open_folder
from omibench.store.merge import Merged, merge_store
from omibench.store.store import Partition, Store, partition_folders

ABSORBED = "absorbed.txt"
"""File of a store that lists the increments already merged into it."""


@dataclass(frozen=True)
class Increment:
    """The increment that one push has added to an archive."""

    folder: Path
    responses: int
    images: int


def increments(archive: Path) -> list[Path]:
    """Return the increments of an archive, oldest first; none without an archive."""
    if not archive.is_dir():
        return []
    return sorted(p for p in archive.iterdir() if p.is_dir() and not p.name.startswith("."))


def write_increment(store: Path, archive: Path) -> Increment | None:
    """Write responses that are in no increment yet to a new one; None if there are none.

    The store is only read. Damaged lines are skipped. Raises MissingInputError if the store does
    not exist, and StoreError if the archive cannot be written.
    """
    folders = partition_folders(store)
    older = increments(archive)
    part = archive / f".{secrets.token_hex(6)}.part"
    digest = hashlib.sha256()
    try:
        with Store(part) as new:
            keys = [
                key
                for folder in folders
                if card_fault(folder) is None
                for key in _copy_responses(folder, older, new)
            ]
        images = _copy_images(store, older, part)
        for name in [*sorted(keys), *images]:
            digest.update(f"{name}\n".encode())
        if not keys and not images:
            return None
        for folder in partition_folders(part):
            compact_partition(folder)
        target = archive / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{digest.hexdigest()[:12]}"
        part.rename(target)
    except OSError as error:
        raise StoreError(f"{archive}: cannot be written: {reason_of(error, True)}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    _note(store, [target.name])
    return Increment(target, len(keys), len(images))


def absorb(archive: Path, store: Path) -> list[Merged]:
    """Merge every new increment into `store`; raises as `merge_store` does.

    The valid part of a damaged increment is merged, and the increment is retried next time.
    """
    absorbed = _read_absorbed(store)
    merges = []
    for increment in increments(archive):
        if increment.name not in absorbed:
            merges.append(merge_store(increment, store, links=True))
            if not merges[-1].faults:
                _note(store, [increment.name])
    return merges


def pointers(archive: Path) -> list[str]:
    """Return the DVC files of the increments. Raises MissingInputError without any."""
    paths = sorted(str(path) for path in archive.glob("*.dvc"))
    if not paths:
        raise MissingInputError(
            f"{archive}: contains no shared responses; create it with `omibench store push`, or "
            "fetch those of others with `git pull`"
        )
    return paths


def _copy_responses(folder: Path, older: Iterable[Path], new: Store) -> list[str]:
    source = open_folder(folder, thorough=True)
    shared_keys: set[str] = set()
    for increment in older:
        if (increment / folder.name).is_dir():
            partition = open_folder(increment / folder.name)
            shared_keys.update(partition)
            partition.close()
    fresh = [key for key in source if key not in shared_keys]
    target: Partition | None = None
    copied = []
    for key in fresh:
        line = source.line(key)
        if line is not None:
            target = target or new.open_partition(source.identity)
            target.append_line(line)
            copied.append(key)
    source.close()
    return copied


def _copy_images(store: Path, older: Iterable[Path], part: Path) -> list[str]:
    shared_names = {path.name for increment in older for path in image_files(increment)}
    copied = []
    for path in image_files(store):
        if path.name not in shared_names:
            write_private(part / "images" / path.name[:2] / path.name, path.read_bytes())
            copied.append(path.name)
    return copied


def _read_absorbed(store: Path) -> set[str]:
    try:
        return set((store / ABSORBED).read_text("utf-8").split())
    except OSError:
        return set()


def _note(store: Path, names: Iterable[str]) -> None:
    text = "".join(f"{name}\n" for name in sorted(_read_absorbed(store) | set(names)))
    write_private(store / ABSORBED, text.encode())
