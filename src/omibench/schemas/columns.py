"""Columns of Parquet files: types, and columns missing from older files."""

from __future__ import annotations

from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel

from omibench.schemas.problem import FrozenModel

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


# Row of `saliency/{model}/{setting}.parquet`, and the version of its measurement.

VERSION = 2
"""Version of the measurement. 1: the letter requested again after the whole response, with
log-probabilities over the whole vocabulary. 2: the letter at its position in the response, over
the options.
"""

SaliencyOutcome = Literal["scored", "no_response", "no_letter", "no_logprobs"]


class SaliencyRow(FrozenModel):
    """Effect of covering one patch of one picture on one option of a problem (see saliency.md).

    `drop` is log P(option) uncovered (`logprob`) minus that with the patch, in nats, P over the
    problem's options. `x`, `y` and `side` are pixels of the shown picture with the hash
    `sha256`. A problem that is not scored has one row, with the reason.
    """

    id: str
    outcome: Annotated[str | None, ADDED_LATER] = "scored"
    """`scored`, or why there are no numbers: a `SaliencyOutcome`."""
    reason: Annotated[str | None, ADDED_LATER] = None
    """Why the problem is not scored."""
    version: Annotated[int | None, ADDED_LATER] = None
    """Version of the measurement; None for the first."""
    reading: Annotated[str | None, ADDED_LATER] = None
    """Part of the response before the letter: `final_letter` or `before_answer`."""
    max_pixels: Annotated[int | None, ADDED_LATER] = None
    """Maximum pixels to which pictures were scaled down; None for their original resolution."""
    stride: Annotated[int | None, ADDED_LATER] = None
    """Pixels between patches."""
    key: str = ""
    """Key of the uncovered request."""
    image: int = 0
    """Index of the shown picture, from 0."""
    sha256: str = ""
    x: int = 0
    y: int = 0
    side: int = 0
    option: str = ""
    logprob: float | None = None
    drop: float | None = None
    mass: Annotated[float | None, ADDED_LATER] = None
    """Total probability of all options among all continuations, with nothing covered."""
    declares: Annotated[bool | None, ADDED_LATER] = False
    """Whether the text before the letter already states it as the option of the response."""
    chosen: bool = False
    """Whether it is the final option of the response."""
    right: bool = False
    simulated: bool = False


def map_file(folder: Path, problem: str, number: int, option: str) -> Path:
    """Return the path of the heat map of one option over one picture of a problem."""

    def safe(name: str) -> str:
        return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)

    return folder / f"{safe(problem)}-{number}-{safe(option)}.png"
