"""The samples that count: all of them, or the one that a setting's `aggregate` chose."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from omibench.errors import FileFormatError
from omibench.params.stages.aggregate import AggregationRule
from omibench.schemas.tables import AggregateRow, read_parquet

if TYPE_CHECKING:
    import polars as pl

_CHOOSING: Final = tuple(set(get_args(AggregationRule)) - {"mean", "first"})
"""The metrics by which earlier versions marked the sample that counts; `first` had none."""
_CELL: Final = ("model", "setting")
_PLACE: Final = (*_CELL, "id", "_scorer")


def read_aggregates(path: Path) -> pl.DataFrame:
    """Read what the stage `aggregate` wrote for a cell, with `counts` in every row.

    Args:
        path: The file of the cell.

    Returns:
        The columns of AggregateRow.

    Raises:
        FileFormatError: The file is broken, or an earlier version wrote it without stating which
            sample counts; with the command that rebuilds it.
        MissingInputError: The file does not exist.
    """
    import polars as pl

    frame = read_parquet(path, AggregateRow)
    if not frame["counts"].null_count():
        return frame
    is_choice = pl.col("metric").is_in(_CHOOSING)
    if frame.filter(is_choice).is_empty():
        raise FileFormatError(
            f"{path}: an earlier version wrote it without the samples that count; rebuild it with "
            f"`snakemake --cores all --forcerun {shlex.quote(str(path))}`"
        )
    largest = pl.col("k") == pl.col("k").filter(is_choice).max()
    return frame.with_columns(counts=is_choice & largest)


def mark_counts(verdicts: pl.DataFrame, aggregates: pl.DataFrame) -> pl.DataFrame:
    """Add the column `counts`: whether a verdict's sample counts.

    Args:
        verdicts: Rows with `model, setting, id, index, rules`.
        aggregates: Rows of the same cells with `model, setting, id, index, rules, counts`. Every
            sample of a cell counts that has no row with `counts`.

    Returns:
        The same rows; the judge `scorer/judge` of a panel counts if the panel does.

    Raises:
        FileFormatError: `aggregates` chose no sample for a verdict in a cell where it chose some.
    """
    import polars as pl

    chosen = aggregates.filter("counts").select(
        *_CELL, "id", pl.col("rules").alias("_scorer"), pl.col("index").alias("_chosen")
    )
    if chosen.is_empty():
        return verdicts.with_columns(counts=pl.lit(value=True))
    is_chosen = pl.col("index") == pl.col("_chosen")
    marked = (
        verdicts.with_columns(_scorer=pl.col("rules").str.split("/").list.first())
        .join(chosen, on=_PLACE, how="left", maintain_order="left")
        .join(
            chosen.select(*_CELL, _chooses=True).unique(),
            on=_CELL, how="left", maintain_order="left",
        )
        .with_columns(counts=is_chosen.fill_null(pl.col("_chooses").is_null()))
    )  # fmt: skip
    is_lost = ~pl.col("counts").any().over(_PLACE)
    lost = marked.filter(is_lost)
    if lost.height:
        row = lost.row(0, named=True)
        raise FileFormatError(
            f"aggregate/{row['model']}/{row['setting']}.parquet: chooses no sample of "
            f"{row['id']!r} that has a verdict of {row['_scorer']!r}; run `omibench aggregate` for "
            f"{row['model']} under {row['setting']} again"
        )
    return marked.drop("_scorer", "_chosen", "_chooses")
