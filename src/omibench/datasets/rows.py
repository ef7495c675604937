"""Rows of a published file, validated individually: every error gives the file and the item."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from omibench.datasets.dataset import Dataset
from omibench.errors import FileFormatError, MissingInputError
from omibench.files.parquet import iter_frame
from omibench.files.reading import Container, read_csv, read_json, read_json_lines
from omibench.schemas.problem import Answer, Question
from omibench.schemas.validation import explain

Row = TypeVar("Row", bound=BaseModel)
SUFFIXES = (".jsonl", ".json", ".parquet", ".csv")


def typed_rows(path: Path, row: type[Row], key: str) -> Iterator[Row]:
    """Yield each row of a JSONL, JSON, Parquet or CSV file; `key` is its id field, if any.

    A JSON file contains a list, or an object of rows by id. Columns that are not in `row` are
    ignored. Raises FileFormatError with the file, the item and the problem, also for a repeated
    id.
    """
    ids: set[str] = set()
    for number, raw in enumerate(_raw(path), 1):
        if not isinstance(raw, dict):
            raise FileFormatError(f"{path}: item {number} is not an object with named fields")
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


def read_dataset(
    folder: Path,
    files: Iterable[Path],
    row: type[Row],
    key: str,
    convert: Callable[[Row], tuple[Question, Answer] | None],
) -> Dataset:
    """Read the rows of files, one after another, as problems.

    Args:
        folder: The benchmark's folder.
        files: Its files.
        row: The noun of a row.
        key: The row's id field.
        convert: Returns the two halves of the problem in a row; None for a row that is left out.

    Raises:
        FileFormatError: A row is invalid; the message gives the file, the item and the problem.
    """
    questions, answers = [], []
    for file in files:
        for item in typed_rows(file, row, key):
            with naming(file, getattr(item, key)):
                halves = convert(item)
            if halves is not None:
                questions.append(halves[0])
                answers.append(halves[1])
    return Dataset(questions, answers, folder)


@contextmanager
def naming(path: Path, item: str) -> Iterator[None]:
    """Convert errors of an item's nouns or pictures into errors with the item's name."""
    try:
        yield
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {item}: {error}") from None
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise FileFormatError(f"{path}: {item}: {message}") from None


def the_file(folder: Path, *stems: str) -> Path:
    """Return the file of a benchmark in `folder`: the first of `stems` that exists.

    Raises MissingInputError with the names that were tried, and FileFormatError for a link that
    leads out of the folder.
    """
    container = Container(folder)
    for stem in stems:
        for suffix in SUFFIXES:
            if (folder / f"{stem}{suffix}").is_file():
                return container.path(f"{stem}{suffix}")
    names = " or ".join(f"{stem}{suffix}" for stem in stems for suffix in SUFFIXES[:3])
    raise MissingInputError(f"{folder}: contains none of the benchmark's files ({names})")


def find_tables(
    folder: Path, name: re.Pattern[str], example: str, suffixes: Iterable[str] = SUFFIXES
) -> list[tuple[Path, re.Match[str]]]:
    """Find the tables of a benchmark in `folder` or below it, sorted by path.

    If they exist in several formats, the first of `suffixes` is used.

    Args:
        folder: Folder to search.
        name: Pattern in the name of the table or of its folder.
        example: Example of such a name, for the error message.
        suffixes: Their formats.

    Returns:
        Each file with the match of `name`.

    Raises:
        MissingInputError: If none exists.
        FileFormatError: If one is a link that leads out of the folder.
    """
    for suffix in suffixes:
        paths = list_files(folder, suffix)
        matches = [(path, name.search(f"{path.parent.name}/{path.stem}")) for path in paths]
        if files := [(path, match) for path, match in matches if match]:
            return files
    raise MissingInputError(f"{folder}: contains no table of the benchmark, such as {example!r}")


def list_files(folder: Path, suffix: str) -> list[Path]:
    """Return the files below a folder whose names end with `suffix`, sorted by path.

    Raises FileFormatError for a link that leads out of the folder.
    """
    container, paths = Container(folder), sorted(folder.rglob(f"*{suffix}"))
    return [container.path(path.relative_to(folder).as_posix()) for path in paths]


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
    """Return the items of a JSON list, or of an object of items by id."""
    rows = read_json(path)
    if isinstance(rows, dict) and rows and all(isinstance(row, dict) for row in rows.values()):
        rows = list(rows.values())
    if not isinstance(rows, list):
        raise FileFormatError(f"{path}: contains no list of items")
    yield from rows
