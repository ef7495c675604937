"""Aggregate: what several samples of one problem are worth together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omibench.params.study import Cell, Study


def aggregate_cell(results: str | Path, out: str | Path, study: Study, cell: Cell) -> int:
    """Aggregate the samples of one cell; see `stage.aggregate`."""
    from omibench.stages.aggregate.stage import aggregate

    return aggregate(Path(results), Path(out), study, cell)
