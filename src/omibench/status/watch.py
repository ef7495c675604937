"""Repeated status: a terminal that is redrawn, and a page that is rewritten."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from omibench.status.page import write_page
from omibench.status.reader import Looker
from omibench.status.rows import StudyStatus
from omibench.status.screen import alternate_screen, has_screen
from omibench.status.text import headline, render
from omibench.text.terminal import say

GRACE_S = 20.0
"""Seconds after a run's end in which the next can begin: `dvc repro` starts one per stage."""


def watch(looker: Looker, every_s: float, page: Path | None = None) -> StudyStatus:
    """Show the status every `every_s` seconds until the run ends; returns the last one.

    It waits for the first run. A terminal is redrawn on its alternate screen, and the last status
    stays on the normal one; otherwise a line is written each time.
    """
    if not has_screen():
        return _follow(looker, every_s, page, lambda status: say(headline(status)))
    with alternate_screen() as show:
        return _follow(looker, every_s, page, lambda status: show(render(status)))


def _follow(
    looker: Looker, every_s: float, page: Path | None, show: Callable[[StudyStatus], None]
) -> StudyStatus:
    last: StudyStatus | None = None
    for last in _looks(looker, every_s):
        ends = not last.live
        if page is not None:
            write_page(page, last, None if ends else every_s)
        show(last)
    assert last is not None
    return last


def _looks(looker: Looker, every_s: float) -> Iterator[StudyStatus]:
    """Yield statuses until the observed run has ended and no other has begun."""
    last_live: float | None = None
    while True:
        status = looker.look()
        if status.live:
            last_live = time.monotonic()
        yield status
        if not status.live and status.complete:
            return
        if not status.live and last_live is not None:
            over = time.monotonic() - last_live > GRACE_S
            if over or status.failures:
                return
        time.sleep(every_s)
