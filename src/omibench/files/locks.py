"""Advisory file locks for local and network file systems.

NFS turns `flock` into a byte-range lock on the server. An exclusive lock then requires a
descriptor open for writing, which folders do not have. So the lock is on a file opened for
reading and writing, and a lock of unknown state counts as held by another process.
"""

from __future__ import annotations

import errno
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from omibench.errors import reason_of

UNKNOWN_S = 10.0
"""Seconds for which a lock that fails for an unknown reason is retried."""
_NO_LOCKS: Final = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}
"""Errors of a file system mounted without locks (Lustre without `flock`, some FUSE)."""
_HELD_BY_OTHERS: Final = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES}
_warned_reasons: set[str] = set()
log = logging.getLogger("omibench")


class LockError(OSError):
    """A lock could neither be acquired nor found to be held; `strerror` is the reason."""


def open_lock(path: Path, mode: int = 0o600) -> int:
    """Open a descriptor that can lock `path` on every file system. Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)


def try_lock(file: int) -> bool:
    """Lock a file open for writing until it is closed; return False if another holds the lock.

    Raises LockError if the state is unknown, also if the file system has no locks.
    """
    try:
        _flock(file, "LOCK_EX", "LOCK_NB")
    except LockError as error:
        if error.errno in _HELD_BY_OTHERS:
            return False
        raise
    return True


def wait_lock(file: int, *, shared: bool = False) -> None:
    """Lock a file until it is closed; wait while another process holds the lock.

    Args:
        file: Descriptor open for writing, or for reading if the lock is shared.
        shared: Whether others can share the lock; an exclusive lock waits for all of them.

    Raises:
        LockError: If the lock cannot be acquired, also if the file system has no locks.
    """
    _flock(file, "LOCK_SH" if shared else "LOCK_EX")


def _flock(file: int, *kinds: str) -> None:
    try:
        import fcntl
    except ImportError:
        raise LockError(errno.ENOSYS, "this system has no file locks") from None
    try:
        fcntl.flock(file, sum(getattr(fcntl, kind) for kind in kinds))
    except OSError as error:
        raise LockError(error.errno or errno.EIO, reason_of(error)) from None


def hold(file: int) -> bool:
    """Lock as `try_lock`, but treat any doubt as held by another process.

    Returns True without a lock only if the file system has no locks, with a warning, because
    then no process can wait for another.
    """
    try:
        return try_lock(file)
    except LockError as error:
        return has_none(error)


def has_none(error: LockError) -> bool:
    """Return whether a lock failed because its file system has none; warns once."""
    if error.errno not in _NO_LOCKS:
        return False
    reason = error.strerror or "no locks"
    if reason not in _warned_reasons:
        _warned_reasons.add(reason)
        log.warning(
            "the file system has no locks (%s): concurrent processes can send the same request or "
            "write the same decision twice; mount it with locks, or run one process at a time",
            reason,
        )
    return True


@contextmanager
def wait_path(path: Path, mode: int = 0o600) -> Iterator[None]:
    """Lock the file `path` exclusively for a block; wait while another process holds the lock.

    Goes on without a lock only if the file system has none, with a warning. Raises LockError if
    the lock fails for another reason, and OSError if the file cannot be opened.
    """
    file = open_lock(path, mode)
    try:
        try:
            wait_lock(file)
        except LockError as error:
            if not has_none(error):
                raise
        yield
    finally:
        os.close(file)


@contextmanager
def lock_path(path: Path) -> Iterator[bool]:
    """Lock the file `path` exclusively; yield whether the lock was acquired.

    The file is created if missing and never removed: otherwise two processes could lock two
    files of the same name. Raises LockError if the lock fails for longer than `UNKNOWN_S` for
    another reason than a held lock.
    """
    file = open_lock(path)
    try:
        yield _patiently(file)
    finally:
        os.close(file)


def _patiently(file: int) -> bool:
    until = time.monotonic() + UNKNOWN_S
    while True:
        try:
            return try_lock(file)
        except LockError as error:
            if has_none(error):
                return True
            if time.monotonic() > until:
                raise
        time.sleep(0.1)
