"""Whether a process of this host is still running."""

from __future__ import annotations

import os
from pathlib import Path


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
