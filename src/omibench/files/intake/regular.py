"""Regular files alone, and no more of them than stated: what waits or never ends is refused."""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Final

from omibench.errors import FileFormatError, MissingInputError, reason_of

FILE_BYTES: Final = 2**30
"""The most bytes of a file that is read whole, unless the caller says otherwise."""
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_regular(path: str | Path, limit: int | None = None) -> BufferedReader:
    """Open a regular file for reading; `limit` is the most bytes that it may have.

    Raises MissingInputError for what is not there, cannot be opened or is no regular file (a named
    pipe is never waited for), and FileFormatError for a file that is larger.
    """
    try:
        # Without O_NONBLOCK a named pipe that nobody writes to would be waited for.
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
    """The content of a regular file of at most `limit` bytes. Raises as `open_regular` does."""
    with open_regular(path, limit) as file:
        try:
            content = file.read(limit + 1)
        except OSError as error:
            raise MissingInputError(f"{path}: cannot be read: {reason_of(error)}") from None
    if len(content) > limit:  # it grew, or its file system tells no size, as that of /proc
        raise _too_large(path, len(content), limit)
    return content


def read_text(path: str | Path, limit: int = FILE_BYTES) -> str:
    """The UTF-8 text of a regular file, without a byte order mark.

    Raises as `read_bytes` does, and FileFormatError for what is not UTF-8.
    """
    return decode(read_bytes(path, limit), str(path))


def decode(content: bytes, place: str) -> str:
    """UTF-8 bytes as text, without a byte order mark. Raises FileFormatError naming `place`."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise FileFormatError(f"{place}, line {line}: {reason_of(error)}") from None


def size_text(count: int) -> str:
    """A number of bytes for people: `3.2 MB`."""
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
        f"{path}: has {size_text(size)} and at most {size_text(limit)} are read: split the file, "
        "or give the right one"
    )
