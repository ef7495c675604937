"""The status of one cell, from its files, the notes of runs and the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from omibench.params.cell import Cell
from omibench.params.study import Study
from omibench.schemas.request import NOT_BOUGHT
from omibench.status.rows import CellStatus
from omibench.status.runs import RunJob, State
from omibench.status.stored import Stored, StoredCounts, WrittenCounts
from omibench.status.written import FileCounts, WrittenCells

BEGUN: tuple[State, ...] = ("running", "failed", "stopped")
_CLOSED: tuple[State, ...] = ("done", "incomplete")


class CellPart(NamedTuple):
    """One job of a cell: its state in the notes of runs, and the content of its file."""

    job: RunJob | None
    written: FileCounts | None

    @property
    def state(self) -> State:
        """Its state: the notes of a run take precedence over an existing file."""
        if self.job is not None and self.job.state != "done":
            return self.job.state
        if self.written is None:
            return "waiting"
        return "incomplete" if count_lacking(self.written) else "done"


def cell_file(study: Study, stage: str, cell: Cell) -> Path:
    """Return the file of a cell at one stage."""
    return Path(study.study.results) / stage / cell.model / f"{cell.setting}.parquet"


def cell_statuses(
    study: Study, jobs: Mapping[str, RunJob], files: WrittenCells, stored: Stored
) -> list[CellStatus]:
    """Return the status of every cell. The store is read only for cells without a file."""
    paths = {(c, s): cell_file(study, s, c) for c in study.cells for s in ("infer", "score")}
    written = files.read(paths.values())
    parts = {k: CellPart(jobs.get(p.as_posix()), written.get(p)) for k, p in paths.items()}
    infer = {cell: parts[cell, "infer"] for cell in study.cells}
    open_ = [cell for cell, part in infer.items() if part.state not in _CLOSED]
    filling = {j.model for j in jobs.values() if j.stage == "fill" and j.state in BEGUN}
    begun = {c for c in open_ if infer[c].state in BEGUN or c.model in filling}
    counts = stored.look(open_, begun, _count_written(study, infer))
    return [
        _make_status(cell, part, parts[cell, "score"], counts.get(cell))
        for cell, part in infer.items()
    ]


def _count_written(study: Study, infer: Mapping[Cell, CellPart]) -> WrittenCounts:
    counts = WrittenCounts(Counter(), {})
    for cell, part in infer.items():
        if part.written and part.state in _CLOSED:
            rows = part.written.rows.total()
            counts.answered[cell.model] += rows - count_lacking(part.written)
            if not study.models[cell.model].is_recorded:
                counts.requests[cell.setting] = rows
    return counts


def count_lacking(written: FileCounts) -> int:
    """Count responses without an answer, by the scorer that saw most of them."""
    by_rules: Counter[str] = Counter()
    for (rules, outcome), count in written.rows.items():
        if outcome in NOT_BOUGHT:
            by_rules[rules] += count
    return max(by_rules.values(), default=0)


def _make_status(
    cell: Cell, infer: CellPart, score: CellPart, counts: StoredCounts | None
) -> CellStatus:
    requests, answered, usd = counts or StoredCounts(None)
    outcomes: dict[str, int] = {}
    lacking = 0
    if infer.written is not None and counts is None:
        outcomes, lacking, usd = (
            infer.written.outcomes,
            count_lacking(infer.written),
            infer.written.usd,
        )
        requests = infer.written.rows.total()
        answered = requests - lacking
    scored, scored_state = score.written, score.state
    if scored is not None and scored_state == "incomplete" and count_lacking(scored) <= lacking:
        scored_state = "done"  # missing responses count there already
    return CellStatus(
        model=cell.model,
        setting=cell.setting,
        infer=infer.state,
        score=scored_state,
        requests=requests,
        answered=answered,
        outcomes=outcomes,
        lacking=lacking,
        judge_failed=scored.count_outcome("judge_failed") if scored else 0,
        usd=usd,
        simulated=any(part.written.simulated for part in (infer, score) if part.written),
    )
