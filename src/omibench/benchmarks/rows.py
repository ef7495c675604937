"""The rows of a published file, checked one by one: every error names the file and the item."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from omibench.errors import FileFormatError, MissingInputError, reason_of
from omibench.explain import explain

Row = TypeVar("Row", bound=BaseModel)
SUFFIXES = (".jsonl", ".json", ".parquet", ".csv")
BATCH = 64
"""Rows of a Parquet file that are in memory at once: some hold their pictures."""


def typed_rows(path: Path, row: type[Row], key: str) -> Iterator[Row]:
    """Each row of a JSONL, JSON (a list), Parquet or CSV file; `key` names its id, if any.

    Columns that `row` lacks are left aside. Raises FileFormatError with the file, the item and
    what is wrong with it, also for an id that comes twice.
    """
    seen: set[str] = set()
    for number, raw in enumerate(_raw(path), 1):
        if not isinstance(raw, dict):
            raise FileFormatError(f"{path}: item {number} is no object with named fields")
        name = raw.get(key)
        unnamed = name in (None, "")
        where = f"{path}: item {number}" if unnamed else f"{path}: {name}"
        try:
            checked = row.model_validate(raw)
        except ValidationError as error:
            raise FileFormatError(f"{where}: {explain(error, row)}") from None
        if not unnamed and str(name) in seen:
            raise FileFormatError(f"{where}: two items have this {key}")
        seen.add(str(name))
        yield checked


@contextmanager
def naming(path: Path, item: str) -> Iterator[None]:
    """Turn what is wrong with a noun or a picture of an item into an error that names the item."""
    try:
        yield
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {item}: {error}") from None
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise FileFormatError(f"{path}: {item}: {message}") from None


def the_file(folder: Path, *stems: str) -> Path:
    """The one file of a benchmark in `folder`: the first of `stems` that is there.

    Raises MissingInputError naming what was looked for.
    """
    for stem in stems:
        for suffix in SUFFIXES:
            if (folder / f"{stem}{suffix}").is_file():
                return folder / f"{stem}{suffix}"
    names = " or ".join(f"{stem}{suffix}" for stem in stems for suffix in SUFFIXES[:3])
    raise MissingInputError(f"{folder}: holds none of the benchmark's files ({names})")


def _raw(path: Path) -> Iterator[Any]:
    try:
        if path.suffix == ".parquet":
            yield from _parquet(path)
        elif path.suffix == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as file:
                yield from csv.DictReader(file)
        elif path.suffix == ".json":
            yield from _list(path)
        else:
            yield from _lines(path)
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path}: cannot be read: {reason_of(error)}") from None


def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH):
                yield from batch.to_pylist()
    except pa.ArrowException as error:
        raise FileFormatError(f"{path}: is not a Parquet file: {reason_of(error)}") from None


def _list(path: Path) -> Iterator[Any]:
    try:
        rows = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise FileFormatError(f"{path}: is no JSON: {error}") from None
    if not isinstance(rows, list):
        raise FileFormatError(f"{path}: holds no list of items")
    yield from rows


def _lines(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except ValueError as error:
                raise FileFormatError(f"{path}, line {number}: is no JSON: {error}") from None
