"""The rows of a printed table: their models, and their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, nan
from pathlib import Path
from typing import NamedTuple

from omibench.errors import FileFormatError
from omibench.files.intake import read_csv
from omibench.printed_tables.layouts import LAYOUTS, TableLayout
from omibench.text.terminal import printable

TOLERANCE = 1e-9
_GROUP = "group"
"""The column with the kind of a model."""
_STRATEGY = "strategy"


class PrintedNumber(NamedTuple):
    """A number as it is printed."""

    value: float
    digits: int
    """Decimals."""

    @property
    def half(self) -> float:
        """The maximum rounding error."""
        return 0.5 * 10.0**-self.digits

    def admits(self, value: float) -> bool:
        """Return whether a value can have been rounded to it, up or down at a tie."""
        return abs(value - self.value) <= self.half + TOLERANCE


class PrintedRow(NamedTuple):
    """One row of a printed table."""

    name: str
    """Its name in messages."""
    texts: Mapping[str, str]
    """Column -> the printed text."""
    model: str = ""
    setting: str = ""
    metric: str = ""
    """The metric of all values of the row; empty if it is in the columns."""
    group: str = ""
    """The kind of the model, if the table has one."""


def read_rows(path: Path, layout: TableLayout) -> list[PrintedRow]:
    """Read the rows of a table.

    Args:
        path: The table as CSV.
        layout: The layout of its columns.

    Returns:
        The rows in order. A row whose name begins with `+` is named after the one above it.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: It is not CSV, lacks a column of its layout, or has a value that is not a
            number in one.
    """
    return name_rows(str(path), list(read_csv(path)), layout)


def name_rows(
    path: str, texts: Sequence[Mapping[str, str]], layout: TableLayout
) -> list[PrintedRow]:
    """Return the rows of a table from its texts. Raises FileFormatError as `read_rows` does."""
    columns = layout.list_columns()
    for column in columns:
        if not texts or column not in texts[0]:
            raise FileFormatError(
                f"{path}: the column {column!r}, which {LAYOUTS} lists for it, is missing"
            )
    rows = list(_name_rows(texts, layout))
    for row in rows:
        for column in columns:
            if column not in layout.row:
                parse_number(path, row, column)
    return rows


def parse_number(path: str, row: PrintedRow, column: str) -> PrintedNumber | None:
    """Parse a number of a row; None if nothing is printed.

    Raises:
        FileFormatError: It is not a number.
    """
    text = row.texts[column].strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not isfinite(value):
        raise FileFormatError(
            f"{path}: {printable(row.name)}, {column}: {printable(text)[:80]!r} is not a number"
        )
    return PrintedNumber(value, len(text.partition(".")[2]))


def _name_rows(texts: Sequence[Mapping[str, str]], layout: TableLayout) -> Iterator[PrintedRow]:
    """Assign models and settings to the rows; a name with `+` extends the row above."""
    model_pattern = f"{{{layout.row[0]}}}" if layout.model is None else layout.model
    setting_pattern = layout.setting
    if setting_pattern is None:
        setting_pattern = f"{{{_STRATEGY}}}" if _STRATEGY in layout.row else ""
    base = ""
    for text in texts:
        model = model_pattern.format_map(text).strip()
        setting = setting_pattern.format_map(text).strip()
        setting = layout.settings.get(setting, setting)
        if not model.startswith("+"):
            model = base = layout.same.get(model, model)
        elif layout.added == "setting":
            model, setting = base, model
        else:
            model = f"{base} {model}"
        link = " " if setting.startswith("+") else ", "
        name = link.join(word for word in (model, setting) if word)
        yield PrintedRow(
            name or ", ".join(text[column] for column in layout.row if text[column]),
            text,
            model,
            setting,
            (layout.metric or "").format_map(text).strip().casefold(),
            text.get(_GROUP) or "",
        )
