"""Tables of the report's page: rows of results as formatted cells (`sections/tables.html.j2`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.params.setting import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.stages.analyze.formatting import (
    format_bounds,
    format_limits,
    format_number,
    format_share,
    name_rules,
)

if TYPE_CHECKING:
    import polars as pl

_ESTIMATE = ("estimate", "low", "high")
Row = Mapping[str, Any]
"""A row of a result."""


class Entry(NamedTuple):
    """One cell of a table."""

    text: object
    lines: tuple[str, ...] = ()
    """Small lines below the text; empty ones are left out."""
    is_name: bool = False
    """Whether it is a name, aligned to the left."""
    simulated: bool = False
    span: int = 1
    """Number of rows."""


class PageTable(NamedTuple):
    """A table with its caption."""

    caption: str
    heads: Sequence[Entry]
    rows: Sequence[Sequence[Entry]]
    simulated: bool = False


class Block(NamedTuple):
    """A table of a card with its heading; `summary` folds it."""

    table: PageTable
    heading: str = ""
    summary: str = ""
    uncalibrated: bool = False


def describe_card(
    blocks: Sequence[Block],
    sentence: str = "",
    *,
    simulated: bool = False,
    uncalibrated: bool = False,
) -> dict[str, Any]:
    """Return the values of `sections/tables.html.j2`: a card of tables with its marks."""
    return {
        "blocks": blocks,
        "sentence": sentence,
        "simulated": simulated,
        "uncalibrated": uncalibrated,
    }


def name_heads(*names: str) -> list[Entry]:
    """Return headings of columns of names."""
    return [Entry(name, is_name=True) for name in names]


CELL_HEADS = name_heads("Model", "Setting")


def name_cell(results: Results, cell: Cell, *, simulated: bool | None = None) -> list[Entry]:
    """Return the columns `CELL_HEADS` of a cell; default: marked if its responses are simulated."""
    mark = results.simulated_cells[cell] if simulated is None else simulated
    return [
        Entry(results.label(cell.model), is_name=True, simulated=mark),
        Entry(results.setting_label(cell.setting), is_name=True),
    ]


def head_scorers(results: Results) -> list[Entry]:
    """Return the headings of scorers, the judge, and the single judges of a panel."""
    return [
        Entry(
            name_rules(rules),
            ("uncalibrated",)
            if rules in results.votes or (rules == JUDGE_RULES and not results.certificate)
            else (),
            simulated=results.has_simulated_judge(rules),
        )
        for rules in [*results.rules, *results.votes]
    ]


def show_share(row: Row | None, name: str = "") -> Entry:
    """Format a share in per cent with its interval; a dash without a row.

    Args:
        row: A row with `estimate`, `low` and `high`, or with `name`, `name`_low and `name`_high.
        name: The column of a value other than the estimate.
    """
    names = (name, f"{name}_low", f"{name}_high") if name else _ESTIMATE
    value, low, high = (row[column] if row else None for column in names)
    return Entry(format_share(value), (format_bounds(low, high),))


def show_number(row: Row | None) -> Entry:
    """Format a number to two decimals with its interval; a dash without a row or a value."""
    value, low, high = (row[column] if row else None for column in _ESTIMATE)
    return Entry(format_number(value), (format_limits(low, high),))


def spread(
    results: Results,
    cells: Iterable[Cell],
    rows: pl.DataFrame,
    columns: tuple[str, Sequence[str]],
    show: Callable[[Row | None], Entry],
) -> list[list[Entry]]:
    """Spread a result: one row per cell, one column per value of a column.

    Args:
        results: The study's results.
        cells: The cells, in order.
        rows: Rows of a result with `model`, `setting` and the column.
        columns: The column to spread, and its values in order.
        show: Formats a row, or None where the result has none.
    """
    column, values = columns
    found = {(row["model"], row["setting"], row[column]): row for row in rows.iter_rows(named=True)}
    return [
        [*name_cell(results, cell), *(show(found.get((*cell, value))) for value in values)]
        for cell in cells
    ]
