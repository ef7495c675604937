"""Is a segment's writer still at work? Only what nobody writes any more may be compacted.

A writer holds an advisory lock on its segment as long as it lives, and its segment's name says on
which host and under which number it runs; when it closes, it leaves an index that says so.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
from calendar import timegm
from pathlib import Path

from omibench.files.locks import hold
from omibench.store.partition.index import read_index, read_state
from omibench.store.process import read_process_start

ABANDONED_S = 7 * 86400.0
"""Seconds without a change after which a segment from another host counts as closed."""
_STAMP = "%Y%m%dT%H%M%S"
_NAME = re.compile(r"\d{8}T\d{6}-(?P<host>[A-Za-z0-9]+)-(?P<pid>\d+)-[0-9a-f]{8}\.jsonl")


def new_name(suffix: str) -> str:
    """A file name that no other process chooses: time (UTC), host, process and eight digits."""
    stamp = time.strftime(_STAMP, time.gmtime())
    return f"{stamp}-{host_name()}-{os.getpid()}-{secrets.token_hex(4)}{suffix}"


def read_start_time(path: Path) -> float:
    """When a file of that name was begun: seconds since 1970, 0 where its name does not tell."""
    try:
        return float(timegm(time.strptime(path.name[:15], _STAMP)))
    except ValueError:
        return 0.0


def host_name() -> str:
    """This host as file names spell it."""
    return "".join(c for c in socket.gethostname() if c.isalnum())[:16] or "host"


def is_closed(segment: Path) -> bool:
    """Whether nobody writes to a segment any more.

    True when its writer said so; when it ran on this host and is gone; and when nothing was
    written to it for `ABANDONED_S`. Raises OSError when the segment is gone.
    """
    state, saved = read_state(segment), read_index(segment)
    if saved is not None and saved[0].closed and saved[1].size == state.size:
        return True
    if time.time() - state.modified_ns / 1e9 > ABANDONED_S:
        return _lockable(segment)
    named = _NAME.fullmatch(segment.name)
    if named is None or named["host"] != host_name():
        return False
    return read_process_start(int(named["pid"])) is None and _lockable(segment)


def _lockable(segment: Path) -> bool:
    # Network disks lock nothing through a descriptor that only reads.
    try:
        file = os.open(segment, os.O_RDWR | os.O_CLOEXEC)
    except PermissionError:
        return False
    try:
        return hold(file)
    finally:
        os.close(file)
