"""CSV files that people write: rows that fit are used, lines that do not are named."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from omibench.errors import FileFormatError
from omibench.files.csv_file import unmark_cell
from omibench.files.intake import read_numbered_csv

MOST_ROWS = 500_000
MOST_BYTES = 256 * 2**20
NAMED_LINES = 5
"""Bad lines that the log names; of the others it says how many they are."""
_EXCERPT = 60
_LOG = logging.getLogger("omibench")

Row = TypeVar("Row", bound=BaseModel)
Content = TypeVar("Content")


class NumberedEntry(NamedTuple, Generic[Row]):
    """A row that fits, with its line in the file."""

    line: int
    row: Row


class BadLine(NamedTuple):
    """A line that is left out: where, and why."""

    line: int
    column: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column!r}: {self.reason}"


class CheckedRows(NamedTuple, Generic[Row]):
    """The rows of a file that fit, and the lines that are left out."""

    entries: list[NumberedEntry[Row]]
    bad_lines: list[BadLine]


def read_checked_rows(
    path: str | Path, kind: type[Row], key: str, columns: Sequence[str]
) -> CheckedRows[Row]:
    """Read a CSV file row by row; empty cells count as absent, marks of text are taken off.

    Args:
        path: The file, of at most 256 MiB and 500,000 rows.
        kind: What a row is; its fields are the columns, others are not read.
        key: The key of params that names the file, for messages.
        columns: Those that the file must have.

    Returns:
        The rows that fit, and why the others do not.

    Raises:
        MissingInputError: The file is not there.
        FileFormatError: It is no CSV, lacks a column, or holds no row or too many.
    """
    entries: list[NumberedEntry[Row]] = []
    bad_lines: list[BadLine] = []
    try:
        for line, cells in read_numbered_csv(path, limit=MOST_BYTES):
            if not entries and not bad_lines:
                _check_columns(path, columns, list(cells))
            if len(entries) + len(bad_lines) == MOST_ROWS:
                raise FileFormatError(f"{path}: has more than {MOST_ROWS:,} rows: split the file")
            texts = {name: unmark_cell((cell or "").strip()) for name, cell in cells.items()}
            values = {name: text for name, text in texts.items() if text}
            try:
                entries.append(NumberedEntry(line, kind.model_validate(values)))
            except ValidationError as error:
                bad_lines.append(_describe_error(line, error))
    except FileFormatError as error:
        raise FileFormatError(f"{key}: {error}") from None
    if not entries and not bad_lines:
        raise FileFormatError(f"{key}: {path}: holds no row below the names of its columns")
    return CheckedRows(entries, bad_lines)


def warn_bad_lines(path: str | Path, key: str, bad_lines: Sequence[BadLine]) -> None:
    """Name the lines that are left out, the first few one by one, in the order of the file."""
    if not bad_lines:
        return
    ordered = sorted(bad_lines)
    details = "; ".join(map(str, ordered[:NAMED_LINES]))
    more = f"; and {len(ordered) - NAMED_LINES:,} more" if len(ordered) > NAMED_LINES else ""
    count = "1 line is" if len(ordered) == 1 else f"{len(ordered):,} lines are"
    _LOG.warning("%s: %s left out of %s: %s%s", key, count, path, details, more)


def read_or_warn(read: Callable[[], Content]) -> Content | None:
    """Read a file; where it holds something else, say so in a warning, and go on without it.

    Args:
        read: What reads it, and raises FileFormatError where nothing of it can be used.

    Returns:
        What it holds; None where that is something else.

    Raises:
        MissingInputError: The file is not there.
    """
    try:
        return read()
    except FileFormatError as error:
        _LOG.warning("%s; the report goes on without this file", error)
        return None


def cite(text: str) -> str:
    """A value of the file as a message shows it: short, without what commands a terminal."""
    return repr(text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}...")


def _check_columns(path: str | Path, columns: Sequence[str], present: Sequence[str]) -> None:
    missing = [name for name in columns if name not in present]
    if missing:
        held = ", ".join(cite(name) for name in present[:12])
        raise FileFormatError(
            f"{path}: lacks the column {missing[0]!r}; give {', '.join(columns)}; "
            f"it has {held or 'none'}"
        )


def _describe_error(line: int, error: ValidationError) -> BadLine:
    first = error.errors()[0]
    column = str(first["loc"][0]) if first["loc"] else "?"
    if first["type"] == "missing":
        return BadLine(line, column, "is empty")
    reason = first["msg"].removeprefix("Value error, ")
    return BadLine(line, column, f"is {cite(str(first['input']))}: {reason}")
