"""Compaction: the closed segments of a partition become one pack, and are then removed.

Safe against a kill at any moment: the pack is written under another name, read back, synced and
renamed, and only then are its sources removed. A kill in between leaves responses twice, never
none, and the next compaction cleans up. Two concurrent compactions of one partition are harmless
too.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import StoreError, reason_of
from omibench.files.locks import lock_path
from omibench.files.outputs import open_new, replace_atomically, sync_folder
from omibench.store import packs as pack
from omibench.store import segments as segment
from omibench.store.packs import PackFile, write_pack
from omibench.store.segments import (
    CLOSED,
    Body,
    OpenFiles,
    SegmentFile,
    StoredFile,
    is_closed,
    new_name,
    parse_values,
    remove_mark,
)

SET_ASIDE = ".damaged"
"""Suffix of the file with the damaged lines of a compacted segment."""
LOCK = ".compacting"
"""File of a partition that is locked during compaction; never deleted."""
LEFTOVER_S = 86400.0
"""Seconds after which an unfinished file counts as abandoned."""


class Compacted(NamedTuple):
    """The result of one compaction of a partition."""

    partition: str
    responses: int = 0
    """Responses of the new pack; 0 if there was nothing to do."""
    segments: int = 0
    packs: int = 0
    """Segments and older packs that it replaces."""
    duplicates: int = 0
    """Lines that were skipped because an earlier one has the same key."""
    set_aside: int = 0
    """Damaged lines that were moved to separate files."""
    bytes_before: int = 0
    bytes_after: int = 0
    still_written: int = 0
    """Segments that were skipped because their writer may be running."""


class _Row(NamedTuple):
    role: str
    setting: str
    key: str
    file: int


def compact_partition(folder: Path) -> Compacted:
    """Pack the closed segments of a partition's folder, and older packs that are no larger.

    Raises StoreError if the folder cannot be written, or another process is compacting it.
    """
    try:
        os.close(open_new(folder / LOCK, os.O_RDWR))
        with lock_path(folder / LOCK) as locked:
            if not locked:
                raise StoreError(f"{folder}: another process is compacting it; wait for it")
            _clear_leftovers(folder)
            return _compact(folder)
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{folder}: cannot be compacted, and was not: {reason_of(error, True)}"
        ) from None


def _compact(folder: Path) -> Compacted:
    segments = sorted(folder.glob(f"*{segment.SUFFIX}"))
    closed = [path for path in segments if is_closed(path)]
    still_written = len(segments) - len(closed)
    if not closed:
        return Compacted(folder.name, still_written=still_written)
    files = OpenFiles()
    closed_files: list[StoredFile] = [SegmentFile(path, files) for path in closed]
    for file in closed_files:
        file.load(thorough=True)
    packs = _packs_to_join(folder, sum(len(file.places) for file in closed_files))
    sources = [*packs, *closed_files]
    try:
        rows, duplicates = _order(sources)
        before = sum(file.path.stat().st_size for file in sources)
        size = _write(folder, sources, rows) if rows else 0
        aside = sum(_set_aside(file) for file in closed_files)
        sync_folder(folder)
        for file in sources:
            _remove(file.path)
    finally:
        for file in sources:
            file.close()
    return Compacted(
        folder.name,
        len(rows),
        len(closed_files),
        len(packs),
        duplicates,
        aside,
        before,
        size,
        still_written,
    )


def _packs_to_join(folder: Path, responses: int) -> list[StoredFile]:
    """Return the packs that are no larger than their additions: a partition has few packs."""
    packs = [PackFile(path) for path in sorted(folder.glob(f"*{pack.SUFFIX}"))]
    for file in packs:
        file.load(thorough=True)
    joined: list[PackFile] = []
    for file in sorted(packs, key=lambda file: len(file.places)):
        # A damaged pack is left unchanged, since it may still be restored.
        if not file.damaged and len(file.places) <= responses:
            joined.append(file)
            responses += len(file.places)
    return sorted(joined, key=lambda file: file.path.name)


def _order(sources: Sequence[StoredFile]) -> tuple[list[_Row], int]:
    """Return the first line of every key, by role, setting and key; and the number skipped."""
    rows: dict[str, _Row] = {}
    for number, file in enumerate(sources):
        for raw in file.places:
            key = raw.hex()
            if key not in rows:
                tags = parse_values(file.body(key).tags)
                rows[key] = _Row(tags.get("role", ""), tags.get("setting", ""), key, number)
    lines = sum(len(file.places) + file.repeated for file in sources)
    return sorted(rows.values()), lines - len(rows)


def _write(folder: Path, sources: Sequence[StoredFile], rows: Sequence[_Row]) -> int:
    """Write the new pack under its final name; returns its size in bytes."""
    path = folder / new_name(pack.SUFFIX)

    def bodies() -> Iterator[tuple[str, Body]]:
        return ((row.key, sources[row.file].body(row.key)) for row in rows)

    with replace_atomically(path) as partial:
        _read_back(partial, write_pack(partial, bodies()))
    sync_folder(folder)
    return path.stat().st_size


def _read_back(partial: Path, keys: list[str]) -> None:
    """Check every row as read back from the disk, before anything is removed."""
    copy = PackFile(partial)
    copy.load(thorough=True)
    copy.close()
    if copy.damaged or [raw.hex() for raw in copy.places] != keys:
        reason = copy.damaged[0].reason if copy.damaged else "rows are missing"
        raise StoreError(f"{partial}: was not written correctly ({reason}); nothing was removed")


def _set_aside(file: StoredFile) -> int:
    """Move the damaged lines of a segment to a file next to it; returns their number."""
    if not file.damaged:
        return 0
    line_numbers = {damage.line for damage in file.damaged}
    with file.path.open("rb") as lines:
        damaged_lines = [line for number, line in enumerate(lines, 1) if number in line_numbers]
    target = file.path.with_name(file.path.name + SET_ASIDE)
    with os.fdopen(open_new(target, os.O_WRONLY | os.O_TRUNC), "wb") as out:
        out.write(
            b"".join(line if line.endswith(b"\n") else line + b"\n" for line in damaged_lines)
        )
        out.flush()
        os.fsync(out.fileno())
    return len(damaged_lines)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    remove_mark(path)


def _clear_leftovers(folder: Path) -> None:
    """Remove unfinished files of killed processes, and marks without their segment."""
    for path in folder.glob(".*.part"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > LEFTOVER_S:
                path.unlink()
    for path in folder.glob(f"*{CLOSED}"):
        if not path.with_suffix("").exists():
            path.unlink(missing_ok=True)
