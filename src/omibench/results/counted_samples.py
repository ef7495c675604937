"""The samples that count: all of them, or the one that a setting's `aggregate` chooses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import MissingInputError
from omibench.params.cell import Cell
from omibench.params.stage_params import ResultsParams
from omibench.schemas.tables import AggregateRow, read_parquet

if TYPE_CHECKING:
    import polars as pl

_PLACE = ("model", "setting", "id", "scorer")


def mark_counted_samples(
    verdicts: pl.DataFrame, study: ResultsParams, folder: Path
) -> pl.DataFrame:
    """Return the verdicts with the column `counts`.

    `folder` is that of the stage `aggregate`. A judge of a panel counts if the panel does. Raises
    MissingInputError for a cell whose chosen samples are missing there.
    """
    import polars as pl

    first = [name for name, setting in study.settings.items() if setting.aggregate.how == "first"]
    schema = dict.fromkeys((*_PLACE, "picked"), pl.String) | {"picked": pl.Int64}
    picked = [
        frame for cell in study.aggregated_cells for frame in _read_picks(study, cell, folder)
    ]
    picks_by_problem = pl.concat([pl.DataFrame(schema=schema), *picked])
    by_scorer = verdicts.with_columns(scorer=pl.col("rules").str.split("/").list.first())
    joined = by_scorer.join(picks_by_problem, on=_PLACE, how="left", maintain_order="left")
    counts = pl.when(pl.col("setting").is_in(first)).then(pl.col("index") == 0)
    picks = (pl.col("index") == pl.col("picked")).fill_null(value=True)
    return joined.with_columns(counts=counts.otherwise(picks)).drop("scorer", "picked")


def read_aggregates(cell: Cell, folder: Path) -> pl.DataFrame | None:
    """Return the output of the stage `aggregate` for a cell; None if it was not run."""
    file = folder / cell.model / f"{cell.setting}.parquet"
    return read_parquet(file, AggregateRow) if file.is_file() else None


def _read_picks(study: ResultsParams, cell: Cell, folder: Path) -> Iterator[pl.DataFrame]:
    """Return (model, setting, id, scorer) -> the chosen sample, if the setting chooses one."""
    import polars as pl

    setting = study.settings[cell.setting]
    if setting.aggregate.how in ("mean", "first"):
        return
    aggregates = read_aggregates(cell, folder)
    if aggregates is None:
        raise MissingInputError(
            f"{folder / cell.model / cell.setting}.parquet: the file does not exist; run `omibench "
            f"aggregate` for {cell.model} under {cell.setting} first"
        )
    rows = aggregates.filter(metric=setting.aggregate.how, k=setting.decoding.samples)
    model, name = pl.lit(cell.model), pl.lit(cell.setting)
    yield rows.select(
        model.alias("model"), name.alias("setting"), "id", scorer="rules", picked="index"
    )
