"""The status as one page: opens from disk, without scripts or requests, and reloads itself."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from omibench.schemas.tables import write_text
from omibench.status.rows import CellStatus, StageStatus, StudyStatus
from omibench.status.runs import State
from omibench.status.text import DETAILED_FAILURES, cell_word, clock, describe_progress, totals
from omibench.web.policy import PAGE_WITHOUT_PICTURES_POLICY
from omibench.web.templates import render_page

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
        "omibench.status",
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
