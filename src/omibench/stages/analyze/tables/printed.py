"""Printed rows of papers as results of a study's dataset: model, setting and values by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from omibench.errors import FileFormatError, OmibenchError
from omibench.papers.layouts import AVERAGE, TableLayout
from omibench.papers.tables import (
    KnownLayouts,
    PrintedCell,
    PrintedTable,
    read_known_layouts,
    read_table,
)
from omibench.stages.analyze.tables.accuracy import TOTAL

ACC, GPTSCORE, STRICT, PASS5, CONS5 = "acc", "gptscore", "strict", "pass5", "cons5"
_SHORT = {"accuracy": ACC, "credit": ACC, "pass@5": PASS5, "consistency@5": CONS5}
"""The names of our metrics in differences.csv and the report."""


class Printed(NamedTuple):
    """One printed row under one setting.

    `strategy` is the setting as printed, empty if none; `settings` are the corresponding settings
    of our ready-made study, if the table's layout lists them.
    """

    model: str
    strategy: str
    group: str
    cells: tuple[PrintedCell, ...]
    file: str = ""
    source: str = ""
    settings: tuple[str, ...] = ()
    is_chance: bool = False
    """Whether it is the row of random guessing instead of a model."""

    @property
    def values(self) -> dict[tuple[str, str], float]:
        """Printed values by (part, metric).

        A part is a subject or another part of the dataset, the `total`, or the `average` of the
        parts.
        """
        return {key: cell.number.value for key, cell in self.cells_by_key.items()}

    @property
    def cells_by_key(self) -> dict[tuple[str, str], PrintedCell]:
        """Printed texts by (part, metric)."""
        return {(name_part(cell), name_metric(cell)): cell for cell in self.cells}

    @property
    def sizes(self) -> dict[str, int]:
        """The number of problems of each part of the printed dataset, if known."""
        return {name_part(cell): cell.n for cell in self.cells if cell.n}

    @property
    def digits(self) -> int:
        """The number of printed decimals."""
        return max((cell.number.digits for cell in self.cells), default=2)

    @property
    def k(self) -> int | None:
        """The number of samples behind all values, if printed."""
        counts = {cell.k for cell in self.cells}
        return counts.pop() if len(counts) == 1 else None


class PrintBeside(NamedTuple):
    """The printed tables of a study."""

    tables: list[PrintedTable]
    rows: list[Printed]
    """Rows about the study's dataset."""
    errors: list[FileFormatError]
    """One error per unreadable table."""


def name_part(cell: PrintedCell) -> str:
    """Return the part of a dataset that a value is for; `total` for all of it."""
    if cell.part == AVERAGE:
        return AVERAGE
    return cell.value if cell.slice else TOTAL


def name_metric(cell: PrintedCell) -> str:
    """Return the metric of a value; partial credit is the ACC of its table."""
    return _SHORT.get(cell.metric_name, cell.metric_name)


def read_published(path: str | Path, dataset: str, problems: int) -> list[Printed]:
    """Read the printed rows of models for a dataset.

    Args:
        path: CSV file with the table.
        dataset: Name of the dataset.
        problems: Number of its problems.

    Raises:
        MissingInputError: The file is missing.
        FileFormatError: The layout is unknown, or the dataset is ambiguous.
    """
    known = read_known_layouts(Path(path).parent)
    table = _read_table(Path(path), known)
    return list_rows(table, dataset, problems, known.sizes)


def read_print(paths: Sequence[str], dataset: str, problems: int) -> PrintBeside:
    """Read the printed tables of a study.

    Args:
        paths: CSV files with the tables.
        dataset: Name of the study's dataset.
        problems: Number of its problems.

    Returns:
        Their rows; unreadable tables are in `errors`.

    Raises:
        MissingInputError: A file is missing.
    """
    beside = PrintBeside([], [], [])
    layouts: dict[Path, KnownLayouts] = {}
    for path in map(Path, paths):
        try:
            if path.parent not in layouts:
                layouts[path.parent] = read_known_layouts(path.parent)
            known = layouts[path.parent]
            table = _read_table(path, known)
            beside.rows.extend(list_rows(table, dataset, problems, known.sizes))
            beside.tables.append(table)
        except FileFormatError as error:
            # An invalid tables.yaml is the same error for each table of its folder.
            if str(error) not in map(str, beside.errors):
                beside.errors.append(error)
    return beside


def _read_table(path: Path, known: KnownLayouts) -> PrintedTable:
    try:
        return read_table(path, known)
    except OmibenchError as error:
        raise type(error)(f"analyze.published: {error}") from None


def list_rows(
    table: PrintedTable, dataset: str, problems: int, sizes: Mapping[str, int]
) -> list[Printed]:
    """Return the rows of a table for a dataset, one per model and setting.

    Args:
        table: The table.
        dataset: Name of the dataset.
        problems: Number of its problems.
        sizes: Numbers of problems of printed datasets, if known.

    Raises:
        FileFormatError: The dataset of the table is ambiguous.
    """
    names = dict.fromkeys(cell.dataset for cell in table.cells)
    meant = _find_dataset(table.file, list(names), dataset, problems, sizes)
    groups = {(row.model, row.setting): row.group for row in table.rows}
    cells = [cell for cell in table.cells if cell.dataset == meant and cell.model]
    return [
        Printed(
            model, full_setting, groups[model, strategy], tuple(members), table.file,
            table.layout.source, _list_settings(table.layout, full_setting, strategy),
            model in table.layout.chance,
        )
        for (model, strategy, full_setting), members in _group_cells(cells)
    ]  # fmt: skip


def _group_cells(
    cells: Iterable[PrintedCell],
) -> Iterator[tuple[tuple[str, str, str], Iterator[PrintedCell]]]:
    """Return cells of one model, row and setting together, in table order."""
    order: dict[tuple[str, str, str, str], None] = {}
    for cell in cells:
        order.setdefault(_get_key(cell))
    places = {key: place for place, key in enumerate(order)}
    rows = sorted(cells, key=lambda cell: places[_get_key(cell)])
    for (model, strategy, full_setting, _), members in groupby(rows, key=_get_key):
        yield (model, strategy, full_setting), members


def _get_key(cell: PrintedCell) -> tuple[str, str, str, str]:
    return cell.model, cell.strategy, cell.full_setting, cell.row


def _list_settings(layout: TableLayout, full_setting: str, strategy: str) -> tuple[str, ...]:
    for name in (full_setting, strategy):
        if name in layout.asked_as:
            return tuple(layout.asked_as[name])
    return ()


def _find_dataset(
    file: str, names: Sequence[str], dataset: str, problems: int, sizes: Mapping[str, int]
) -> str:
    """Select by size if all sizes are known, since full and reduced sets often share a name."""
    if len(names) < 2:
        return names[0] if names else ""
    if all(name in sizes for name in names):
        return min(names, key=lambda name: abs(sizes[name] - problems))
    name = dataset.lower().replace("_", "-")
    if name not in names:
        raise FileFormatError(
            f"{file}: has results on {', '.join(names)}, but the frozen dataset is named "
            f"{dataset!r}; set freeze.name to one of them"
        )
    return name
