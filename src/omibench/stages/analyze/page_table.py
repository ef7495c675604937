"""Tables of the report's page: values with the kind of their column (`sections/tables.html.j2`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import polars as pl

from omibench.params.setting import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.stages.analyze.formatting import (
    format_bounds,
    format_limits,
    format_number,
    format_share,
    name_rules,
)
from omibench.stages.analyze.results.result import ESTIMATE

Row = Mapping[str, Any]
"""A row of a result."""


class Column(NamedTuple):
    """A column of a table: its heading, and how its values are shown.

    Values of the kinds `share` and `number` are rows of a result with `estimate`, `low` and `high`,
    or None: a share is shown in per cent, a number to two decimals, each with its interval below.
    """

    text: str
    kind: Literal["text", "count", "share", "number"] = "count"
    lines: tuple[str, ...] = ()
    """Small lines below the heading."""
    simulated: bool = False


class Entry(NamedTuple):
    """A value of a table with marks."""

    text: object
    lines: tuple[str, ...] = ()
    """Small lines below the text; empty ones are left out."""
    simulated: bool = False
    span: int = 1
    """Number of rows."""


class PageTable(NamedTuple):
    """A table with its caption; `heading` and `summary`, which folds it, belong to its card."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[object]]
    """Values by column; a row below a value that spans rows has only the last columns."""
    simulated: bool = False
    heading: str = ""
    summary: str = ""
    uncalibrated: bool = False

    @property
    def body(self) -> list[list[tuple[Column, Entry]]]:
        """The rows as entries with their columns."""
        return [
            [
                (column, show_value(column, value))
                for column, value in zip(self.columns[-len(row) :], row, strict=True)
            ]
            for row in self.rows
        ]


def show_value(column: Column, value: Any) -> Entry:
    """Format a value of a column; an `Entry` stays as it is."""
    if isinstance(value, Entry):
        return value
    if column.kind == "share":
        return show_share(value)
    if column.kind == "number":
        number, low, high = (value[name] if value else None for name in ESTIMATE)
        return Entry(format_number(number), (format_limits(low, high),))
    return Entry(value)


def show_share(row: Row | None, *lines: str) -> Entry:
    """Format a share in per cent with its interval and further lines; a dash without a row."""
    share, low, high = (row[name] if row else None for name in ESTIMATE)
    return Entry(format_share(share), (format_bounds(low, high), *lines))


CELL_COLUMNS = (Column("Model", "text"), Column("Setting", "text"))


def name_cell(results: Results, cell: Cell, *, simulated: bool | None = None) -> list[object]:
    """Return the values of `CELL_COLUMNS`; default: marked if its responses are simulated."""
    mark = results.simulated_cells[cell] if simulated is None else simulated
    label = Entry(results.label(cell.model), simulated=mark)
    return [label, results.setting_label(cell.setting)]


def name_row(results: Results, row: Row) -> list[object]:
    """Return the values of `CELL_COLUMNS` of a row of a result, marked as the row is."""
    return name_cell(results, Cell(row["model"], row["setting"]), simulated=row["simulated"])


def head_scorers(results: Results) -> list[Column]:
    """Return the columns of scorers, the judge, and the single judges of a panel."""
    return [
        Column(
            name_rules(rules),
            "share",
            ("uncalibrated",)
            if rules in results.votes or (rules == JUDGE_RULES and not results.certificate)
            else (),
            results.has_simulated_judge(rules),
        )
        for rules in [*results.rules, *results.votes]
    ]


def spread(
    results: Results,
    cells: Iterable[Cell],
    rows: pl.DataFrame,
    column: str,
    values: Sequence[str],
) -> list[tuple[list[object], list[Row | None]]]:
    """Spread a result: for each cell its names, and its row for each value of a column, or None.

    Args:
        results: The study's results.
        cells: The cells, in order.
        rows: Rows of a result with `model`, `setting` and the column.
        column: The column to spread.
        values: Its values, in order.
    """
    found = {(row["model"], row["setting"], row[column]): row for row in rows.iter_rows(named=True)}
    return [
        (name_cell(results, cell), [found.get((*cell, value)) for value in values])
        for cell in cells
    ]
