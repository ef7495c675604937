"""Bounded reading of regular files: pipes, devices and endless files are refused."""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Final

from omibench.errors import FileFormatError, MissingInputError, reason_of

FILE_BYTES: Final = 2**30
"""Default maximum bytes of a file that is read whole."""
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_regular(path: str | Path, limit: int | None = None) -> BufferedReader:
    """Open a regular file of at most `limit` bytes for reading.

    Raises MissingInputError if it is missing, cannot be opened or is not a regular file (a named
    pipe is never waited for), and FileFormatError if it is larger.
    """
    try:
        # Without O_NONBLOCK, opening a named pipe without a writer would block.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise MissingInputError(f"{path}: cannot be read: {reason_of(error)}") from None
    try:
        _check(path, os.fstat(descriptor), limit)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read_bytes(path: str | Path, limit: int = FILE_BYTES) -> bytes:
    """Read a regular file of at most `limit` bytes. Raises as `open_regular` does."""
    with open_regular(path, limit) as file:
        try:
            content = file.read(limit + 1)
        except OSError as error:
            raise MissingInputError(f"{path}: cannot be read: {reason_of(error)}") from None
    if len(content) > limit:  # it grew, or its file system reports no size, as for /proc
        raise _too_large(path, len(content), limit)
    return content


def read_text(path: str | Path, limit: int = FILE_BYTES) -> str:
    """Read the UTF-8 text of a regular file, without a byte order mark.

    Raises as `read_bytes` does, and FileFormatError if it is not UTF-8.
    """
    return decode(read_bytes(path, limit), str(path))


def decode(content: bytes, place: str) -> str:
    """Decode UTF-8 without a byte order mark. Raises FileFormatError with `place`."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise FileFormatError(f"{place}, line {line}: {reason_of(error)}") from None


def size_text(count: int) -> str:
    """Format a number of bytes: `3.2 MB`."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _check(path: str | Path, status: os.stat_result, limit: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in _KINDS if test(status.st_mode)), "something else")
        raise MissingInputError(f"{path}: cannot be read: it is {kind}, not a file")
    if limit is not None and status.st_size > limit:
        raise _too_large(path, status.st_size, limit)


def _too_large(path: str | Path, size: int, limit: int) -> FileFormatError:
    return FileFormatError(
        f"{path}: has {size_text(size)}, but at most {size_text(limit)} are read; split the "
        "file, or give the right one"
    )
