"""Sharing a store: what is new in it goes into an archive, what others archived comes back.

An archive is a folder of increments. Each is a small store of its own, packed, that never changes
and bears a name of its own, so that DVC can track it, git merges what two people have added, and
nothing that tracks it ever touches the live store (docs/keeping.md).
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
from omibench.files.atomic import write_private
from omibench.store.contents import card_fault, image_files, open_folder
from omibench.store.merge import Merged, merge_store
from omibench.store.partition.compact import compact_partition
from omibench.store.partition.partition import Partition
from omibench.store.store import Store, partition_folders

ABSORBED = "absorbed.txt"
"""File of a store that lists the increments whose content it holds."""


@dataclass(frozen=True)
class Increment:
    """What one push has added to an archive."""

    folder: Path
    responses: int
    images: int


def increments(archive: Path) -> list[Path]:
    """The increments of an archive, oldest first; none where there is no archive."""
    if not archive.is_dir():
        return []
    return sorted(p for p in archive.iterdir() if p.is_dir() and not p.name.startswith("."))


def write_increment(store: Path, archive: Path) -> Increment | None:
    """Copy what no increment holds yet into a new one; None when there is nothing new.

    The store is only read. Damaged lines stay behind. Raises MissingInputError when there is no
    store, and StoreError when the archive cannot be written.
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
    """Merge every increment into `store` that it does not hold yet; raises as `merge_store` does.

    An increment with damage is merged as far as it is sound, and looked at again next time.
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
    """The files by which DVC knows the increments. Raises MissingInputError without any."""
    paths = sorted(str(path) for path in archive.glob("*.dvc"))
    if not paths:
        raise MissingInputError(
            f"{archive}: holds nothing that was shared; `omibench store push` begins it, and "
            "`git pull` brings what others have pushed"
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
            target.append_line(key, line)
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
