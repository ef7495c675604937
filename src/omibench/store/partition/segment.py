"""Segments: append-only files of responses, one writer each, one JSON line per response."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from omibench.errors import StoreError, reason_of
from omibench.files.locks import hold
from omibench.files.modes import make_folder, open_new, tighten
from omibench.store.files import NoFileError, OpenFiles, open_stored
from omibench.store.liveness import new_name
from omibench.store.partition.counts import Counts
from omibench.store.partition.index import (
    Damage,
    FileIndex,
    ResponsePlace,
    State,
    read_index,
    read_state,
    write_index,
)
from omibench.store.partition.line import Body, line_fault, parse_line, read_key, read_schema

SUFFIX = ".jsonl"
LINE_BYTES = 64 << 20
"""Maximum bytes of a line, which a reader holds in memory at once."""
INDEX_WORTH = 1 << 20
"""Bytes that a reader scans before it writes an index for the next one."""


class SegmentFile:
    """A segment for reading. Every method can raise FileNotFoundError: it was compacted."""

    def __init__(self, path: Path, files: OpenFiles) -> None:
        self.path = path
        self.index = FileIndex()
        self._files = files

    def load(self, thorough: bool = False) -> None:
        """Index the segment, from its index file as far as it is valid, unless `thorough`."""
        try:
            self.index = load_segment(self.path, thorough)
        except NoFileError as error:
            self.index = FileIndex(damaged=[Damage(self.path.name, 1, str(error))])

    def is_current(self) -> bool:
        """Return whether nothing was appended since `load`."""
        if not self.path.is_file():
            return self.path.exists() or read_state(self.path).size < 0
        torn = any(damage.line > self.index.lines for damage in self.index.damaged)
        return not torn and read_state(self.path).size == self.index.covered

    def line(self, key: str, place: ResponsePlace) -> bytes:
        """Return the verified line of `key`. Raises ValueError if it is not valid."""
        if place.second > LINE_BYTES:
            raise ValueError("its index refers to a place that does not exist")
        line = self._files.read(self.path, place.first, place.second)
        fault = line_fault(line)
        if fault is not None:
            raise ValueError(fault)
        if read_key(line) != key:
            raise ValueError("its index has another key")
        return line

    def body(self, key: str, place: ResponsePlace) -> Body:
        """Return the body of one line; raises as `line` does."""
        return parse_line(self.line(key, place))

    def response(self, key: str, place: ResponsePlace) -> bytes:
        """Return the response of `key` as JSON; raises as `line` does."""
        return self.body(key, place).response

    def close(self) -> None:
        """Close the file."""
        self._files.forget(self.path)


def load_segment(path: Path, thorough: bool = False) -> FileIndex:
    """Return the index of a segment: the saved one if valid, plus a scan of the rest."""
    saved = read_index(path)
    with _open_segment(path) as lines:
        status = os.fstat(lines.fileno())
        state = State(status.st_size, status.st_mtime_ns)
        index = FileIndex()
        if saved is not None and not thorough:
            if saved[1] == state:
                return saved[0]
            if _extends_index(lines, saved[0], state):
                index = saved[0]
                index.damaged = [damage for damage in index.damaged if damage.line <= index.lines]
        index.closed = saved is not None and saved[0].closed and saved[1].size == state.size
        start = index.covered
        scan(lines, path.name, index)
        if index.covered > start:
            is_unchanged = saved is not None and saved[0].records == index.records
            index.counts = saved[0].counts if saved is not None and is_unchanged else None
    if index.covered - start >= INDEX_WORTH or (thorough and saved is not None):
        write_index(path, index, state)
    return index


def scan(lines: BinaryIO, name: str, index: FileIndex) -> None:
    """Index every line of an open segment that `index` does not cover yet."""
    lines.seek(index.covered)
    while line := lines.readline(LINE_BYTES + 1):
        fault = line_fault(line)
        if len(line) > LINE_BYTES:
            fault = f"longer than {LINE_BYTES >> 20} MiB"
            while not line.endswith(b"\n") and (continuation := lines.readline(LINE_BYTES)):
                index.covered += len(line)
                line = continuation
        if fault is None:
            try:
                index.add(read_key(line), ResponsePlace(index.covered, len(line)))
                index.schemas.add(read_schema(line))
            except ValueError:
                fault = "corrupt: its key is not valid"
        if fault is not None:
            index.damaged.append(Damage(name, index.lines + 1, fault))
        if line.endswith(b"\n"):
            index.covered += len(line)
            index.lines += 1


def _extends_index(lines: BinaryIO, index: FileIndex, state: State) -> bool:
    """Return whether a segment still begins with the indexed lines, by the last one."""
    last = index.last()
    if last is None or state.size <= index.covered:
        return False
    lines.seek(last.first)
    return line_fault(lines.read(last.second)) is None


def _open_segment(path: Path) -> BinaryIO:
    try:
        return open_stored(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {reason_of(error)}") from None


class SegmentWriter:
    """The only writer of a new segment with a unique name."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / new_name(SUFFIX)
        self.index = FileIndex(counts=Counts())
        try:
            make_folder(folder)
            tighten(folder.parent, folder)
            self._file = open_new(self.path, os.O_WRONLY | os.O_EXCL | os.O_APPEND)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {reason_of(error)}") from None
        hold(self._file)

    def write(self, line: bytes, response: Mapping[str, Any] | None = None) -> ResponsePlace:
        """Append one line; once this returns, it survives a kill of the process.

        `response` is its response, for the counts; without it the segment has no counts.
        """
        place = ResponsePlace(self.index.covered, len(line))
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            with contextlib.suppress(OSError):  # a partial line must not corrupt the next one
                os.ftruncate(self._file, place.first)
            raise StoreError(f"{self.path}: cannot be written: {reason_of(error)}") from None
        self.index.add(read_key(line), place)
        self.index.schemas.add(read_schema(line))
        self.index.covered += len(line)
        self.index.lines += 1
        try:
            if response is None:
                self.index.counts = None
            elif self.index.counts is not None:
                self.index.counts.add(response)
        except (ValueError, TypeError, AttributeError):
            self.index.counts = None
        return place

    def sync(self) -> None:
        """Sync the file, so that it survives a power cut. Raises StoreError if it was removed."""
        os.fsync(self._file)
        if os.fstat(self._file).st_nlink == 0:
            raise StoreError(f"{self.path}: was removed while it was being written")

    def close(self) -> None:
        """Sync and close the file, with an index that marks it as complete."""
        try:
            self.sync()
            status = os.fstat(self._file)
        finally:
            os.close(self._file)
        self.index.closed = True
        write_index(self.path, self.index, State(status.st_size, status.st_mtime_ns))
