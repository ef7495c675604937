"""The index of a file of responses: its keys and their places, without reading the texts.

`<file>.idx` is one line of JSON followed by fixed-width records (key, two numbers). It is only a
cache: it is valid while the file has the size and modification time in the index and its own
checksum matches; it is rebuilt if missing or stale, and every place in it is verified on use.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from omibench.files.atomic import write_private
from omibench.store.files import NoFileError, open_stored
from omibench.store.partition.counts import Counts

INDEX_VERSION = 1
INDEX_BYTES = 4 << 30
SUFFIX = ".idx"
_RECORD = struct.Struct("<32sQQ")


class Damage(NamedTuple):
    """Unreadable lines: the file, the first of them, the reason, and their number."""

    segment: str
    line: int
    reason: str
    lines: int = 1


class ResponsePlace(NamedTuple):
    """Place of a response: offset and length in a segment; row group and row in a pack."""

    first: int
    second: int


class State(NamedTuple):
    """Detects a change of a file: size in bytes, modification time in ns."""

    size: int
    modified_ns: int


@dataclass
class FileIndex:
    """All information about a file that opening a partition needs."""

    records: bytearray = field(default_factory=bytearray)
    schemas: set[int] = field(default_factory=set)
    damaged: list[Damage] = field(default_factory=list)
    covered: int = 0
    """Bytes of whole lines that were indexed."""
    lines: int = 0
    """Whole lines in them, valid or not."""
    closed: bool = False
    """Whether the file's writer closed it."""
    counts: Counts | None = None
    """Counts over its valid lines; None if not counted."""

    def __len__(self) -> int:
        return len(self.records) // _RECORD.size

    def add(self, key: str, place: ResponsePlace) -> None:
        """Index one response."""
        self.records += _RECORD.pack(bytes.fromhex(key), place.first, place.second)

    def __iter__(self) -> Iterator[tuple[bytes, int, int]]:
        """Yield each response as (key of 32 bytes, and the two numbers of its place)."""
        return _RECORD.iter_unpack(self.records)

    def last(self) -> ResponsePlace | None:
        """Return the place of the last indexed response."""
        if not self.records:
            return None
        return ResponsePlace(
            *_RECORD.unpack_from(self.records, len(self.records) - _RECORD.size)[1:]
        )


def read_state(path: Path) -> State:
    """Return size and modification time of a file. Raises OSError."""
    status = path.stat()
    return State(status.st_size, status.st_mtime_ns)


def index_path(path: Path) -> Path:
    """Return the path of a file's index."""
    return path.with_name(path.name + SUFFIX)


def write_index(path: Path, index: FileIndex, state: State) -> None:
    """Write the index of `path`, for its content at `state`.

    In a read-only folder no index is written, without further effect.
    """
    head = {
        "index": INDEX_VERSION,
        "size": state.size,
        "modified_ns": state.modified_ns,
        "covered": index.covered,
        "lines": index.lines,
        "closed": index.closed,
        "schemas": sorted(index.schemas),
        "counts": None if index.counts is None else index.counts.values(),
        "damaged": [list(damage[1:]) for damage in index.damaged],
    }
    text = json.dumps(head)
    crc = _crc(text.encode(), index.records)
    with contextlib.suppress(OSError):
        write_private(
            index_path(path), b"%08x %s\n%s" % (crc, text.encode("ascii"), bytes(index.records))
        )


def read_index(path: Path) -> tuple[FileIndex, State] | None:
    """Read the index of a file in the given state, or None if it is not valid."""
    try:
        with open_stored(index_path(path)) as file:
            if os.fstat(file.fileno()).st_size > INDEX_BYTES:
                return None
            data = file.read()
    except (OSError, NoFileError):
        return None
    first, _, records = data.partition(b"\n")
    crc, _, text = first.partition(b" ")
    if crc != b"%08x" % _crc(text, records) or len(records) % _RECORD.size:
        return None
    try:
        head = json.loads(text)
        if head["index"] != INDEX_VERSION:
            return None
        index = FileIndex(
            records=bytearray(records),
            schemas={int(schema) for schema in head["schemas"]},
            damaged=[
                Damage(path.name, int(line), str(reason), int(lines))
                for line, reason, lines in head["damaged"]
            ],
            covered=int(head["covered"]),
            lines=int(head["lines"]),
            closed=head["closed"] is True,
            counts=Counts.of(head["counts"]) if head.get("counts") else None,
        )
        return index, State(int(head["size"]), int(head["modified_ns"]))
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError):
        return None


def is_closed_by_index(path: Path) -> bool:
    """Return whether the header of a file's index marks it as closed; places are not read."""
    try:
        with open_stored(index_path(path)) as file:
            head = json.loads(file.readline(1 << 20).partition(b" ")[2])
            return head["closed"] is True and head["size"] == path.stat().st_size
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return False


def drop_index(path: Path) -> None:
    """Remove the index of a file, if any."""
    with contextlib.suppress(OSError):
        index_path(path).unlink(missing_ok=True)


def _crc(text: bytes, records: bytes | bytearray) -> int:
    return zlib.crc32(records, zlib.crc32(text))
