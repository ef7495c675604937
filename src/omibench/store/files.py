"""Files: writing one at once whoever else writes it, and reading parts of many."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from typing import BinaryIO

from omibench.files.modes import make_folder, open_new

OPEN_AT_ONCE = 64
ASIDE = "damaged"
"""Folder of a store for hurt files that were replaced by a good copy: look at them, and delete."""


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` so that a reader sees all of it or no file; threads may race for one path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    partial.write_bytes(data)
    partial.replace(path)


def write_private(path: Path, data: bytes) -> None:
    """As `write_whole`, with the modes of a store (`omibench.files.modes`)."""
    make_folder(path.parent)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    with os.fdopen(open_new(partial, os.O_WRONLY | os.O_EXCL), "wb") as file:
        file.write(data)
    partial.replace(path)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


class NoFileError(ValueError):
    """What stands under the name of a file is a pipe, a device, a folder."""


def open_stored(path: Path) -> BinaryIO:
    """Open a regular file of a store for reading; a named pipe is never waited for.

    Raises OSError, and NoFileError for what is no regular file.
    """
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise NoFileError("it is no regular file")
    return os.fdopen(file, "rb")


def set_aside(store: Path, path: Path) -> Path:
    """Move a hurt file of a store to its folder `damaged/`, under a name that nothing has there."""
    target = make_folder(store / ASIDE) / f"{path.name}.{secrets.token_hex(4)}"
    path.replace(target)
    return target


class OpenFiles:
    """Files that are kept open between reads, not more than a process may have."""

    def __init__(self) -> None:
        self._files: dict[Path, int] = {}

    def read(self, path: Path, offset: int, length: int) -> bytes:
        """`length` bytes of a file from `offset`, fewer at its end. Raises OSError."""
        file = self._files.get(path)
        if file is None:
            if len(self._files) >= OPEN_AT_ONCE:
                self.close()
            file = self._files[path] = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        return os.pread(file, length, offset)

    def forget(self, path: Path) -> None:
        """Close one file, if it is open."""
        file = self._files.pop(path, None)
        if file is not None:
            os.close(file)

    def close(self) -> None:
        """Close every file."""
        for path in list(self._files):
            self.forget(path)
