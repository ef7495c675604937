"""Advisory locks on files, as they work on local disks and on network disks.

NFS turns `flock` into a byte-range lock on the server, which an exclusive lock gets only through a
descriptor open for writing; folders have none. So what is locked here is a file, opened for
reading and writing, and a lock whose state is not known counts as held by somebody else.
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
"""Seconds for which a lock that fails for an unknown reason is tried again."""
_NO_LOCKS: Final = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}
"""What a file system says that was mounted without locks (Lustre without `flock`, some FUSE)."""
_HELD_BY_OTHERS: Final = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES}
_warned_reasons: set[str] = set()
log = logging.getLogger("omibench")


class LockError(OSError):
    """A lock can neither be had nor be said to be another's: `strerror` tells why."""


def open_lock(path: Path, mode: int = 0o600) -> int:
    """A descriptor through which `path` can be locked on every file system. Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)


def try_lock(file: int) -> bool:
    """Lock a file that is open for writing, as long as it stays open; False when another holds it.

    Raises LockError when neither is known, also where the file system has no locks.
    """
    try:
        _flock(file, "LOCK_EX", "LOCK_NB")
    except LockError as error:
        if error.errno in _HELD_BY_OTHERS:
            return False
        raise
    return True


def wait_lock(file: int, *, shared: bool = False) -> None:
    """Lock a file as long as it stays open; waits as long as another holds it.

    Args:
        file: a descriptor, open for writing, or for reading where the lock is shared.
        shared: whether others may share the lock; who wants it alone waits for all of them.

    Raises:
        LockError: where the lock cannot be had, also where the file system has none.
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
    """As `try_lock`, but any doubt means that another holds it.

    Only where the file system says that it has no locks at all is the answer True: then nobody
    can wait for anybody, which is said once as a warning.
    """
    try:
        return try_lock(file)
    except LockError as error:
        return has_none(error)


def has_none(error: LockError) -> bool:
    """Whether a lock failed because its file system has none; said once as a warning."""
    if error.errno not in _NO_LOCKS:
        return False
    reason = error.strerror or "no locks"
    if reason not in _warned_reasons:
        _warned_reasons.add(reason)
        log.warning(
            "the file system of the store has no locks (%s): processes that ask at once may buy "
            "the same request twice; mount it with locks, or run one process at a time",
            reason,
        )
    return True


@contextmanager
def lock_path(path: Path) -> Iterator[bool]:
    """Lock the file `path` against others that ask for the same; the value: whether it is ours.

    The file is made where it is not there, and stays: were it removed, two could hold two files of
    one name. Raises LockError when the lock fails for a reason that is not another's lock, for
    longer than `UNKNOWN_S`.
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
