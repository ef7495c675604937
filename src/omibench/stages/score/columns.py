"""Columns of scored rows: unchanged input columns, and new ones."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

_LOG = logging.getLogger("omibench")
_FLOATS = ("verdict", "credit", "strict", "ratio", "gptscore")
_INTEGERS = ("version",)


def build_scored_frame(
    raw: Sequence[Mapping[str, Any]], new: Mapping[str, Sequence[Any]]
) -> pl.DataFrame:
    """Return the input rows followed by the new columns.

    An input column with the name of a new one is kept as `input_<name>`, with a warning. A column
    without a single type (numbers and text, objects of different shapes) becomes JSON text.
    """
    input_names = list(dict.fromkeys(name for row in raw for name in row))
    names = _name_columns(input_names, set(new))
    columns = [_make_column(names[name], [row.get(name) for row in raw]) for name in input_names]
    columns += [pl.Series(name, values, dtype=_choose_type(name)) for name, values in new.items()]
    return pl.DataFrame(columns)


def _choose_type(name: str) -> type[pl.DataType]:
    return pl.Float64 if name in _FLOATS else pl.Int64 if name in _INTEGERS else pl.String


def _name_columns(input_names: Sequence[str], new: set[str]) -> dict[str, str]:
    """Return the output name of every input column."""
    names = {name: name for name in input_names}
    used_names = {*input_names, *new}
    for name in input_names:
        if name in new:
            output_name = f"input_{name}"
            while output_name in used_names:
                output_name = f"input_{output_name}"
            used_names.add(output_name)
            names[name] = output_name
            _LOG.warning("score: the input column %r is kept as %r", name, output_name)
    return names


def _make_column(name: str, values: list[Any]) -> pl.Series:
    types = {type(value) for value in values} - {type(None)}
    try:
        series = pl.Series(name, values, pl.Float64 if types == {int, float} else None, strict=True)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        return _as_json(name, values)
    return series if _preserves(series, values) else _as_json(name, values)


def _preserves(series: pl.Series, values: Sequence[Any]) -> bool:
    """Return whether a column round-trips with a type that any Parquet reader knows."""
    contents = series.to_list()
    return _is_common(series.dtype) and all(
        a == b or (a != a and b != b)  # noqa: PLR0124 (NaN)
        for a, b in zip(contents, values, strict=True)
    )


def _is_common(dtype: pl.DataType) -> bool:
    if isinstance(dtype, pl.List | pl.Array):
        return _is_common(dtype.inner)  # type: ignore[arg-type]
    if isinstance(dtype, pl.Struct):
        return bool(dtype.fields) and all(_is_common(field.dtype) for field in dtype.fields)  # type: ignore[arg-type]
    return not isinstance(dtype, pl.Object | pl.Int128)


def _as_json(name: str, values: Sequence[Any]) -> pl.Series:
    texts = [None if value is None else _json(value) for value in values]
    if name == "id":  # 7 in a column with "q8" is a name, without quotes
        texts = [str(value) for value in values]
    return pl.Series(name, texts, dtype=pl.String)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
