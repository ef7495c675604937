"""The values of a printed table: each with its model, setting, place, decimals and problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from omibench.errors import FileFormatError
from omibench.printed_tables.layouts import (
    AND,
    AVERAGE,
    TOTAL,
    ColumnGroup,
    MetricKind,
    TableLayout,
)
from omibench.printed_tables.rows import PrintedNumber, PrintedRow, parse_number

_METRICS = {
    "acc": "accuracy", "loose": "credit", "pass5": "pass@5",
    "cons5": "consistency@5", "pass": "pass@{k}",
}  # fmt: skip


class PrintedCell(NamedTuple):
    """A printed value; a share in per cent unless `percent` is off.

    `part` is the table's term, `slice` and `value` are the dataset's terms for the same.
    """

    file: str
    row: str
    dataset: str
    setting: str
    part: str
    metric: str
    """The metric's name in the table's columns or rows."""
    kind: MetricKind
    n: int
    """Number of problems; 0 if unknown."""
    number: PrintedNumber
    model: str = ""
    strategy: str = ""
    """The setting in the row; `setting` is the one in the column."""
    slice: str = ""
    """The attribute of the problems whose value the part is; empty for all problems."""
    value: str = ""
    interval: tuple[PrintedNumber, PrintedNumber] | None = None
    """The printed 95 % interval."""
    deviation: PrintedNumber | None = None
    """The printed standard deviation over runs."""
    k: int | None = None
    percent: bool = True

    @property
    def place(self) -> str:
        """The column in words."""
        values = self.value.split(AND)
        within = values if self.part == TOTAL else values[:-1]
        words = (self.dataset, self.setting, *within, self.part, self.metric)
        return " ".join(word for word in words if word)

    @property
    def full_setting(self) -> str:
        """The settings of row and column together."""
        return ", ".join(word for word in (self.strategy, self.setting) if word)

    @property
    def metric_name(self) -> str:
        """The metric's name in our tables (`accuracy`, `credit`, `pass@5`)."""
        return _METRICS.get(self.metric, self.metric).format(k=self.k or 1)

    @property
    def scale(self) -> float:
        """The factor that turns a printed number into a share in [0, 1]."""
        return 0.01 if self.percent else 1.0


def read_cells(file: str, rows: Sequence[PrintedRow], layout: TableLayout) -> list[PrintedCell]:
    """Read the values of a table: of every part, the total and the average of the parts.

    Args:
        file: The name of the table.
        rows: Its rows.
        layout: The layout of its columns.

    Raises:
        FileFormatError: A share is not from 0 to 100.
    """
    return [
        cell
        for row in rows
        for group in layout.columns
        for cell in _read_group(file, row, group, row.model in layout.averaged)
    ]


def _read_group(
    file: str, row: PrintedRow, group: ColumnGroup, is_averaged: bool
) -> Iterator[PrintedCell]:
    first = next(iter(group.metrics))
    for metric, stated in group.metrics.items():
        kind: MetricKind = "ratio" if is_averaged and stated == "count" else stated
        for part, word, n in _list_parts(group):
            number = _parse_share(file, row, group.column(word, metric), group)
            if number is not None:
                slice_, value = group.place(part)
                cell = PrintedCell(
                    file, row.name, group.dataset, group.setting, part, row.metric or metric, kind,
                    n, number, row.model, row.setting, slice_, value, k=group.k,
                    percent=group.percent,
                )  # fmt: skip
                yield _add_spread(cell, row, group, word) if metric == first else cell
    average = _parse_share(file, row, group.average, group) if group.average else None
    if average is not None:
        yield PrintedCell(
            file, row.name, group.dataset, group.setting, AVERAGE, row.metric or first, "mean", 0,
            average, row.model, row.setting, group.slice, AVERAGE, k=group.k,
            percent=group.percent,
        )  # fmt: skip


def _list_parts(group: ColumnGroup) -> Iterator[tuple[str, str, int]]:
    """List each part, its name in the columns, and its number of problems."""
    for part, n in group.parts.items():
        yield part, part, n or 0
    if group.total:
        sizes = [n or 0 for n in group.parts.values()]
        yield TOTAL, group.total, sum(sizes) if all(sizes) else 0


def _add_spread(cell: PrintedCell, row: PrintedRow, group: ColumnGroup, word: str) -> PrintedCell:
    """Add the printed interval and standard deviation to a value, if the table has them."""

    def parse(pattern: str) -> PrintedNumber | None:
        column = pattern.format(part=word)
        return parse_number(cell.file, row, column) if column in row.texts else None

    low, high = map(parse, group.interval or ("", ""))
    return cell._replace(
        interval=(low, high) if low and high else None, deviation=parse(group.deviation or "")
    )


def _parse_share(
    file: str, row: PrintedRow, column: str, group: ColumnGroup
) -> PrintedNumber | None:
    number = parse_number(file, row, column)
    if number and group.percent and not 0 <= number.value <= 100:
        raise FileFormatError(
            f"{file}: {row.name}, {column}: {number.value:g} is not a share in per cent, from "
            "0 to 100"
        )
    return number
