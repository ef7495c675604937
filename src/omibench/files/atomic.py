"""Files that appear whole or not at all, while other processes read and write."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from omibench.files.modes import make_folder, open_new


@contextmanager
def replace_atomically(path: Path) -> Iterator[Path]:
    """Write a file of any size: fill the partial file, which takes the place of `path`.

    The partial file lies beside `path` under a name of its own, so that threads and processes may
    race for one path. It is not there yet; where the block fails it is removed and `path` stays as
    it was.

    Args:
        path: the file to write; its folder is there.

    Yields:
        The path of the partial file.

    Raises:
        OSError: where the file cannot be written, also when the block wrote none.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file and the folders above it. Raises OSError.

    Args:
        path: the file to write.
        data: all that it is to hold.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_atomically(path) as partial:
        partial.write_bytes(data)


def write_private(path: Path, data: bytes, *, durable: bool = False) -> None:
    """As `write_atomically`, with the modes of a store (`omibench.files.modes`). Raises OSError.

    Args:
        path: the file to write.
        data: all that it is to hold.
        durable: whether neither a kill nor a power cut can lose the file once this returns.
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
    """Make the names in a folder survive a power cut. Raises OSError."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
