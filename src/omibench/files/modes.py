"""Permissions of a store: readable by its owner only, or by the group of its folder.

Requests and responses can be private, so files are created with mode 0600 and folders with 0700,
regardless of the umask. A folder with the set-group-ID bit (`chmod g+rwxs store`) is shared with
its group, as with `git init --shared`: its files get 0660, its folders 2770.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
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
