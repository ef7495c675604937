"""A terminal's alternate screen: what it showed before, and its scrollback, stay as they are."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from omibench.schemas.tables import write_text
from omibench.study.status.reader import Looker
from omibench.study.status.rows import CellStatus, StageStatus, StudyStatus
from omibench.study.status.runs import State
from omibench.study.status.text import (
    DETAILED_FAILURES,
    cell_word,
    clock,
    describe_progress,
    headline,
    render,
    totals,
)
from omibench.text.terminal import raw_stream, say, say_lines
from omibench.web.templates import PAGE_WITHOUT_PICTURES_POLICY, render_page

_ENTER = "\x1b[?1049h\x1b[?25l"
_LEAVE = "\x1b[?25h\x1b[?1049l"
_CLEAR = "\x1b[H\x1b[J"

Show = Callable[[str], None]


def has_screen() -> bool:
    """Return whether standard output is a terminal that obeys escape sequences."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def alternate_screen() -> Iterator[Show]:
    """Use the alternate screen of the terminal during a block, without a cursor.

    However the block ends, the terminal is as before; then the last text is printed there once.

    Yields:
        A function that shows a text in place of the one before.
    """
    last: list[str] = []

    def show(text: str) -> None:
        last[:] = [text]
        _write(_CLEAR)
        say_lines(_crop(text))

    try:
        _write(_ENTER)
        yield show
    finally:
        with suppress(OSError):  # the terminal was closed
            _write(_LEAVE)
            for text in last:
                say_lines(text)


def _crop(text: str) -> str:
    """Return the first lines of a text that fit, and how many do not."""
    columns, rows = shutil.get_terminal_size()
    lines = text.splitlines()
    heights = [1 + max(0, len(line) - 1) // max(1, columns) for line in lines]
    if sum(heights) < rows:
        return text
    shown, used = 0, 2  # the line about the rest, and the one of the cursor
    while shown < len(lines) and used + heights[shown] <= rows:
        used += heights[shown]
        shown += 1
    return "\n".join([*lines[:shown], f"... {len(lines) - shown} more lines: `omibench status`"])


def _write(codes: str) -> None:
    stream = raw_stream(sys.stdout)
    stream.write(codes)
    stream.flush()


# The status as one page: opens from disk, without scripts or requests, and reloads itself.

_MARKS = {
    "done": "\N{CHECK MARK}",
    "failed": "\N{MULTIPLICATION X}",
    "stopped": "\N{DOUBLE VERTICAL BAR}",
    "incomplete": "!",
}
_WORST: tuple[State, ...] = ("failed", "stopped", "running", "incomplete", "waiting", "done")
_PARTS = ("done", "running", "incomplete", "failed", "stopped")


class CellBox(NamedTuple):
    """One cell on the page: a state, a mark, its progress, and a sentence."""

    state: str
    mark: str
    percent: float
    says: str


def write_page(path: Path, status: StudyStatus, reload_s: float | None) -> None:
    """Write the page; it reloads itself every `reload_s` seconds, or never."""
    settings = list(dict.fromkeys(cell.setting for cell in status.cells))
    rows: dict[str, dict[str, CellBox]] = {}
    for cell in status.cells:
        rows.setdefault(cell.model, {})[cell.setting] = box(cell)
    text = render_page(
        "omibench.study.status",
        "status.html.j2",
        csp=PAGE_WITHOUT_PICTURES_POLICY,
        reload=None if reload_s is None else max(1, round(reload_s)),
        status=status,
        doing=describe_progress(status),
        clock=clock(status.now),
        totals=totals(status),
        stages=[(stage, _parts(stage)) for stage in status.stages],
        settings=settings,
        rows=rows,
        legend=_legend(rows),
        shown=DETAILED_FAILURES,
        percent=_percent(status),
    )
    write_text(path, text)


def box(cell: CellStatus) -> CellBox:
    """Return the box of a cell."""
    state: str = next(state for state in _WORST if state in cell.states)
    word = cell_word(cell)
    if state == "waiting" and (cell.infer == "done" or cell.answered):
        state = "begun"
    says = f"{cell.model} under {cell.setting}: infer {cell.infer}, score {cell.score}"
    says += f"; {cell.answered:,} of {cell.requests:,} answered" if cell.requests else ""
    says += f"; {cell.lacking:,} without an answer" if cell.lacking else ""
    full = 100 * cell.answered / cell.requests if cell.requests else 0.0
    mark = _MARKS.get(state, "" if word == "-" else word)
    return CellBox(state, mark, full, says)


def _percent(status: StudyStatus) -> float | None:
    return 100 * status.answered / status.requests if status.requests else None


def _parts(stage: StageStatus) -> list[tuple[str, float]]:
    """Return the bar of a stage: (state, per cent of its width)."""
    return [
        (state, 100 * count / stage.jobs) for state in _PARTS if (count := getattr(stage, state))
    ]


def _legend(rows: dict[str, dict[str, CellBox]]) -> list[str]:
    present = {box.state for row in rows.values() for box in row.values()}
    return [s for s in ("done", "running", "begun", "incomplete", "failed", "stopped", "waiting")
            if s in present]  # fmt: skip


# Repeated status: a terminal that is redrawn, and a page that is rewritten.

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
