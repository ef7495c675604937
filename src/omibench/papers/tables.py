"""Whether two names mean the same model: a paper's, another benchmark's, and the study's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from omibench.errors import FileFormatError
from omibench.files.locations import find_shipped
from omibench.files.reading import read_csv
from omibench.papers.layouts import (
    AND,
    AVERAGE,
    TOTAL,
    ColumnGroup,
    MetricKind,
    TableLayout,
    guess_layout,
    read_layouts,
)
from omibench.params.stages.analyze import LAYOUTS
from omibench.text.terminal import printable

Item = TypeVar("Item")

_OPTIONAL_ENDING = re.compile(r"(?:instruct|preview|32k)$")
"""Endings of names that some tables of a paper omit."""


@lru_cache(4096)
def normalise_name(name: str) -> str:
    """Return a model's name without case, punctuation and optional endings."""
    return _OPTIONAL_ENDING.sub("", re.sub(r"[\W_]", "", name.casefold()))


def find_same(
    name: str, items: Iterable[Item], names_of: Callable[[Item], Iterable[str]]
) -> tuple[list[Item], bool]:
    """Find the items with a name: exactly this one, otherwise one that is equal when normalised.

    Args:
        name: The name.
        items: The items.
        names_of: The names of an item.

    Returns:
        The items in order, and whether they have exactly this name.
    """
    named = [(item, list(names_of(item))) for item in items]
    exact = [item for item, names in named if name in names]
    if exact:
        return exact, True
    wanted = normalise_name(name)
    return [item for item, names in named if wanted in map(normalise_name, names)], False


def match_models(names: Iterable[str], labels: Mapping[str, str]) -> dict[str, str | None]:
    """Match names of models in another table with the models of a study.

    Args:
        names: Names as printed in the table.
        labels: Labels of the study's models, by name.

    Returns:
        For each name, the model with exactly that name or label. Otherwise the only model whose
        name or label differs just in case, punctuation or an ending such as `-Instruct`, unless
        another name already matches it. Otherwise None.
    """
    found = {name: find_same(name, labels.items(), tuple) for name in dict.fromkeys(names)}
    models = {name: same[0][0] if is_exact else None for name, (same, is_exact) in found.items()}
    taken = set(models.values())
    for name, (same, is_exact) in found.items():
        free = [model for model, _ in same if model not in taken]
        if not is_exact and len(free) == 1:
            models[name] = free[0]
            taken.add(free[0])
    return models


# Printed tables: their rows, and every value with its model, setting, part and decimals.

SHIPPED = "published"
TOLERANCE = 1e-9
_LARGEST, _MOST_DIGITS = 1e15, 12
"""Bounds within which any number can be formatted with its decimals."""
_GROUP, _STRATEGY = "group", "strategy"
"""The columns with the kind of a model, and with its setting."""
_METRICS = {
    "acc": "accuracy", "loose": "credit", "pass5": "pass@5",
    "cons5": "consistency@5", "pass": "pass@{k}",
}  # fmt: skip
ACC, GPTSCORE, STRICT, PASS5, CONS5 = "acc", "gptscore", "strict", "pass5", "cons5"
_SHORT = {"accuracy": ACC, "credit": ACC, "pass@5": PASS5, "consistency@5": CONS5}
"""The names of our metrics in differences.csv and the report."""


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
    numbers: Mapping[str, PrintedNumber] = {}
    """Column of the layout -> its number; absent if nothing is printed."""


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
    def short_metric(self) -> str:
        """The metric in the report; partial credit is the ACC of its table."""
        return _SHORT.get(self.metric_name, self.metric_name)

    @property
    def subject(self) -> str:
        """The part of the dataset in the report: a value, `average` of the parts, or `total`."""
        if self.part == AVERAGE:
            return AVERAGE
        return self.value if self.slice else TOTAL

    @property
    def scale(self) -> float:
        """The factor that turns a printed number into a share in [0, 1]."""
        return 0.01 if self.percent else 1.0


class PrintedTable(NamedTuple):
    """One printed table."""

    file: str
    layout: TableLayout
    rows: list[PrintedRow]
    cells: list[PrintedCell]


class KnownLayouts(NamedTuple):
    """The possible layouts of a folder's tables."""

    beside: Mapping[str, TableLayout]
    """From the `tables.yaml` in the folder."""
    shipped: Mapping[str, TableLayout]
    """Of the tables that ship with omibench."""

    @property
    def sizes(self) -> dict[str, int]:
        """The number of problems of each dataset, if known: the maximum of a table."""
        sizes: dict[str, int] = {}
        for layout in {**self.shipped, **self.beside}.values():
            for group in layout.columns:
                if group.percent and (group.total or {*group.parts} == {TOTAL}):
                    whole = 0 if group.within else sum(n or 0 for n in group.parts.values())
                    sizes[group.dataset] = max(sizes.get(group.dataset, 0), whole)
        return sizes


def read_known_layouts(folder: Path) -> KnownLayouts:
    """Read the possible layouts of a folder's tables.

    Raises:
        FileFormatError: `tables.yaml` is invalid.
    """
    home = find_shipped(SHIPPED)
    shipped = _read_shipped(home)
    if not (folder / LAYOUTS).is_file():
        return KnownLayouts({}, shipped)
    is_home = folder.resolve() == home.resolve()
    return KnownLayouts(shipped if is_home else read_layouts(folder), shipped)


@cache
def _read_shipped(home: Path) -> Mapping[str, TableLayout]:
    return read_layouts(home) if (home / LAYOUTS).is_file() else {}


def read_table(path: Path, known: KnownLayouts | None = None) -> PrintedTable:
    """Read a table with the layout in the `tables.yaml` next to it, or inferred from its columns.

    A copy of a table that ships with omibench has the shipped layout if that file is missing.

    Args:
        path: The table as CSV.
        known: The layouts of its folder, if they were read before.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: It is not CSV, its columns match no known layout, `tables.yaml` is
            invalid, or `make_table` fails.
    """
    known = known or read_known_layouts(path.parent)
    texts = list(read_csv(path))
    layout = known.beside.get(path.name)
    if layout is None:
        columns = list(texts[0]) if texts else []
        layout = known.shipped.get(path.name)
        if layout is None or not {*layout.list_columns()} <= {*columns}:
            layout = guess_layout(path, columns)
    return make_table(path, texts, layout)


def make_table(path: Path, texts: Sequence[Mapping[str, str]], layout: TableLayout) -> PrintedTable:
    """Make a table of the texts of its rows.

    Args:
        path: Its file, for messages.
        texts: Column -> the printed text, for each row.
        layout: The layout of its columns.

    Returns:
        The table: rows in order, one whose name begins with `+` named after the one above it, and
        the values of every part, the total and the average of the parts.

    Raises:
        FileFormatError: It lacks a column of the layout, a value is not a number, or a share is
            not from 0 to 100.
    """
    columns = layout.list_columns()
    for column in columns:
        if not texts or column not in texts[0]:
            raise FileFormatError(
                f"{path}: the column {column!r}, which {LAYOUTS} lists for it, is missing"
            )
    spreads = [name for group in layout.columns for name in group.list_spreads(group.total or "")]
    wanted = {*columns, *spreads} - {*layout.row}
    rows = [
        row._replace(numbers=dict(_read_numbers(path, row, wanted)))
        for row in _name_rows(texts, layout)
    ]
    cells = [cell for row in rows for cell in _list_cells(path.name, row, layout)]
    return PrintedTable(path.name, layout, rows, cells)


def parse_number(text: str) -> PrintedNumber | None:
    """Parse a printed number; None if nothing is printed.

    Raises:
        ValueError: It is not a number, or one that no paper prints (10^15 and more).
    """
    text = text.strip()
    if not text:
        return None
    value = float(text)
    if not abs(value) < _LARGEST:
        raise ValueError(text)
    return PrintedNumber(value, min(len(text.partition(".")[2]), _MOST_DIGITS))


def _read_numbers(
    path: Path, row: PrintedRow, columns: set[str]
) -> Iterator[tuple[str, PrintedNumber]]:
    for column, text in row.texts.items():
        if column in columns:
            try:
                number = parse_number(text)
            except ValueError:
                raise FileFormatError(
                    f"{path}: {printable(row.name)}, {column}: "
                    f"{printable(text.strip())[:80]!r} is not a number"
                ) from None
            if number:
                yield column, number


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


def _list_cells(file: str, row: PrintedRow, layout: TableLayout) -> Iterator[PrintedCell]:
    for group in layout.columns:
        make = partial(
            PrintedCell, file=file, row=row.name, dataset=group.dataset, setting=group.setting,
            model=row.model, strategy=row.setting, k=group.k, percent=group.percent,
        )  # fmt: skip
        first = next(iter(group.metrics))
        for metric, stated in group.metrics.items():
            is_mean_of_runs = stated == "count" and row.model in layout.averaged
            for part, word, n in group.list_parts():
                number = _find_share(file, row, group.column(word, metric), group)
                if number:
                    slice_, value = group.place(part)
                    cell = make(
                        part=part, metric=row.metric or metric, n=n, number=number,
                        kind="ratio" if is_mean_of_runs else stated, slice=slice_, value=value,
                    )  # fmt: skip
                    yield _add_spread(cell, row, group, word) if metric == first else cell
        if group.average and (number := _find_share(file, row, group.average, group)):
            yield make(
                part=AVERAGE, metric=row.metric or first, kind="mean", n=0, number=number,
                slice=group.slice, value=AVERAGE,
            )  # fmt: skip


def _find_share(
    file: str, row: PrintedRow, column: str, group: ColumnGroup
) -> PrintedNumber | None:
    number = row.numbers.get(column)
    if number and group.percent and not 0 <= number.value <= 100:
        raise FileFormatError(
            f"{file}: {row.name}, {column}: {number.value:g} is not a share in per cent, from "
            "0 to 100"
        )
    return number


def _add_spread(cell: PrintedCell, row: PrintedRow, group: ColumnGroup, word: str) -> PrintedCell:
    """Add the printed interval and standard deviation to a value, if the table has them."""
    patterns = (*(group.interval or ("", "")), group.deviation or "")
    low, high, deviation = (row.numbers.get(pattern.format(part=word)) for pattern in patterns)
    return cell._replace(interval=(low, high) if low and high else None, deviation=deviation)
