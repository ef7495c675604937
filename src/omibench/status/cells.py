"""One cell's status, from what its files hold, what the runs say of it and what the store holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from omibench.params.cell import Cell
from omibench.params.study import Study
from omibench.schemas.request import NOT_BOUGHT
from omibench.status.rows import CellStatus
from omibench.status.runs import Job, State
from omibench.status.stored import Held, Known, Stored
from omibench.status.written import Written, WrittenCells

BEGUN: tuple[State, ...] = ("running", "failed", "stopped")
_CLOSED: tuple[State, ...] = ("done", "incomplete")


class Part(NamedTuple):
    """One job of a cell: what the runs say of it, and what its file holds."""

    job: Job | None
    written: Written | None

    @property
    def state(self) -> State:
        """How it stands: the word of a run goes before the file that is there."""
        if self.job is not None and self.job.state != "done":
            return self.job.state
        if self.written is None:
            return "waiting"
        return "incomplete" if lacking_of(self.written) else "done"


def cell_file(study: Study, stage: str, cell: Cell) -> Path:
    """The file of a cell at one stage."""
    return Path(study.study.results) / stage / cell.model / f"{cell.setting}.parquet"


def cell_statuses(
    study: Study, jobs: Mapping[str, Job], files: WrittenCells, stored: Stored
) -> list[CellStatus]:
    """The status of every cell. The store is asked only about cells that are not written."""
    paths = {(c, s): cell_file(study, s, c) for c in study.cells for s in ("infer", "score")}
    written = files.read(paths.values())
    parts = {k: Part(jobs.get(p.as_posix()), written.get(p)) for k, p in paths.items()}
    infer = {cell: parts[cell, "infer"] for cell in study.cells}
    open_ = [cell for cell, part in infer.items() if part.state not in _CLOSED]
    filling = {j.model for j in jobs.values() if j.stage == "fill" and j.state in BEGUN}
    begun = {c for c in open_ if infer[c].state in BEGUN or c.model in filling}
    held = stored.look(open_, begun, _known(study, infer))
    return [
        _status(cell, part, parts[cell, "score"], held.get(cell)) for cell, part in infer.items()
    ]


def _known(study: Study, infer: Mapping[Cell, Part]) -> Known:
    known = Known(Counter(), {})
    for cell, part in infer.items():
        if part.written and part.state in _CLOSED:
            rows = part.written.rows.total()
            known.answered[cell.model] += rows - lacking_of(part.written)
            if not study.models[cell.model].is_recorded:
                known.requests[cell.setting] = rows
    return known


def lacking_of(written: Written) -> int:
    """Responses without an answer: by the rule book that saw most of them."""
    by_rules: Counter[str] = Counter()
    for (rules, outcome), count in written.rows.items():
        if outcome in NOT_BOUGHT:
            by_rules[rules] += count
    return max(by_rules.values(), default=0)


def _status(cell: Cell, infer: Part, score: Part, held: Held | None) -> CellStatus:
    requests, answered, usd = held or Held(None)
    outcomes: dict[str, int] = {}
    lacking = 0
    if infer.written is not None and held is None:
        outcomes, lacking, usd = (
            infer.written.outcomes,
            lacking_of(infer.written),
            infer.written.usd,
        )
        requests = infer.written.rows.total()
        answered = requests - lacking
    scored, scored_state = score.written, score.state
    if scored is not None and scored_state == "incomplete" and lacking_of(scored) <= lacking:
        scored_state = "done"  # what it lacks, the responses lack
    return CellStatus(
        model=cell.model,
        setting=cell.setting,
        infer=infer.state,
        score=scored_state,
        requests=requests,
        answered=answered,
        outcomes=outcomes,
        lacking=lacking,
        judge_failed=scored.with_outcome("judge_failed") if scored else 0,
        usd=usd,
        simulated=any(part.written.simulated for part in (infer, score) if part.written),
    )
