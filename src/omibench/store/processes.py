"""Whether a process of this host is still running."""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
from calendar import timegm
from pathlib import Path

from omibench.files.locks import hold
from omibench.store.segments import is_marked_closed


def read_process_start(pid: int) -> str | None:
    """Return the start time of a process, which detects a reused id; None if it ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return _alive(pid)
    # A zombie has ended: it only waits for its parent.
    return None if fields[0] in (b"Z", b"X") else fields[19].decode()


def _alive(pid: int) -> str | None:
    if Path("/proc/self/stat").exists():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "running"


# Detects whether a segment's writer is still running, since only closed segments are compacted.
#
# A running writer holds an advisory lock on its segment, whose name contains its host and process
# id; on closing, it marks the segment as complete.

ABANDONED_S = 7 * 86400.0
"""Seconds without a change after which a segment of another host counts as closed."""
_STAMP = "%Y%m%dT%H%M%S"
_NAME = re.compile(r"\d{8}T\d{6}-(?P<host>[A-Za-z0-9]+)-(?P<pid>\d+)-[0-9a-f]{8}\.jsonl")


def new_name(suffix: str) -> str:
    """Return a unique file name: time (UTC), host, process and eight digits."""
    stamp = time.strftime(_STAMP, time.gmtime())
    return f"{stamp}-{host_name()}-{os.getpid()}-{secrets.token_hex(4)}{suffix}"


def read_start_time(path: Path) -> float:
    """Return the start time in a file name: seconds since 1970, or 0 if it has none."""
    try:
        return float(timegm(time.strptime(path.name[:15], _STAMP)))
    except ValueError:
        return 0.0


def host_name() -> str:
    """Return this host's name as used in file names."""
    return "".join(c for c in socket.gethostname() if c.isalnum())[:16] or "host"


def is_closed(segment: Path) -> bool:
    """Return whether a segment has no writer any more.

    True if its writer closed it; if the writer ran on this host and has ended; and after
    `ABANDONED_S` without a change. Raises OSError if the segment was removed.
    """
    if is_marked_closed(segment):
        return True
    if time.time() - segment.stat().st_mtime > ABANDONED_S:
        return _lockable(segment)
    named = _NAME.fullmatch(segment.name)
    if named is None or named["host"] != host_name():
        return False
    return read_process_start(int(named["pid"])) is None and _lockable(segment)


def _lockable(segment: Path) -> bool:
    # Network disks ignore locks through a read-only descriptor.
    try:
        file = os.open(segment, os.O_RDWR | os.O_CLOEXEC)
    except PermissionError:
        return False
    try:
        return hold(file)
    finally:
        os.close(file)
