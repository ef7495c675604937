"""Grid of verdicts under one scorer: one row per item, one column per cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from omibench.explore.items import Items
from omibench.explore.run import Run
from omibench.params.cell import Cell


@dataclass(frozen=True)
class Grid:
    """Verdicts of all items in all cells.

    Attributes:
        cells: The columns.
        values: Mean verdict of the samples that count, in [0, 1], rows in the order of `Items.ids`;
            NaN for items without a verdict.
        failed: The share of those without an answer to score, in [0, 1]; NaN as above.
    """

    cells: Sequence[Cell]
    values: NDArray[np.float32]
    failed: NDArray[np.float32]

    def select(self, columns: Sequence[int]) -> Grid:
        """Return the grid with some of its columns; itself if nothing changes."""
        chosen = list(columns)
        if chosen == list(range(len(self.cells))):
            return self
        cells = [self.cells[column] for column in chosen]
        return Grid(cells, self.values[:, chosen], self.failed[:, chosen])


def compute_grid(items: Items, run: Run, rules: str) -> Grid:
    """Compute the grid of a run under a scorer.

    Args:
        items: The items; verdicts on others are ignored.
        run: The run.
        rules: The name of the scorer.
    """
    columns = pl.DataFrame(
        {
            "model": [cell.model for cell in run.cells],
            "setting": [cell.setting for cell in run.cells],
            "column": list(range(len(run.cells))),
        },
        schema_overrides={"model": pl.String, "setting": pl.String, "column": pl.Int64},
    )
    rows = pl.DataFrame({"id": items.ids}).with_row_index("row")
    means = (
        run.verdicts.lazy()
        .filter("counts", pl.col("rules") == rules)
        .group_by("model", "setting", "id")
        .agg(
            value=pl.col("verdict").mean(),
            failed=(pl.col("outcome") != "scored").mean(),
        )
        .join(columns.lazy(), on=["model", "setting"])
        .join(rows.lazy(), on="id")
        .collect()
    )
    shape = (len(items.ids), len(run.cells))
    values = np.full(shape, np.nan, dtype=np.float32)
    failed = np.full(shape, np.nan, dtype=np.float32)
    place = (means["row"].to_numpy(), means["column"].to_numpy())
    values[place] = means["value"].to_numpy()
    failed[place] = means["failed"].to_numpy()
    return Grid(run.cells, values, failed)
