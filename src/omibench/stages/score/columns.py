"""The columns of scored rows: those of the input as they came, and the new ones beside them."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

_LOG = logging.getLogger("omibench")
_NUMERIC = ("verdict", "credit", "gptscore")
_WHOLE = ("version",)


def scored_frame(
    raw: Sequence[Mapping[str, Any]], new: Mapping[str, Sequence[Any]]
) -> pl.DataFrame:
    """The input rows with the new columns behind them.

    An input column that bears the name of a new one is kept as `input_<name>`, and a warning says
    so. A column that no single type can hold (numbers beside text, objects of different shapes)
    becomes JSON text.
    """
    import polars as pl

    given = list(dict.fromkeys(name for row in raw for name in row))
    names = _names(given, set(new))
    columns = [_column(names[name], [row.get(name) for row in raw]) for name in given]
    columns += [pl.Series(name, values, dtype=_type(name)) for name, values in new.items()]
    return pl.DataFrame(columns)


def _type(name: str) -> type[pl.DataType]:
    import polars as pl

    return pl.Float64 if name in _NUMERIC else pl.Int64 if name in _WHOLE else pl.String


def _names(given: Sequence[str], new: set[str]) -> dict[str, str]:
    """The output name of every input column."""
    names = {name: name for name in given}
    taken = {*given, *new}
    for name in given:
        if name in new:
            kept = f"input_{name}"
            while kept in taken:
                kept = f"input_{kept}"
            taken.add(kept)
            names[name] = kept
            _LOG.warning("score: the input column %r is kept as %r", name, kept)
    return names


def _column(name: str, values: list[Any]) -> pl.Series:
    import polars as pl

    types = {type(value) for value in values} - {type(None)}
    try:
        series = pl.Series(name, values, pl.Float64 if types == {int, float} else None, strict=True)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        return _as_json(name, values)
    return series if _holds(series, values) else _as_json(name, values)


def _holds(series: pl.Series, values: Sequence[Any]) -> bool:
    """Whether a column gives back what it was made from, and any Parquet reader knows its type."""
    kept = series.to_list()
    return _is_common(series.dtype) and all(
        a == b or (a != a and b != b)  # noqa: PLR0124 (NaN)
        for a, b in zip(kept, values, strict=True)
    )


def _is_common(dtype: pl.DataType) -> bool:
    import polars as pl

    if isinstance(dtype, pl.List | pl.Array):
        return _is_common(dtype.inner)  # type: ignore[arg-type]
    if isinstance(dtype, pl.Struct):
        return bool(dtype.fields) and all(_is_common(field.dtype) for field in dtype.fields)  # type: ignore[arg-type]
    return not isinstance(dtype, pl.Object | pl.Int128)


def _as_json(name: str, values: Sequence[Any]) -> pl.Series:
    import polars as pl

    texts = [None if value is None else _json(value) for value in values]
    if name == "id":  # 7 beside "q8" are names, without quotes
        texts = [str(value) for value in values]
    return pl.Series(name, texts, dtype=pl.String)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
