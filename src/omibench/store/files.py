"""Files: writing one at once whoever else writes it, and reading parts of many."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from omibench.modes import make_folder, open_new

OPEN_AT_ONCE = 64


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` so that a reader sees all of it or no file; threads may race for one path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    partial.write_bytes(data)
    partial.replace(path)


def write_private(path: Path, data: bytes) -> None:
    """As `write_whole`, with the modes of a store (`omibench.modes`)."""
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
            file = self._files[path] = os.open(path, os.O_RDONLY)
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
