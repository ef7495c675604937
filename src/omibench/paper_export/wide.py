"""Turns tidy tables into printed ones: labelled rows and columns, one number per cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from omibench.errors import ArgumentError
from omibench.schemas.validation import suggest_name

if TYPE_CHECKING:
    import polars as pl

    from omibench.paper_export.catalogue import TableView

ALL_ITEMS = "Total"
"""The label of a column or row over all items."""


class PageNumber(NamedTuple):
    """A number of a printed table with its interval, from the tidy table."""

    estimate: float
    low: float | None = None
    high: float | None = None
    simulated: bool = False


class WideTable(NamedTuple):
    """A printed table.

    `keys` heads the columns that label a row; `rows` and `columns` contain the labels, `cells` the
    numbers by row and column.
    """

    keys: list[str]
    rows: list[tuple[str, ...]]
    columns: list[tuple[str, ...]]
    cells: dict[tuple[tuple[str, ...], tuple[str, ...]], PageNumber]

    @property
    def is_simulated(self) -> bool:
        """Whether any number depends on simulated responses, judges or problems."""
        return any(number.simulated for number in self.cells.values())


def widen_table(
    frame: pl.DataFrame,
    view: TableView,
    labels: Mapping[str, str] | None = None,
    kept: Sequence[str] = (),
) -> WideTable:
    """Make a printed table from a tidy table.

    Args:
        frame: The tidy table of a result.
        view: The rows to keep, and the labels of rows and columns.
        labels: Model -> its display name.
        kept: Label columns to keep even if they have a single value.

    Returns:
        The table; rows and columns in the order of their first occurrence, `Total` last. Label
        columns with a single value are omitted, except `kept`.

    Raises:
        ArgumentError: The tidy table lacks a column of the view, or has two numbers for one place.
    """
    import polars as pl

    needed = [*view.where, *view.rows, *view.columns]
    for column in needed:
        if column not in frame.columns:
            raise ArgumentError(
                f"result {view.result!r}: has no column {column!r}"
                f"{suggest_name(column, frame.columns)}"
            )
    for column, values in view.where.items():
        frame = frame.filter(pl.col(column).cast(pl.String).is_in(values))
    frame = frame.filter(pl.col("estimate").is_not_null())
    keys, heads = _drop_constant(frame, view.rows, kept), _drop_constant(frame, view.columns)
    cells: dict[tuple[tuple[str, ...], tuple[str, ...]], PageNumber] = {}
    for record in frame.iter_rows(named=True):
        place = (
            tuple(_name(record, key, labels) for key in keys),
            tuple(_name(record, head, labels) for head in heads),
        )
        if place in cells:
            where = " · ".join([*place[0], *place[1]])
            raise ArgumentError(
                f"result {view.result!r}: has two numbers for {where}; add columns, or keep fewer "
                "rows with `where`"
            )
        cells[place] = PageNumber(
            record["estimate"], record["low"], record["high"], bool(record["simulated"])
        )
    return WideTable(
        list(keys),
        _order(place[0] for place in cells),
        _order(place[1] for place in cells),
        cells,
    )


def _drop_constant(
    frame: pl.DataFrame, columns: Sequence[str], kept: Sequence[str] = ()
) -> list[str]:
    """Return the columns that distinguish rows, and `kept`; the first if there are none."""
    varying = [name for name in columns if name in kept or frame[name].n_unique() > 1]
    return varying or list(columns[:1])


def _name(record: Mapping[str, object], column: str, labels: Mapping[str, str] | None) -> str:
    value = record[column]
    text = "" if value is None else str(value)
    if column in ("model", "baseline_model"):
        return (labels or {}).get(text, text)
    return text or (ALL_ITEMS if column in ("value", "slice") else "")


def _order(names: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the labels in order.

    They are sorted by first occurrence, grouped by the first label, numbers by size, with `Total`
    after its neighbours.
    """
    unique = list(dict.fromkeys(names))
    firsts = {name[0]: place for place, name in reversed(list(enumerate(unique)))}
    by_size = all(name[-1].isdecimal() for name in unique)

    def place(name: tuple[str, ...]) -> tuple[bool, int, bool, int]:
        group = 0 if by_size and len(name) == 1 else firsts[name[0]]
        size = int(name[-1]) if by_size else 0
        return name[0] == ALL_ITEMS, group, ALL_ITEMS in name[1:], size

    return sorted(unique, key=place)
