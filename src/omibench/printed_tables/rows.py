"""The rows of a printed table: whose results they are, and the numbers in them."""

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
"""The column that says of what kind a model is."""
_STRATEGY = "strategy"


class PrintedNumber(NamedTuple):
    """A number as it is printed."""

    value: float
    digits: int
    """Decimals."""

    @property
    def half(self) -> float:
        """How far rounding can have moved it."""
        return 0.5 * 10.0**-self.digits

    def admits(self, value: float) -> bool:
        """Whether a value may have been rounded to it, up or down where it lies between."""
        return abs(value - self.value) <= self.half + TOLERANCE


class PrintedRow(NamedTuple):
    """One row of a printed table."""

    name: str
    """How messages call it."""
    texts: Mapping[str, str]
    """Column -> what is printed."""
    model: str = ""
    setting: str = ""
    metric: str = ""
    """The metric of all values of the row; empty where the columns tell it."""
    group: str = ""
    """Of what kind the model is, where the table says so."""


def read_rows(path: Path, layout: TableLayout) -> list[PrintedRow]:
    """The rows of a table.

    Args:
        path: The table as CSV.
        layout: What its columns are.

    Returns:
        The rows in their order. A row whose name begins with `+` is named after the one above it.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: It is no CSV, lacks a column of its layout, or holds something else than a
            number in one.
    """
    return name_rows(str(path), list(read_csv(path)), layout)


def name_rows(
    path: str, texts: Sequence[Mapping[str, str]], layout: TableLayout
) -> list[PrintedRow]:
    """The rows of a table from its texts; raises as `read_rows` does, but for a missing file."""
    columns = layout.list_columns()
    for column in columns:
        if not texts or column not in texts[0]:
            raise FileFormatError(
                f"{path}: lacks the column {column!r}, which {LAYOUTS} names for it"
            )
    rows = list(_name_rows(texts, layout))
    for row in rows:
        for column in columns:
            if column not in layout.row:
                parse_number(path, row, column)
    return rows


def parse_number(path: str, row: PrintedRow, column: str) -> PrintedNumber | None:
    """A number of a row; None where nothing is printed.

    Raises:
        FileFormatError: It is no number.
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
    """The rows by their models and settings; what begins with `+` is added to the row above."""
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
