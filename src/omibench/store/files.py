"""Files of a store: opening them, reading parts of many, and setting damaged ones aside."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from pathlib import Path
from typing import BinaryIO

from omibench.errors import StoreError
from omibench.files.writing import make_folder

OPEN_AT_ONCE = 64
ASIDE = "damaged"
"""Folder of a store for damaged files that were replaced by a good copy; delete them after
inspection."""


class NoFileError(ValueError):
    """The name belongs to a pipe, a device or a folder."""


def open_stored(path: Path) -> BinaryIO:
    """Open a regular file of a store for reading; never blocks on a named pipe.

    Raises OSError, and NoFileError if it is not a regular file.
    """
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise NoFileError("it is not a regular file")
    return os.fdopen(file, "rb")


def set_aside(store: Path, path: Path) -> Path:
    """Move a damaged file of a store to its folder `damaged/`, under a unique name."""
    target = make_folder(store / ASIDE) / f"{path.name}.{secrets.token_hex(4)}"
    path.replace(target)
    return target


class OpenFiles:
    """Files kept open between reads, up to the limit of a process."""

    def __init__(self) -> None:
        self._files: dict[Path, int] = {}

    def read(self, path: Path, offset: int, length: int) -> bytes:
        """Read `length` bytes of a file from `offset`, fewer at its end. Raises OSError."""
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


# Free space on the store's disk, checked before any request and before each attempt.

RESERVE_BYTES = 100_000_000
ANSWER_BYTES = 64_000
"""Free bytes required on the store's disk before sending, in total and per request."""


def check_space(store: Path, requests: int, *, sending: bool = False) -> None:
    """Raise StoreError if the disk of a store may be too small for the answers.

    `RESERVE_BYTES` must be free, and `ANSWER_BYTES` for each request.

    Args:
        store: Folder of the store.
        requests: Number of requests whose answers are still to be written.
        sending: Whether others were sent before; the message says what happens to them.
    """
    folder = store
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return  # the disk does not report its free space
    needed = RESERVE_BYTES + requests * ANSWER_BYTES
    if free < needed:
        sent = (
            "Nothing more was sent, and the answers in flight were kept; then run again"
            if sending
            else "Nothing was sent"
        )
        raise StoreError(
            f"{store}: its disk has {free / 1e6:,.0f} MB free, but {requests:,} answers need "
            f"{needed / 1e6:,.0f} MB ({RESERVE_BYTES / 1e6:.0f} MB and {ANSWER_BYTES / 1e3:.0f} "
            "kB each), so that no billed answer is lost; free some space, or move `study.store` "
            f"to another disk. {sent}"
        )
