"""The type of a result: a named function from the results of a study to a tidy table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
from polars import selectors

from omibench.errors import PluginError
from omibench.files.outputs import made_folder, replace_atomically, write_frame_csv
from omibench.plugins import Registry
from omibench.results.slices import JOINT

if TYPE_CHECKING:
    from omibench.stages.analyze.analysis import Analysis

    Tabulate = Callable[[Analysis], "pl.DataFrame | None"]


class ResultPart(NamedTuple):
    """A result: its name, title, source and the function that tabulates it."""

    name: str
    """The file name of its table: `results/analyze/tables/<name>.csv` and `.parquet`."""
    title: str
    """The contents of the table, in one line."""
    source: str
    """Paper and section or table; empty for our own results."""
    tabulate: Tabulate
    """The table, with columns of `result.COLUMNS` and more; None if a study has no data for it."""


RESULTS: Registry[ResultPart] = Registry("results", "result")
"""In order of writing: built-in results, then those of plug-ins."""


def result(name: str, title: str, source: str = "") -> Callable[[Tabulate], Tabulate]:
    """Return a decorator that registers a function as a result.

    Args:
        name: Name: letters, digits, `-` and `_`.
        title: Contents of the table, in one line.
        source: Paper and section or table that define it.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        PluginError: The name is already registered, or the decorated object is not a function.
    """
    RESULTS.check_name(name)

    def register(tabulate: Tabulate) -> Tabulate:
        if not callable(tabulate):
            raise PluginError(f"result {name!r}: decorate a function that takes an Analysis")
        part = ResultPart(name, title, source, tabulate)
        RESULTS.add(name, part, module=getattr(tabulate, "__module__", None))
        return tabulate

    return register


# The columns shared by all tables of results: types, checks and writing.

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
ESTIMATE = ("estimate", "low", "high")
_DIGITS = 6
_WORDS = ("model", "setting", "rules", "dataset", "slice", "value", "metric")


def write_estimate(found: Sequence[float | None]) -> dict[str, float | None]:
    """Return the columns of a number with its interval.

    Args:
        found: An estimate of `results.statistics`: its first fields are the number and its bounds.
    """
    return dict(zip(ESTIMATE, found, strict=False))


def frame_rows(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame | None:
    """Return rows, each of which can lack columns of others, as a table; None without rows."""
    return pl.DataFrame(rows, infer_schema_length=None) if rows else None


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
