"""Columns of Parquet files: types, and columns missing from older files."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from pydantic import BaseModel

if TYPE_CHECKING:
    import polars as pl


class AddedLater:
    """Marks a column that is missing from files of an older omibench and read as null."""


class Sparse(AddedLater):
    """Marks a column that a file also omits if no row has a value."""


ADDED_LATER: Final = AddedLater()
SPARSE: Final = Sparse()


def polars_schema(row: type[BaseModel]) -> dict[str, pl.DataType]:
    """Column name -> polars type of a flat row."""
    import polars as pl

    types: dict[object, pl.DataType] = {
        str: pl.String(), int: pl.Int64(), float: pl.Float64(), bool: pl.Boolean()
    }  # fmt: skip

    def dtype(annotation: object) -> pl.DataType:
        if get_origin(annotation) is UnionType or NoneType in get_args(annotation):
            annotation = next(a for a in get_args(annotation) if a is not NoneType)
        if get_origin(annotation) is list:
            return pl.List(dtype(get_args(annotation)[0]))
        return types[annotation]

    return {name: dtype(field.annotation) for name, field in row.model_fields.items()}


def may_be_missing(row: type[BaseModel], column: str) -> bool:
    """Return whether a file can lack a column, which is then read as null in all rows."""
    return any(isinstance(mark, AddedLater) for mark in row.model_fields[column].metadata)


def list_sparse_columns(row: type[BaseModel]) -> list[str]:
    """Return the columns that a file omits if no row has a value, in the order of the fields."""
    return [name for name, field in row.model_fields.items() if SPARSE in field.metadata]


def add_null_columns(frame: pl.DataFrame, row: type[BaseModel]) -> pl.DataFrame:
    """Add the missing columns of `row` to a frame as nulls, in the order of its fields.

    Columns that are not fields of `row` follow.
    """
    import polars as pl

    schema = polars_schema(row)
    absent = [pl.lit(None, schema[name]).alias(name) for name in schema.keys() - {*frame.columns}]
    others = [name for name in frame.columns if name not in schema]
    return frame.with_columns(absent).select(*schema, *others)


def build_frame(values: dict[str, list[Any]], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """Build a frame from lists of values by column, with the types in `schema`."""
    import polars as pl

    columns = {name: _column(column, schema[name]) for name, column in values.items()}
    return pl.DataFrame(columns, schema=schema)


def _column(values: list[Any], dtype: pl.DataType) -> pl.Series | list[Any]:
    """Return values as polars accepts them: it makes a series of each list, even an empty one."""
    import polars as pl

    if isinstance(dtype, pl.List) and values and all(value == [] for value in values):
        return pl.Series([[]], dtype=dtype).new_from_index(0, len(values))
    return values
