"""A file of a partition: its keys, where their responses are, and what is damaged in it."""

from __future__ import annotations

import contextlib
import os
import stat
from abc import ABC, abstractmethod
from pathlib import Path
from typing import NamedTuple

from omibench.errors import StoreError, reason_of
from omibench.files.locks import hold
from omibench.files.writing import make_folder, open_new, tighten, write_private
from omibench.store.files import NoFileError, OpenFiles, open_stored
from omibench.store.lines import Body, line_fault, parse_line, read_key, read_schema

_SECOND_BITS = 27


class Damage(NamedTuple):
    """Unreadable lines: the file, the first of them, the reason, and their number."""

    segment: str
    line: int
    reason: str
    lines: int = 1


class StoredFile(ABC):
    """A segment or a pack. Every method can raise FileNotFoundError: it was compacted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def _forget(self) -> None:
        self.places: dict[bytes, int] = {}
        """Every key (32 bytes) with the place of its first response, as one number."""
        self.schemas: set[int] = set()
        self.damaged: list[Damage] = []
        self.lines = 0
        """Whole lines or rows, valid or not."""
        self.repeated = 0
        """Lines whose key an earlier line of the file has."""

    def add(self, key: str, first: int, second: int, schema: int) -> None:
        """Note the place of a response: offset and length in a segment, group and row in a pack.

        Raises ValueError if the key is not valid.
        """
        raw = bytes.fromhex(key)
        if len(raw) != 32:
            raise ValueError("its key is not valid")
        before = len(self.places)
        self.places.setdefault(raw, first << _SECOND_BITS | second)
        self.repeated += len(self.places) == before
        self.schemas.add(schema)

    def place(self, key: str) -> tuple[int, int]:
        """Return the two numbers of a key's place. Raises LookupError without it."""
        return divmod(self.places[bytes.fromhex(key)], 1 << _SECOND_BITS)

    @abstractmethod
    def load(self, thorough: bool = False) -> None:
        """Read its keys; `thorough` forgets what is known and checks everything in the file."""

    @abstractmethod
    def is_current(self) -> bool:
        """Return whether the file is unchanged since it was loaded."""

    @abstractmethod
    def line(self, key: str) -> bytes:
        """Return the response of a key as the line of a segment. Raises ValueError if damaged."""

    @abstractmethod
    def body(self, key: str) -> Body:
        """Return the body of that line; raises as `line` does."""

    @abstractmethod
    def response(self, key: str) -> bytes:
        """Return the response of a key as JSON; raises as `line` does."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""


# Segments: append-only files of responses, one writer each, one JSON line per response.
#
# Opening a segment reads every line and checks its checksum, without parsing any JSON. On closing,
# its writer leaves `<segment>.closed` with the size.

SUFFIX = ".jsonl"
CLOSED = ".closed"
LINE_BYTES = 64 << 20
"""Maximum bytes of a line, which a reader holds in memory at once."""


class SegmentFile(StoredFile):
    """A segment for reading."""

    def __init__(self, path: Path, files: OpenFiles) -> None:
        super().__init__(path)
        self.covered = 0
        """Bytes of whole lines that were read."""
        self._size = 0
        self._files = files

    def load(self, thorough: bool = False) -> None:
        """Read the lines that were appended since the last call; all if `thorough` or shorter."""
        try:
            lines = open_stored(self.path)
        except NoFileError as error:
            self.damaged = [Damage(self.path.name, 1, str(error))]
            return
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read: {reason_of(error)}") from None
        with lines:
            self._size = os.fstat(lines.fileno()).st_size
            if thorough or self._size < self.covered:
                self._forget()
                self.covered = 0
            self.damaged = [damage for damage in self.damaged if damage.line <= self.lines]
            lines.seek(self.covered)
            while line := lines.readline(LINE_BYTES + 1):
                fault = line_fault(line)
                if len(line) > LINE_BYTES:
                    fault = f"longer than {LINE_BYTES >> 20} MiB"
                    while not line.endswith(b"\n") and (more := lines.readline(LINE_BYTES)):
                        self.covered += len(line)
                        line = more
                self._add_line(line, fault)
                if not line.endswith(b"\n"):
                    break  # its writer may append the rest at any moment: the next call reads it

    def _add_line(self, line: bytes, fault: str | None) -> None:
        if fault is None:
            try:
                self.add(read_key(line), self.covered, len(line), read_schema(line))
            except ValueError:
                fault = "corrupt: its key is not valid"
        if fault is not None:
            self.damaged.append(Damage(self.path.name, self.lines + 1, fault))
        if line.endswith(b"\n"):
            self.covered += len(line)
            self.lines += 1

    def append(self, line: bytes) -> None:
        """Note a valid line that was appended."""
        self._add_line(line, None)
        self._size = self.covered

    def is_current(self) -> bool:
        """Return whether nothing was appended since `load`."""
        status = self.path.stat()
        return not stat.S_ISREG(status.st_mode) or status.st_size == self._size

    def line(self, key: str) -> bytes:
        """Return the verified line of a key. Raises ValueError if it is not valid."""
        offset, length = self.place(key)
        line = self._files.read(self.path, offset, length)
        fault = line_fault(line)
        if fault is not None:
            raise ValueError(fault)
        if read_key(line) != key:
            raise ValueError("it has another key")
        return line

    def body(self, key: str) -> Body:
        """Return the body of one line; raises as `line` does."""
        return parse_line(self.line(key))

    def response(self, key: str) -> bytes:
        """Return the response of `key` as JSON; raises as `line` does."""
        return self.body(key).response

    def close(self) -> None:
        """Close the file."""
        self._files.forget(self.path)


class SegmentWriter:
    """The only writer of a new segment with a unique name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = 0
        try:
            make_folder(path.parent)
            tighten(path.parent.parent, path.parent)
            self._file = open_new(path, os.O_WRONLY | os.O_EXCL | os.O_APPEND)
        except OSError as error:
            raise StoreError(f"{path}: cannot be written: {reason_of(error)}") from None
        hold(self._file)

    def write(self, line: bytes) -> None:
        """Append one line; once this returns, it survives a kill of the process."""
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            with contextlib.suppress(OSError):  # a partial line must not corrupt the next one
                os.ftruncate(self._file, self._size)
            raise StoreError(f"{self.path}: cannot be written: {reason_of(error)}") from None
        self._size += len(line)

    def sync(self) -> None:
        """Sync the file, so that it survives a power cut. Raises StoreError if it was removed."""
        os.fsync(self._file)
        if os.fstat(self._file).st_nlink == 0:
            raise StoreError(f"{self.path}: was removed while it was being written")

    def close(self) -> None:
        """Sync and close the file, and mark it as complete."""
        try:
            self.sync()
        finally:
            os.close(self._file)
        with contextlib.suppress(OSError):
            write_private(_mark(self.path, CLOSED), b"%d\n" % self._size)


def is_marked_closed(segment: Path) -> bool:
    """Return whether the writer of a segment marked it as complete. Raises OSError without it."""
    size = segment.stat().st_size
    try:
        with open_stored(_mark(segment, CLOSED)) as file:
            return int(file.read(32)) == size
    except (OSError, ValueError):
        return False


def remove_mark(path: Path) -> None:
    """Remove what marks a segment as complete, if anything."""
    with contextlib.suppress(OSError):
        _mark(path, CLOSED).unlink(missing_ok=True)


def _mark(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
