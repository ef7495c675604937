"""The columns shared by all tables of results: types, checks and writing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl
from polars import selectors

from omibench.errors import PluginError
from omibench.files.atomic import replace_atomically
from omibench.files.csv_file import write_frame_csv
from omibench.files.outputs import made_folder
from omibench.results.slices import JOINT

__all__ = ["COLUMNS", "JOINT", "complete_table", "write_table"]

COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "result": "String",
        "model": "String",
        "setting": "String",
        "rules": "String",
        "dataset": "String",
        "slice": "String",
        "value": "String",
        "metric": "String",
        "estimate": "Float64",
        "low": "Float64",
        "high": "Float64",
        "n": "Int64",
        "clusters": "Int64",
        "simulated": "Boolean",
    }
)
"""Each column with its type. `model`, `setting`, `rules`, `slice` and `value` are empty if a row
covers all of them; `slice` lists attributes and `value` their values, joined by ` × `; `estimate`,
`low` and `high` are shares in [0, 1] unless the metric says otherwise; `n` counts items."""
_DIGITS = 6
_WORDS = ("model", "setting", "rules", "dataset", "slice", "value", "metric")


def complete_table(frame: pl.DataFrame, name: str, dataset: str) -> pl.DataFrame:
    """Add missing standard columns to a table and round its numbers to 6 digits.

    The arguments and errors are those of `fill_table`.
    """
    return round_table(fill_table(frame, name, dataset))


def round_table(frame: pl.DataFrame) -> pl.DataFrame:
    """Round the numbers of a table to 6 digits, as in files, so that equal results are equal."""
    return frame.with_columns(selectors.float().round(_DIGITS))


def fill_table(frame: pl.DataFrame, name: str, dataset: str) -> pl.DataFrame:
    """Add missing standard columns to a table, in order; its other columns follow.

    Args:
        frame: Table returned by a result.
        name: Name of the result.
        dataset: Name of the dataset.

    Returns:
        The table, with NaN as null.

    Raises:
        PluginError: A column has the wrong type.
    """
    types = {column: getattr(pl, kind) for column, kind in COLUMNS.items()}
    defaults: dict[str, Any] = {**dict.fromkeys(_WORDS, ""), "result": name, "dataset": dataset}
    present = frame.columns
    filled = frame.with_columns(
        pl.lit(defaults.get(column), dtype=kind).alias(column)
        for column, kind in types.items()
        if column not in present
    )
    try:
        cast = filled.with_columns(
            pl.col(column).cast(kind, strict=True) for column, kind in types.items()
        )
    except pl.exceptions.PolarsError as error:
        first_line = str(error).strip().splitlines()[0]
        raise PluginError(f"result {name!r}: {first_line}") from error
    more = [column for column in present if column not in COLUMNS]
    return cast.select(*COLUMNS, *more).with_columns(
        pl.col(_WORDS).fill_null(""), selectors.float().fill_nan(None)
    )


def write_table(frame: pl.DataFrame, folder: Path, name: str) -> None:
    """Write a table as `<name>.csv` and `<name>.parquet`; equal tables give equal files.

    Raises:
        OutputError: A file cannot be written.
    """
    made_folder(folder)
    write_frame_csv(folder / f"{name}.csv", frame)
    with replace_atomically(folder / f"{name}.parquet") as partial:
        frame.write_parquet(partial)
