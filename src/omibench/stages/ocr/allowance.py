"""What a file may take to be read: CPU time, which no busy machine shortens, and memory."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from contextlib import suppress
from math import ceil
from pathlib import Path

GRACE_S = 30.0
"""CPU seconds beyond the allowance of all files until the process is ended: pages are put together
in them, and a page that was begun in time is read to its end."""
WALL = 10
"""Wall seconds for each CPU second until a process that only sleeps is ended."""


class Allowance:
    """The CPU seconds in which the pages of one file are begun; counts from when it is made.

    `note` is a file that names the page that is being read, so that whoever ends this process
    knows which it was. Pages of `skipped` are left out.
    """

    def __init__(
        self, limit_s: float, note: Path, place: int, skipped: Collection[int] = ()
    ) -> None:
        self._limit, self._note, self._place, self._skipped = limit_s, note, place, skipped
        self._began = cpu_spent()

    def begins(self, page: int) -> bool:
        """Whether there is time to read a page; it is noted."""
        if page in self._skipped or cpu_spent() - self._began >= self._limit:
            return False
        self._note.write_text(f"{self._place} {page}", "ascii")
        return True

    def end(self) -> None:
        """All pages are read: the note goes."""
        self._note.unlink(missing_ok=True)


def page_noted(note: Path) -> tuple[int, int] | None:
    """The file (by its place in the source) and the page at which a process was ended, if any."""
    try:
        place, page = note.read_text("ascii").split()
        return int(place), int(page)
    except (OSError, ValueError):
        return None


def cpu_spent() -> float:
    """CPU seconds of this process and of the children that it has waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def limit_cpu(seconds: float) -> None:
    """End this process, and each child, once it has taken `seconds` of CPU, where possible."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = ceil(seconds)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))


def limit_memory(mebibytes: int) -> None:
    """Bound the memory of this process where the system allows it."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = mebibytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
