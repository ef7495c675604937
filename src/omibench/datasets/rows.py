"""The rows of a published file, checked one by one: every error names the file and the item."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from omibench.errors import FileFormatError, MissingInputError
from omibench.files.intake import iter_frame, read_csv, read_json, read_json_lines
from omibench.schemas.validation import explain

Row = TypeVar("Row", bound=BaseModel)
SUFFIXES = (".jsonl", ".json", ".parquet", ".csv")


def typed_rows(path: Path, row: type[Row], key: str) -> Iterator[Row]:
    """Each row of a JSONL, JSON, Parquet or CSV file; `key` names its id, if any.

    A JSON file holds a list, or an object of rows by their ids. Columns that `row` lacks are left
    aside. Raises FileFormatError with the file, the item and what is wrong with it, also for an id
    that comes twice.
    """
    ids: set[str] = set()
    for number, raw in enumerate(_raw(path), 1):
        if not isinstance(raw, dict):
            raise FileFormatError(f"{path}: item {number} is no object with named fields")
        name = raw.get(key)
        unnamed = name in (None, "")
        place = f"{path}: item {number}" if unnamed else f"{path}: {name}"
        try:
            checked = row.model_validate(raw)
        except ValidationError as error:
            raise FileFormatError(f"{place}: {explain(error, row)}") from None
        if not unnamed and str(name) in ids:
            raise FileFormatError(f"{place}: two items have this {key}")
        ids.add(str(name))
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


def find_tables(
    folder: Path, name: re.Pattern[str], example: str
) -> list[tuple[Path, re.Match[str]]]:
    """The tables of a benchmark in `folder` or below it, in the order of their paths.

    Where they are there in several forms, those of the first of `SUFFIXES` are taken.

    Args:
        folder: Where to look.
        name: What the table's name, or that of the folder that it lies in, holds.
        example: Such a name, for the message.

    Returns:
        Each file, with what `name` has matched.

    Raises:
        MissingInputError: There is none.
    """
    for suffix in SUFFIXES:
        paths = sorted(folder.rglob(f"*{suffix}"))
        matches = [(path, name.search(f"{path.parent.name}/{path.stem}")) for path in paths]
        if files := [(path, match) for path, match in matches if match]:
            return files
    raise MissingInputError(f"{folder}: holds no table of the benchmark, such as {example!r}")


def _raw(path: Path) -> Iterator[Any]:
    if path.suffix == ".parquet":
        yield from iter_frame(path)
    elif path.suffix == ".csv":
        yield from read_csv(path)
    elif path.suffix == ".json":
        yield from _list(path)
    else:
        yield from (row for _, row in read_json_lines(path))


def _list(path: Path) -> Iterator[Any]:
    """The items of a JSON list, or of an object that holds them by their ids."""
    rows = read_json(path)
    if isinstance(rows, dict) and rows and all(isinstance(row, dict) for row in rows.values()):
        rows = list(rows.values())
    if not isinstance(rows, list):
        raise FileFormatError(f"{path}: holds no list of items")
    yield from rows
