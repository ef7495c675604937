"""Permissions of a store: readable by its owner only, or by the group of its folder.

Requests and responses can be private, so files are created with mode 0600 and folders with 0700,
regardless of the umask. A folder with the set-group-ID bit (`chmod g+rwxs store`) is shared with
its group, as with `git init --shared`: its files get 0660, its folders 2770.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FILE, FOLDER = 0o600, 0o700
SHARED_FILE, SHARED_FOLDER = 0o660, 0o2770


def is_shared(folder: Path) -> bool:
    """Return whether a folder is group-shared: set-group-ID bit and group write access."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_ISGID and mode & stat.S_IWGRP)


def file_mode(folder: Path) -> int:
    """Return the mode of a file in a folder of the store."""
    return SHARED_FILE if is_shared(folder) else FILE


def make_folder(folder: Path) -> Path:
    """Create a folder of the store and its missing parents. Raises OSError."""
    missing = []
    above = folder
    while not above.exists():
        missing.append(above)
        above = above.parent
    for path in reversed(missing):
        mode = SHARED_FOLDER if is_shared(path.parent) else FOLDER
        with suppress(FileExistsError):
            path.mkdir(FOLDER)
            path.chmod(mode)  # override the umask
    if missing:
        folder.mkdir(exist_ok=True)  # raises if a file of that name exists
    elif not folder.is_dir():
        raise FileExistsError(17, "File exists", str(folder))
    return folder


def open_new(path: Path, flags: int) -> int:
    """Open a file of the store; a new file gets the store's mode."""
    mode = file_mode(path.parent)
    file = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, FILE)
    if mode != FILE and os.fstat(file).st_size == 0:
        with suppress(OSError):  # another user's
            os.fchmod(file, mode)
    return file


def tighten(*paths: Path) -> int:
    """Remove excess permissions from files and folders; return the number of changes.

    Files of another user are not changed.
    """
    return sum(_tighten(path) for path in paths)


def tighten_all(store: Path) -> int:
    """Apply `tighten` to the whole store."""
    return sum(_tighten(path) for path in _walk_store(store))


def _walk_store(store: Path) -> Iterator[Path]:
    yield store
    for folder, folders, files in os.walk(store):
        for name in (*folders, *files):
            yield Path(folder) / name


def _tighten(path: Path) -> int:
    try:
        status = path.lstat()
        if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
            return 0
        shared = is_shared(path if stat.S_ISDIR(status.st_mode) else path.parent)
        allowed = 0o2770 if shared else 0o700
        mode = stat.S_IMODE(status.st_mode)
        if not mode & ~allowed & 0o077:
            return 0
        path.chmod(mode & (allowed | 0o7000))
    except OSError:
        return 0
    return 1


# Atomic file writes, safe under concurrent readers and writers.


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
    """Write a file as `write_atomically` with a store's modes (`omibench.files.writing`). Raises
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
