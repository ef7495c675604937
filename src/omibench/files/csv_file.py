"""CSV files that people open in a spreadsheet, which takes a cell that begins with = for a formula.

Names of models, settings and subjects come from others. A text that a spreadsheet would calculate
gets an apostrophe before it, which spreadsheets know as the mark of text; so does one that begins
with an apostrophe, so that `unmark_formula` gives back exactly what was written. Numbers stay
numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.files.outputs import made_folder

if TYPE_CHECKING:
    import polars as pl

MARK = "'"
# Full-width signs are formulas, too, to spreadsheets in Chinese, Japanese and Korean.
_FORMULA = re.compile("^[=+\\-@\t\r\n'\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def mark_formula(value: object) -> Any:
    """The value as the file holds it: a text that would be calculated is marked as text."""
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return MARK + value


def unmark_formula(cell: str) -> str:
    """The text that `mark_formula` was given."""
    return cell.removeprefix(MARK)


def unmark_cell(cell: str) -> str:
    """As `unmark_formula`, for files that people may have written: other apostrophes stay."""
    text = cell.removeprefix(MARK)
    return text if text != cell and mark_formula(text) == cell else cell


def write_csv(
    path: Path, records: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()
) -> None:
    """Write records as CSV (UTF-8, commas, one line each).

    Args:
        path: the file; the folders above it are made.
        records: the rows, each with a value for every column.
        columns: the heading of a table without rows.

    Raises:
        OutputError: where its folder cannot be made.
    """
    import polars as pl

    made_folder(path.parent)
    rows = [{name: mark_formula(value) for name, value in record.items()} for record in records]
    frame = (
        pl.DataFrame(rows, infer_schema_length=None)
        if rows
        else pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    )
    frame.write_csv(path)


def write_frame_csv(path: Path, frame: pl.DataFrame) -> None:
    """Write a frame as `write_csv` writes records; for tables of many rows.

    Args:
        path: The file; the folders above it are made.
        frame: The rows; columns of text, numbers and truth values alone.

    Raises:
        OutputError: Its folder cannot be made.
    """
    import polars as pl

    made_folder(path.parent)
    number = f"^(?:{_NUMBER.pattern})$"
    marked = []
    for name, kind in frame.schema.items():
        if kind == pl.String:
            text = pl.col(name)
            is_formula = text.str.contains(_FORMULA.pattern) & ~text.str.contains(number)
            marked.append(pl.when(is_formula).then(MARK + text).otherwise(text).alias(name))
    frame.with_columns(marked).write_csv(path)
