"""Atomic file writes, safe under concurrent readers and writers."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from omibench.files.modes import make_folder, open_new


@contextmanager
def replace_atomically(path: Path) -> Iterator[Path]:
    """Write a file of any size through a partial file that replaces `path`.

    The partial file is in the same folder under a unique name, so that threads and processes can
    write one path concurrently. It does not exist on entry. If the block fails, it is removed
    and `path` is unchanged.

    Args:
        path: File to write, in an existing folder.

    Yields:
        Path of the partial file.

    Raises:
        OSError: If the file cannot be written, also if the block did not write it.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file and create its parent folders. Raises OSError.

    Args:
        path: File to write.
        data: Its content.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_atomically(path) as partial:
        partial.write_bytes(data)


def write_private(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Write a file as `write_atomically` with a store's modes (`omibench.files.modes`). Raises
    OSError.

    Args:
        path: File to write.
        data: Its content.
        durable: Whether the file must survive a kill or a power cut once this returns.
    """
    make_folder(path.parent)
    with (
        replace_atomically(path) as partial,
        os.fdopen(open_new(partial, os.O_WRONLY | os.O_EXCL), "wb") as file,
    ):
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    if durable:
        with suppress(OSError):  # not every file system syncs folders
            sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that its file names survive a power cut. Raises OSError."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
