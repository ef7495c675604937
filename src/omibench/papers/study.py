"""Printed results on a study's dataset: one per model and setting, matched to its cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omibench.errors import FileFormatError, OmibenchError
from omibench.papers.layouts import TableLayout
from omibench.papers.tables import (
    KnownLayouts,
    PrintedCell,
    PrintedTable,
    find_same,
    read_known_layouts,
    read_table,
)

if TYPE_CHECKING:
    from omibench.params.setting import Cell
    from omibench.results.load import Results

_DEFAULT_STRATEGY = "cot"
"""The setting of a table without settings from a paper without a study (OMIBench, appendix B)."""


class PrintedResult(NamedTuple):
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
        """Printed values by (subject, metric), as `PrintedCell` names them."""
        return {key: cell.number.value for key, cell in self.cells_by_key.items()}

    @property
    def cells_by_key(self) -> dict[tuple[str, str], PrintedCell]:
        """Cells by (subject, metric)."""
        return {(cell.subject, cell.short_metric): cell for cell in self.cells}

    @property
    def digits(self) -> int:
        """The number of printed decimals."""
        return max((cell.number.digits for cell in self.cells), default=2)

    @property
    def k(self) -> int | None:
        """The number of samples behind all values, if printed."""
        counts = {cell.k for cell in self.cells}
        return counts.pop() if len(counts) == 1 else None


class StudyPrint(NamedTuple):
    """The printed tables of a study."""

    tables: list[PrintedTable]
    rows: list[PrintedResult]
    """Those about the study's dataset."""
    errors: list[FileFormatError]
    """One error per unreadable table."""


def read_print(paths: Iterable[str], dataset: str, problems: int) -> StudyPrint:
    """Read the printed tables of a study.

    Args:
        paths: CSV files with the tables.
        dataset: Name of the study's dataset.
        problems: Number of its problems.

    Returns:
        The tables and their results; unreadable tables are in `errors`.

    Raises:
        MissingInputError: A file is missing.
    """
    found = StudyPrint([], [], [])
    layouts: dict[Path, KnownLayouts] = {}
    for path in map(Path, paths):
        try:
            if path.parent not in layouts:
                layouts[path.parent] = read_known_layouts(path.parent)
            known = layouts[path.parent]
            table = _read_table(path, known)
            found.rows.extend(list_results(table, dataset, problems, known.sizes))
            found.tables.append(table)
        except FileFormatError as error:
            # An invalid tables.yaml is the same error for each table of its folder.
            if str(error) not in map(str, found.errors):
                found.errors.append(error)
    return found


def list_results(
    table: PrintedTable, dataset: str, problems: int, sizes: Mapping[str, int]
) -> list[PrintedResult]:
    """Return the results of a table on a dataset, one per model and setting.

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
        PrintedResult(
            model, full_setting, groups[model, strategy], tuple(members), table.file,
            table.layout.source, _list_settings(table.layout, full_setting, strategy),
            model in table.layout.chance,
        )
        for (model, strategy, full_setting, _), members in _group_cells(cells)
    ]  # fmt: skip


def find_rows(
    results: Results, cell: Cell, printed: Iterable[PrintedResult]
) -> list[PrintedResult]:
    """Return the printed results of a cell: same model name, same setting.

    A setting matches by the table's layout, by a setting's name or label, or by the part of its
    name before the first hyphen (`cot-warm`). Names of models match as `find_same` says, for each
    table; tables with exactly the same name come first.
    """
    setting = cell.setting
    names = {setting, setting.partition("-")[0], results.setting_label(setting)}
    rows: dict[str, list[PrintedResult]] = {}
    for row in printed:
        accepted = {setting} if row.settings else names
        if accepted.intersection(row.settings or (row.strategy or _DEFAULT_STRATEGY,)):
            rows.setdefault(row.file, []).append(row)
    label = results.label(cell.model)
    same = [find_same(label, group, lambda row: [row.model]) for group in rows.values()]
    same.sort(key=lambda found: not found[1])
    return [row for group, _ in same for row in group]


def find_row(
    results: Results, cell: Cell, printed: Iterable[PrintedResult]
) -> PrintedResult | None:
    """Return the printed result of a cell: the first one over as many samples of a run."""
    samples = results.study.settings[cell.setting].samples_of_a_run
    rows = find_rows(results, cell, printed)
    return next((row for row in rows if row.k in (None, samples)), None)


def _read_table(path: Path, known: KnownLayouts) -> PrintedTable:
    try:
        return read_table(path, known)
    except OmibenchError as error:
        raise type(error)(f"analyze.published: {error}") from None


def _group_cells(
    cells: Sequence[PrintedCell],
) -> Iterator[tuple[tuple[str, str, str, str], Iterator[PrintedCell]]]:
    """Return cells of one model, row and setting together, in table order."""

    def get_key(cell: PrintedCell) -> tuple[str, str, str, str]:
        return cell.model, cell.strategy, cell.full_setting, cell.row

    places = {key: place for place, key in enumerate(dict.fromkeys(map(get_key, cells)))}
    return groupby(sorted(cells, key=lambda cell: places[get_key(cell)]), key=get_key)


def _list_settings(layout: TableLayout, full_setting: str, strategy: str) -> tuple[str, ...]:
    names = (name for name in (full_setting, strategy) if name in layout.asked_as)
    return tuple(layout.asked_as.get(next(names, ""), ()))


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
