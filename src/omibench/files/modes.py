"""Who may read a store: its owner alone, or the group that its folder was given to.

What is asked and answered may be private, so files are made 0600 and folders 0700 whatever the
umask. A folder with the set-group-ID bit (`chmod g+rwxs store`) is shared with its group, as `git
init --shared` does it: what is made in it is 0660, and 2770 for folders.
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
    """Whether a folder's group shares what is in it: it has the set-group-ID bit, and may write."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_ISGID and mode & stat.S_IWGRP)


def file_mode(folder: Path) -> int:
    """The mode of a file in a folder of the store."""
    return SHARED_FILE if is_shared(folder) else FILE


def make_folder(folder: Path) -> Path:
    """Make a folder of the store and those above that are not there. Raises OSError."""
    missing = []
    above = folder
    while not above.exists():
        missing.append(above)
        above = above.parent
    for path in reversed(missing):
        mode = SHARED_FOLDER if is_shared(path.parent) else FOLDER
        with suppress(FileExistsError):
            path.mkdir(FOLDER)
            path.chmod(mode)  # the umask has no say
    if missing:
        folder.mkdir(exist_ok=True)  # raises when a file of that name was in the way
    elif not folder.is_dir():
        raise FileExistsError(17, "File exists", str(folder))
    return folder


def open_new(path: Path, flags: int) -> int:
    """Open a file of the store, made with the store's mode where it is not there."""
    mode = file_mode(path.parent)
    file = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, FILE)
    if mode != FILE and os.fstat(file).st_size == 0:
        with suppress(OSError):  # another user's
            os.fchmod(file, mode)
    return file


def tighten(*paths: Path) -> int:
    """Take from files and folders what the store's modes do not give; how many were changed.

    What belongs to another user stays as it is.
    """
    return sum(_tighten(path) for path in paths)


def tighten_all(store: Path) -> int:
    """As `tighten`, the whole store."""
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
