"""The values of a printed table: each with its place, its decimals and its number of problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, nan
from pathlib import Path
from typing import NamedTuple

from omibench.audit.layouts import TOTAL, ColumnGroup, MetricKind, TableLayout
from omibench.errors import FileFormatError
from omibench.files.intake import read_csv

TOLERANCE = 1e-9


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


class PrintedCell(NamedTuple):
    """A printed share, in per cent."""

    file: str
    row: str
    dataset: str
    setting: str
    part: str
    metric: str
    kind: MetricKind
    n: int
    number: PrintedNumber

    @property
    def place(self) -> str:
        """The column, as people say it."""
        return " ".join(
            word for word in (self.dataset, self.setting, self.part, self.metric) if word
        )


Row = Mapping[str, str]


def read_rows(path: Path, layout: TableLayout) -> list[tuple[str, Row]]:
    """The rows of a table by their names.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: It is no CSV, lacks a column of its layout, or holds something else than a
            number in one.
    """
    rows = list(read_csv(path))
    for column in list_columns(layout):
        if not rows or column not in rows[0]:
            raise FileFormatError(
                f"{path}: lacks the column {column!r}, which tables.yaml names for it"
            )
    named: list[tuple[str, Row]] = []
    base = ""
    numbers = [column for column in list_columns(layout) if column not in layout.row]
    for row in rows:
        name = ", ".join(row[column] for column in layout.row if row[column])
        name = layout.same.get(name, name)
        base = base if name.startswith("+") else name
        name = f"{base} {name}" if name.startswith("+") else name
        for column in numbers:
            parse_number(str(path), name, row, column)
        named.append((name, row))
    return named


def list_columns(layout: TableLayout) -> list[str]:
    """Every column that a layout names."""
    columns = list(layout.row)
    for group in layout.columns:
        parts = [*group.parts, *([group.total] if group.total else [])]
        columns += [group.column(part, metric) for part in parts for metric in group.metrics]
        columns += [group.average] if group.average else []
        columns += [
            pattern.format(part=part) for part in group.parts for pattern in group.interval or ()
        ]
    for name, operands in layout.differences.items():
        columns += [name, *operands]
    columns += [layout.correlation.value] if layout.correlation else []
    return list(dict.fromkeys(columns))


def parse_number(path: str, name: str, row: Row, column: str) -> PrintedNumber | None:
    """A number of a row; None where nothing is printed.

    Raises:
        FileFormatError: It is no number.
    """
    text = row[column].strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not isfinite(value):
        raise FileFormatError(f"{path}: {name}, {column}: {text!r} is not a number")
    return PrintedNumber(value, len(text.partition(".")[2]))


def read_cells(
    file: str, rows: Sequence[tuple[str, Row]], layout: TableLayout
) -> list[PrintedCell]:
    """The shares of a table: those of every part, and of the total."""
    return [
        cell
        for name, row in rows
        for group in layout.columns
        for cell in _read_group(file, name, row, group)
    ]


def _read_group(file: str, name: str, row: Row, group: ColumnGroup) -> Iterator[PrintedCell]:
    parts = {part: (part, n) for part, n in group.parts.items()}
    if group.total:
        parts[TOTAL] = (group.total, sum(group.parts.values()))
    for metric, kind in group.metrics.items():
        for part, (word, n) in parts.items():
            number = parse_number(file, name, row, group.column(word, metric))
            if number is not None:
                if not 0 <= number.value <= 100:
                    raise FileFormatError(
                        f"{file}: {name}, {group.column(word, metric)}: {number.value:g} is no "
                        "share in per cent, from 0 to 100"
                    )
                yield PrintedCell(
                    file, name, group.dataset, group.setting, part, metric, kind, n, number
                )
