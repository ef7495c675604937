"""The job of the process that reads one source, its limits of time and memory, and its outcome."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel

from omibench.params.plugins import PluginFile
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import CorrectionRow
from omibench.stages.ocr.corrections.entry import CorrectionEntry
from omibench.stages.ocr.sources.manifest import Source

GRACE_S = 30.0
"""CPU seconds beyond the allowance of all files before the process is terminated. They allow for
assembling pages and for finishing a page that was started in time."""
WALL = 10
"""The wall seconds per CPU second before a sleeping process is terminated."""


class Allowance:
    """The CPU seconds in which pages of one file are started, counted from construction.

    `note` is a file with the page being read, to identify it if this process ends. `page_s` limits
    the CPU seconds of each page. Pages of `skipped` are left out, because they took too long, and
    those of `failed`, because an earlier process failed on them.
    """

    def __init__(  # noqa: PLR0913 (the limits of a file, and its pages)
        self,
        limit_s: float,
        note: Path,
        place: int,
        skipped: Collection[int] = (),
        failed: Collection[int] = (),
        *,
        page_s: float | None = None,
    ) -> None:
        self.failed, self._page_s = failed, page_s
        self._limit, self._note, self._place, self._skipped = limit_s, note, place, skipped
        self._began = cpu_spent()

    def begins(self, page: int) -> bool:
        """Note the page, and return whether there is time to read it."""
        if page in self._skipped or page in self.failed or cpu_spent() - self._began >= self._limit:
            return False
        self._note.write_text(f"{self._place} {page}", "ascii")
        limit_next(self._page_s)
        return True

    def end(self) -> None:
        """Remove the note and the limit of a page after all pages are read."""
        limit_next(None)
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


def limit_next(seconds: float | None) -> None:
    """Terminate this process after `seconds` of CPU time from now, None for those of `limit_cpu`.

    Does nothing in a process to which `limit_cpu` was not applied.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        if most != resource.RLIM_INFINITY:
            until = most - 1 if seconds is None else ceil(time.process_time() + seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (min(until, most - 1), most))


def limit_memory(mebibytes: int) -> None:
    """Limit the memory of this process, if the system allows it."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = mebibytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


# What the stage and the process that reads one source exchange: job, outcome, waiting pages.

_AT_ONCE: Final = 4


class OcrJob(BaseModel):
    """The job of the process. `password_env` is a variable's name; the password itself is not
    passed."""

    source: Source
    folder: Path
    params: OcrParams
    password_env: str | None = None
    read: bool = False
    """Reads pages without a text layer; without it such pages are only reported."""
    waiting: dict[int, int] = {}
    """The number of pages of each file, by index, that a local engine reads."""
    skipped: dict[int, list[int]] = {}
    """Pages of each file to skip, because an earlier process was terminated on them."""
    failed: dict[int, list[int]] = {}
    """Pages of each file to skip, because an earlier process failed on them."""
    plugins: list[PluginFile] = []
    """Files that provide engines, which this process has to load."""
    corrections: list[CorrectionEntry] = []
    """The corrections of this source."""
    pictures: Path = Path()
    """The base folder of pictures in corrections."""
    look: bool = False
    """Whether to keep pictures of the pages and their contents for `omibench.explore.ocr_view`."""

    @property
    def unread_folder(self) -> Path:
        """The folder of page pictures for a remote engine."""
        return self.folder / "unread"

    @property
    def crops(self) -> Path:
        """The folder of formula crops for a remote reader."""
        return self.folder / "crops"

    @property
    def readings(self) -> Path:
        """The folder with answers of remote engines."""
        return self.folder / "readings"

    @property
    def note(self) -> Path:
        """The file that notes the page being read."""
        return self.folder / "page"

    def allowance(self, place: int) -> Allowance:
        """Start and return the time allowance of one file."""
        skipped, failed = self.skipped.get(place, ()), self.failed.get(place, ())
        page_s = self.params.page_timeout_s
        return Allowance(self.limit_s(place), self.note, place, skipped, failed, page_s=page_s)

    def limit_s(self, place: int) -> float:
        """The CPU seconds in which pages of one file are started."""
        params = self.params
        return params.timeout_s + self.waiting.get(place, 0) * params.page_timeout_s

    @property
    def most_s(self) -> float:
        """The CPU seconds after which the process is terminated."""
        return sum(self.limit_s(place) for place in range(len(self.source.files))) + GRACE_S


class OcrOutcome(BaseModel):
    """The result of a job: `error` is a code and its message, or None.

    `where` lists the pages of the paper by code.
    """

    codes: list[str] = []
    where: dict[str, str] = {}
    pages: int = 0
    error: tuple[str, str] | None = None
    corrections: list[CorrectionRow] = []
    unread: dict[int, list[int]] = {}
    """The pages of each file of the source, by index, that no engine has read."""
    crops: int = 0
    """The number of formulas that wait for the formula reader."""
    cpu_s: float | None = None
    peak_mb: int | None = None


class Unread(NamedTuple):
    """The pages of one source that no engine has read, and its doubtful formulas.

    `pages` has them by the index of their file in the source. Their `pictures` are in one folder,
    `crops` of formulas in another; the `readings` of both go to a third.
    """

    source: Source
    pictures: Path
    readings: Path
    pages: Mapping[int, Sequence[int]]
    crops: Path | None = None

    def picture(self, place: int, number: int) -> Path:
        """Return the path of the picture of a page."""
        return self.pictures / f"{place}-p{number:04d}.png"


Ahead = Callable[[Unread], None]
"""Requests pages and writes their readings; raises OmibenchError without an answer."""


def count_workers(papers: int) -> int:
    """Return the number of papers to read in parallel."""
    if hasattr(os, "sched_getaffinity"):  # not every system reports it
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min(_AT_ONCE, cores, papers))
