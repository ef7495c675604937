"""Read CSV files written by users: keep valid rows, and report the others."""

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
"""The number of invalid rows that the log lists; the rest is counted."""
_EXCERPT = 60
_LOG = logging.getLogger("omibench")

Row = TypeVar("Row", bound=BaseModel)
Content = TypeVar("Content")


class NumberedEntry(NamedTuple, Generic[Row]):
    """A valid row, with its line in the file."""

    line: int
    row: Row


class BadLine(NamedTuple):
    """An invalid row: its line, column and reason."""

    line: int
    column: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column!r}: {self.reason}"


class CheckedRows(NamedTuple, Generic[Row]):
    """The valid rows of a file, and the invalid ones."""

    entries: list[NumberedEntry[Row]]
    bad_lines: list[BadLine]


def read_checked_rows(
    path: str | Path, kind: type[Row], key: str, columns: Sequence[str]
) -> CheckedRows[Row]:
    """Read a CSV file row by row; empty cells count as absent, quoting marks are removed.

    Args:
        path: The file, of at most 256 MiB and 500,000 rows.
        kind: Model of a row; its fields are the columns, others are ignored.
        key: Parameter with the path of the file, for messages.
        columns: Required columns.

    Returns:
        The valid rows, and the reasons for rejecting the others.

    Raises:
        MissingInputError: The file is missing.
        FileFormatError: The file is not CSV, lacks a column, or has no rows or too many.
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
        raise FileFormatError(f"{key}: {path}: has no rows below its header")
    return CheckedRows(entries, bad_lines)


def warn_bad_lines(path: str | Path, key: str, bad_lines: Sequence[BadLine]) -> None:
    """List the rejected rows in file order, the first few individually."""
    if not bad_lines:
        return
    ordered = sorted(bad_lines)
    details = "; ".join(map(str, ordered[:NAMED_LINES]))
    more = f"; and {len(ordered) - NAMED_LINES:,} more" if len(ordered) > NAMED_LINES else ""
    count = "1 line is" if len(ordered) == 1 else f"{len(ordered):,} lines are"
    _LOG.warning("%s: %s left out of %s: %s%s", key, count, path, details, more)


def read_or_warn(read: Callable[[], Content]) -> Content | None:
    """Read a file; if it is unusable, warn and continue without it.

    Args:
        read: Function that reads the file and raises FileFormatError if nothing in it is usable.

    Returns:
        The contents; None if they are unusable.

    Raises:
        MissingInputError: The file is missing.
    """
    try:
        return read()
    except FileFormatError as error:
        _LOG.warning("%s; the report omits this file", error)
        return None


def cite(text: str) -> str:
    """Return a value of the file for a message: short, without terminal control characters."""
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
