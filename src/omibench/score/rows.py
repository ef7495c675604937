"""Input files of `omibench score`: JSONL (also .gz) or Parquet, checked row by row."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from omibench.errors import FileFormatError, MissingInputError, reason_of
from omibench.problem import AnswerType, Choice
from omibench.surrogates import replace_surrogates
from omibench.verdict import ScoredItem

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class InputRow(BaseModel):
    """One row to score. Columns that are not named here are kept as they are."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: str | int
    prediction: str | None
    gold: Annotated[list[str], Field(min_length=1)]
    answer_type: AnswerType
    choices: Annotated[list[str], Field(max_length=len(LABELS))] | None
    finish_reason: str | None = None
    question: str | None = None


class FileRow(NamedTuple):
    """A row as it stood in its file, and what scoring reads of it."""

    raw: dict[str, Any]
    item: ScoredItem
    question: str


def read_rows(inputs: Sequence[Path]) -> list[FileRow]:
    """Every row of every file, in order.

    Raises MissingInputError for a file that is not there and FileFormatError naming file, row
    (from 1) and column for one that breaks the contract, or that it holds no rows.
    """
    return [row for path in inputs for row in _rows(path)]


def _rows(path: Path) -> list[FileRow]:
    rows = [_check(raw, path, number) for number, raw in enumerate(_raw(path), 1)]
    if not rows:
        raise FileFormatError(f"{path}: holds no rows: give the file of responses to score")
    return rows


def _raw(path: Path) -> Iterator[dict[str, Any]]:
    if path.is_dir():
        raise MissingInputError(
            f"{path}: is a folder; name files in it, or --explain one of its ids"
        )
    if not path.is_file():
        raise MissingInputError(f"{path}: there is no such file")
    suffix = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
    if suffix == ".parquet":
        yield from _parquet(path)
    elif suffix in (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"):
        yield from _jsonl(path)
    else:
        raise FileFormatError(f"{path}: give a .jsonl, .jsonl.gz or .parquet file, not {suffix!r}")


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileFormatError(f"{path}: is not a Parquet file: {reason_of(error)}") from None
    yield from frame.iter_rows(named=True)


def _jsonl(path: Path) -> Iterator[dict[str, Any]]:
    number = 0
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                if not line.strip():
                    continue
                number += 1
                row = replace_surrogates(json.loads(line)) if "\\u" in line else json.loads(line)
                if not isinstance(row, dict):
                    raise FileFormatError(f"{path}, row {number}: is not a JSON object")
                yield row
    except (json.JSONDecodeError, RecursionError) as error:
        raise FileFormatError(f"{path}, row {number}: is not JSON: {error}") from None
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path}: cannot be read: {reason_of(error)}") from None


def _check(raw: dict[str, Any], path: Path, number: int) -> FileRow:
    where = f"{path}, row {number}"
    missing = [c for c, f in InputRow.model_fields.items() if f.is_required() and c not in raw]
    if missing:
        cell = "; for a cell of responses name --answers" if {"key", "text"} <= raw.keys() else ""
        raise FileFormatError(
            f"{where}: lacks the column {missing[0]!r}; it has {', '.join(sorted(raw))}{cell}"
        )
    try:
        row = InputRow.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        value = repr(first["input"])
        shown = value if len(value) <= 80 else value[:77] + "..."
        raise FileFormatError(
            f"{where}, column {first['loc'][0]!r}: {first['msg']} (got {shown})"
        ) from None
    item = ScoredItem(
        id=str(row.id),
        prediction=row.prediction or "",
        gold=row.gold,
        answer_type=row.answer_type,
        choices=_choices(row.choices),
        finish_reason=row.finish_reason,
    )
    return FileRow(raw, item, row.question or "")


def _choices(texts: list[str] | None) -> list[Choice] | None:
    if not texts:
        return None
    return [Choice(label=label, text=text) for label, text in zip(LABELS, texts, strict=False)]
