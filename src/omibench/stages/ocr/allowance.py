"""Limits for reading a file: CPU time, which does not depend on the load, and memory."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from contextlib import suppress
from math import ceil
from pathlib import Path

GRACE_S = 30.0
"""CPU seconds beyond the allowance of all files before the process is terminated. They allow for
assembling pages and for finishing a page that was started in time."""
WALL = 10
"""The wall seconds per CPU second before a sleeping process is terminated."""


class Allowance:
    """The CPU seconds in which pages of one file are started, counted from construction.

    `note` is a file with the page being read, to identify it if this process ends. Pages of
    `skipped` are left out, because they took too long, and those of `failed`, because an earlier
    process failed on them.
    """

    def __init__(
        self,
        limit_s: float,
        note: Path,
        place: int,
        skipped: Collection[int] = (),
        failed: Collection[int] = (),
    ) -> None:
        self.failed = failed
        self._limit, self._note, self._place, self._skipped = limit_s, note, place, skipped
        self._began = cpu_spent()

    def begins(self, page: int) -> bool:
        """Note the page, and return whether there is time to read it."""
        if page in self._skipped or page in self.failed or cpu_spent() - self._began >= self._limit:
            return False
        self._note.write_text(f"{self._place} {page}", "ascii")
        return True

    def end(self) -> None:
        """Remove the note after all pages are read."""
        self._note.unlink(missing_ok=True)


def page_noted(note: Path) -> tuple[int, int] | None:
    """Return the file (by index in the source) and the page on which a process was terminated, if
    any."""
    try:
        place, page = note.read_text("ascii").split()
        return int(place), int(page)
    except (OSError, ValueError):
        return None


def cpu_spent() -> float:
    """Return the CPU seconds of this process and of its finished children."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def limit_cpu(seconds: float) -> None:
    """Terminate this process and each child after `seconds` of CPU time, if possible."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = ceil(seconds)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))


def limit_memory(mebibytes: int) -> None:
    """Limit the memory of this process, if the system allows it."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = mebibytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
