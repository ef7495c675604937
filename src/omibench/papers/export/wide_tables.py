"""Printed tables as data: labelled rows and columns in the printed order, made from tidy tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Final, NamedTuple

import polars as pl

from omibench.errors import ArgumentError
from omibench.papers.catalogue import Rows, TableView
from omibench.schemas.validation import suggest_name
from omibench.stages.analyze.formatting import MINUS, NO_VALUE, format_decimals, format_points

METRIC_NAMES: Final[Mapping[str, str]] = {
    "accuracy": "ACC", "gptscore": "GPTScore", "strict": "Strict ACC", "credit": "Credit",
    "ratio": "ACC (eq. 6)", "difference": "Difference",
}  # fmt: skip
Place = tuple[tuple[str, ...], tuple[str, ...]]
"""The labels of a row, and those of a column."""
ALL_ITEMS = "Total"
"""The label of a column or row over all items."""
RELATIVE = "relative"
"""The number of a difference as a share of the baseline."""
P_VALUES = ("p", "p_paired")
ADDED = " + "
"""What stands between a model and what was added to it: `GPT-4o + CogFlow`."""
RANKED = 3
"""The ranks that `ranked` prints."""


class Labels(NamedTuple):
    """The names of a study: of models, of their groups, and of settings."""

    models: Mapping[str, str] = {}
    groups: Mapping[str, str] = {}
    settings: Mapping[str, str] = {}


class PageNumber(NamedTuple):
    """A number of a printed table with its interval, from the tidy table."""

    estimate: float
    low: float | None = None
    high: float | None = None
    simulated: bool = False
    has_interval: bool = False
    """Whether the interval is always printed."""
    change: float | None = None
    """A difference that is printed after the number."""
    is_p: bool = False
    digits: int | None = None
    """Its decimals, if not those of the table."""


class WideTable(NamedTuple):
    """A printed table.

    `view` has its format; `keys` heads the columns that label a row; `rows` and `columns` contain
    the labels, `cells` the numbers by row and column, `groups` the group of each row, if the rows
    are in groups.
    """

    view: TableView
    keys: list[str]
    rows: list[tuple[str, ...]]
    columns: list[tuple[str, ...]]
    cells: dict[Place, PageNumber]
    groups: Mapping[tuple[str, ...], str] = {}

    @property
    def is_simulated(self) -> bool:
        """Whether any number depends on simulated responses, judges or problems."""
        return any(number.simulated for number in self.cells.values())

    @property
    def factor(self) -> int:
        """The factor from the tidy numbers to the printed ones."""
        return 100 if self.view.percent else 1

    def scale(self, value: float | None) -> float | None:
        """Return the printed number, with all its digits."""
        return None if value is None else round(value * self.factor, 6)

    def format(self, number: PageNumber | None, intervals: bool) -> str:
        """Return the printed text of a number, with its interval if asked, and its change."""
        if number is None:
            return NO_VALUE
        values = (number.estimate, number.low, number.high)
        digits = self.view.digits if number.digits is None else number.digits
        texts = [
            ""
            if value is None
            else format_decimals(value * self.factor, digits).replace("-", MINUS)
            for value in values
        ]
        least = 10**-self.view.digits
        if number.is_p and number.estimate * self.factor < least:
            return f"<{least:.{self.view.digits}f}"
        is_whole = (intervals or number.has_interval) and all(texts)
        text = f"{texts[0]} [{texts[1]}, {texts[2]}]" if is_whole else texts[0]
        if number.change is None:
            return text
        if self.view.change and self.view.change.number == RELATIVE:
            difference, share = (
                format_points(value, digits) for value in (number.estimate, number.change)
            )
            return f"{difference} ({share} %)"
        size = format_decimals(abs(number.change) * self.factor, self.view.digits)
        return f"{text} ({'↑' if number.change >= 0 else '↓'} {size})"


def select_rows(frame: pl.DataFrame, part: Rows) -> pl.DataFrame:
    """Return the rows of a tidy table that a part of a printed table consists of.

    Args:
        frame: The tidy table of the part's result.
        part: Which rows, which number, and the values that give their place.

    Returns:
        The rows with that number as `estimate`, in the order of the tidy table.

    Raises:
        ArgumentError: The tidy table lacks a column.
    """
    for column in [*part.where, part.number]:
        _require(frame, part.result, column)
    for column, values in part.where.items():
        frame = frame.filter(pl.col(column).cast(pl.String).fill_null("").is_in(values))
    if part.number != "estimate":
        frame = frame.with_columns(
            pl.col(part.number).cast(pl.Float64).alias("estimate"),
            pl.lit(None, pl.Float64).alias("low"),
            pl.lit(None, pl.Float64).alias("high"),
        )
    frame = frame.with_columns(pl.lit(part.number).alias("number"))
    if part.per_cent:
        frame = frame.with_columns(pl.col("estimate", "low", "high") / 100)
    frame = frame.with_columns(pl.lit(value).alias(name) for name, value in part.values.items())
    return frame.filter(pl.col("estimate").is_not_null())


def _require(frame: pl.DataFrame, result: str, column: str) -> None:
    if column not in frame.columns:
        raise ArgumentError(
            f"result {result!r}: has no column {column!r}{suggest_name(column, frame.columns)}"
        )


def widen_table(
    frame: pl.DataFrame,
    view: TableView,
    labels: Labels | None = None,
    kept: Sequence[str] = (),
    changes: pl.DataFrame | None = None,
) -> WideTable:
    """Make a printed table from the rows that it consists of.

    Args:
        frame: Rows of tidy tables, in order.
        view: The labels of rows and columns, and the printed form.
        labels: The names of the study.
        kept: Label columns to keep even if they have a single value.
        changes: The differences that are printed after the numbers of the same places.

    Returns:
        The table; rows and columns in the order of `view.names`, then of their first occurrence,
        `Total` last. Label columns with a single value are omitted, except `kept`.

    Raises:
        ArgumentError: A column of the view is lacking, or there are two numbers for one place.
    """
    labels = labels or Labels()
    for column in [*view.rows, *view.columns]:
        _require(frame, view.result, column)
    keys, heads = _drop_constant(frame, view.rows, kept), _drop_constant(frame, view.columns)
    known = {} if changes is None else _index_changes(changes, view, keys, heads)
    cells: dict[Place, PageNumber] = {}
    groups: dict[tuple[str, ...], str] = {}
    order: dict[str, list[str]] = {
        column: [*dict.fromkeys(names.values())] for column, names in view.names.items()
    }
    for record in frame.iter_rows(named=True):
        place = (
            tuple(_name(record, key, view, labels) for key in keys),
            tuple(_name(record, head, view, labels) for head in heads),
        )
        if place in cells:
            raise _two_numbers(view.result, [*place[0], *place[1]])
        cells[place] = PageNumber(
            record["estimate"],
            record["low"],
            record["high"],
            bool(record["simulated"]),
            record["metric"] in view.interval_of,
            known.get(tuple(record[column] for column in (*keys, *heads))),
            record.get("number") in P_VALUES,
        )
        if view.groups:
            group = labels.groups.get(record["model"], "")
            groups.setdefault(place[0], view.names.get("group", {}).get(group, group))
    stated = [order.get(key, []) for key in keys]
    rows = list(dict.fromkeys(place[0] for place in cells))
    rows = rows if view.in_order else _order(rows, stated)
    columns = _order((place[1] for place in cells), [order.get(head, []) for head in heads])
    rows = _sort(rows, cells, view, groups)
    if view.mean:
        first = (view.mean, *[""] * (len(keys) - 1))
        cells |= {(first, column): _average(rows, column, cells) for column in columns}
        rows = [first, *rows]
    return WideTable(view, list(keys), rows, columns, cells, groups)


def _average(
    rows: Sequence[tuple[str, ...]], column: tuple[str, ...], cells: Mapping[Place, PageNumber]
) -> PageNumber:
    numbers = [cells[row, column] for row in rows if (row, column) in cells]
    return PageNumber(
        fmean(number.estimate for number in numbers),
        simulated=any(number.simulated for number in numbers),
    )


def _index_changes(
    changes: pl.DataFrame, view: TableView, keys: Sequence[str], heads: Sequence[str]
) -> dict[tuple[object, ...], float]:
    result = view.change.result if view.change else view.result
    for column in (*keys, *heads):
        _require(changes, result, column)
    indexed: dict[tuple[object, ...], float] = {}
    for *place, number in changes.select(*keys, *heads, "estimate").iter_rows():
        if tuple(place) in indexed:
            raise _two_numbers(result, map(str, place))
        indexed[tuple(place)] = number
    return indexed


def _two_numbers(result: str, place: Iterable[str]) -> ArgumentError:
    return ArgumentError(
        f"result {result!r}: has two numbers for {' · '.join(place)}; add columns, or keep fewer "
        "rows with `where`"
    )


def _sort(
    rows: Sequence[tuple[str, ...]],
    cells: Mapping[Place, PageNumber],
    view: TableView,
    groups: Mapping[tuple[str, ...], str],
) -> list[tuple[str, ...]]:
    """Return the rows by group, and within one by the numbers of `view.sort`."""
    places = {group: place for place, group in enumerate(dict.fromkeys(groups.values()))}
    sign = -1 if view.descending else 1

    def value(row: tuple[str, ...]) -> float:
        number = cells.get((row, tuple(view.sort)))
        return sign * number.estimate if number and view.sort else 0.0

    return sorted(rows, key=lambda row: (places.get(groups.get(row, ""), 0), value(row)))


def _drop_constant(
    frame: pl.DataFrame, columns: Sequence[str], kept: Sequence[str] = ()
) -> list[str]:
    """Return the columns that distinguish rows, and `kept`; the first if there are none."""
    varying = [name for name in columns if name in kept or frame[name].n_unique() > 1]
    return varying or list(columns[:1])


def _name(record: Mapping[str, object], column: str, view: TableView, labels: Labels) -> str:
    value = record[column]
    text = "" if value is None else str(value)
    printed = view.names.get(column, {})
    if text in printed:
        return printed[text]
    if column in ("model", "baseline_model", "judge", "respondent"):
        return labels.models.get(text) or text
    if column == "setting":
        return labels.settings.get(text) or text
    return text or (ALL_ITEMS if column in ("value", "slice") else "")


def _order(
    names: Iterable[tuple[str, ...]], stated: Sequence[Sequence[str]]
) -> list[tuple[str, ...]]:
    """Return the labels in order.

    They are sorted by the stated order of each part, else by first occurrence, grouped by the first
    label, numbers by size, with `Total` after its neighbours.
    """
    unique = list(dict.fromkeys(names))
    firsts = {name[0]: place for place, name in reversed(list(enumerate(unique)))}
    by_size = all(name[-1].isdecimal() for name in unique)

    def rank(part: int, text: str) -> int:
        order = stated[part]
        return order.index(text) if text in order else len(order)

    def is_total(part: int, text: str) -> bool:
        return text == ALL_ITEMS and text not in stated[part]

    def place(name: tuple[str, ...]) -> tuple[object, ...]:
        group = 0 if by_size and len(name) == 1 else firsts[name[0]]
        size = int(name[-1]) if by_size else 0
        return (
            is_total(0, name[0]),
            rank(0, name[0]),
            group,
            any(is_total(part, text) for part, text in enumerate(name) if part),
            *(rank(part, text) for part, text in enumerate(name) if part),
            size,
        )

    return sorted(unique, key=place)


def find_best(table: WideTable) -> dict[Place, int]:
    """Return 1 for the best numbers of a column, 2 for the second best, as printed.

    In a table with groups, these are the best of each group; with `by_model`, of each model.
    """
    view = table.view
    if view.best == "none" or len(table.rows) < 2:
        return {}
    blocks: dict[str, list[tuple[str, ...]]] = {}
    for row in table.rows:
        block = row[0].partition(ADDED)[0] if view.by_model else table.groups.get(row, "")
        blocks.setdefault(block, []).append(row)
    most = 2 if view.second else 1
    return {k: rank for rows in blocks.values() for k, rank in _rank(table, rows, most).items()}


def find_ranks(table: WideTable) -> dict[Place, int]:
    """Return the rank of the first three numbers of a column, if the table prints them."""
    return _rank(table, table.rows, RANKED) if table.view.ranked else {}


def _rank(table: WideTable, rows: Sequence[tuple[str, ...]], most: int) -> dict[Place, int]:
    ranks = {}
    skipped = {*table.view.unmarked}
    for column in table.columns:
        values = {
            row: round(number.estimate * table.factor, table.view.digits)
            for row in rows
            if skipped.isdisjoint((*row, *column))
            and (number := table.cells.get((row, column))) is not None
        }
        ordered = sorted(set(values.values()), reverse=table.view.best != "lowest")
        for row, value in values.items():
            if value in ordered[:most] and len(ordered) > 1:
                ranks[row, column] = ordered.index(value) + 1
    return ranks


def join_names(names: Sequence[str]) -> str:
    """Return the labels of a column as one."""
    return " ".join(rename_metric(name) for name in names if name)


def rename_metric(name: str) -> str:
    """Return the printed name of a metric; other labels as they are."""
    return METRIC_NAMES.get(name, name)
