"""Locks of a network disk: `flock` as the Linux client of NFS carries it out.

fs/nfs/file.c makes a byte-range lock of it, which is exclusive only through a descriptor that is
open for writing, and shared only through one that is open for reading; else the error is EBADF.
Folders cannot be opened for writing.
"""

from __future__ import annotations

import errno
import fcntl
import os

import pytest


def lock_as_nfs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `fcntl.flock` refuse what NFS refuses."""
    real = fcntl.flock

    def flock(file: int, how: int) -> None:
        number = file if isinstance(file, int) else file.fileno()
        opened = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE
        needed = {fcntl.LOCK_EX: os.O_WRONLY, fcntl.LOCK_SH: os.O_RDONLY}
        kind = how & ~fcntl.LOCK_NB
        if kind in needed and opened not in (needed[kind], os.O_RDWR):
            raise OSError(errno.EBADF, "Bad file descriptor")
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", flock)
