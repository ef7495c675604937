"""Files of a store: opening them, reading parts of many, and setting hurt ones aside."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from typing import BinaryIO

from omibench.files.modes import make_folder

OPEN_AT_ONCE = 64
ASIDE = "damaged"
"""Folder of a store for hurt files that were replaced by a good copy: look at them, and delete."""


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
