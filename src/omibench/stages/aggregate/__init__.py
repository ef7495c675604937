"""Aggregate: what several samples of one problem are worth together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omibench.params.cell import Cell
from omibench.params.stage_params import AggregateStageParams


def aggregate_cell(
    results: str | Path, out: str | Path, study: AggregateStageParams, cell: Cell
) -> int:
    """Aggregate the samples of one cell; see `stage.aggregate`."""
    from omibench.stages.aggregate.stage import aggregate

    return aggregate(Path(results), Path(out), study, cell)
