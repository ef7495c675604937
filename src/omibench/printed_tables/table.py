"""Printed tables, read: each with its layout, its rows and its values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from omibench.errors import OmibenchError
from omibench.files.intake import read_csv
from omibench.files.shipped import find_shipped
from omibench.printed_tables.cells import PrintedCell, read_cells
from omibench.printed_tables.guess import guess_layout
from omibench.printed_tables.layouts import LAYOUTS, TOTAL, TableLayout, read_layouts
from omibench.printed_tables.rows import PrintedRow, name_rows, read_rows

SHIPPED = "published"


class PrintedTable(NamedTuple):
    """One printed table, read."""

    file: str
    layout: TableLayout
    rows: list[PrintedRow]
    cells: list[PrintedCell]


class PrintedTables(NamedTuple):
    """The tables that could be read, and an error for each that could not."""

    tables: list[PrintedTable]
    errors: list[OmibenchError]


def read_described_table(path: Path, layout: TableLayout) -> PrintedTable:
    """Read a table of a known layout.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: It is no CSV, or lacks what its layout names.
    """
    rows = read_rows(path, layout)
    return PrintedTable(path.name, layout, rows, read_cells(path.name, rows, layout))


def read_table(path: Path) -> PrintedTable:
    """Read a table, its layout from the `tables.yaml` beside it, or told from its columns.

    A table that ships with omibench and lies elsewhere without that file is of the layout that
    ships.

    Args:
        path: The table as CSV.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: It is no CSV, its columns are of no known layout, or `tables.yaml` is
            wrong.
    """
    layout = read_layouts(path.parent).get(path.name) if _has_layouts(path.parent) else None
    if layout:
        return read_described_table(path, layout)
    texts = list(read_csv(path))
    columns = list(texts[0]) if texts else []
    shipped = _read_shipped_layouts().get(path.name)
    if shipped and {*shipped.list_columns()} <= {*columns}:
        layout = shipped
    else:
        layout = guess_layout(path, columns)
    rows = name_rows(str(path), texts, layout)
    return PrintedTable(path.name, layout, rows, read_cells(path.name, rows, layout))


def read_tables(paths: Iterable[Path]) -> PrintedTables:
    """Read several tables; one that cannot be read leaves the others."""
    tables: list[PrintedTable] = []
    errors: list[OmibenchError] = []
    for path in paths:
        try:
            tables.append(read_table(path))
        except OmibenchError as error:
            errors.append(error)
    return PrintedTables(tables, errors)


def list_layout_files(paths: Iterable[str]) -> list[str]:
    """The `tables.yaml` beside the tables, each once, where there is one."""
    folders = dict.fromkeys(Path(path).parent for path in paths)
    return [str(folder / LAYOUTS) for folder in folders if _has_layouts(folder)]


def measure_datasets(folder: Path) -> dict[str, int]:
    """How many problems each dataset of a folder's layouts has: the most that a table is over.

    Args:
        folder: Of the tables; those that ship with omibench stand behind them.
    """
    layouts = {**_read_shipped_layouts(), **(read_layouts(folder) if _has_layouts(folder) else {})}
    sizes: dict[str, int] = {}
    for layout in layouts.values():
        for group in layout.columns:
            whole = 0 if group.within else sum(n or 0 for n in group.parts.values())
            if group.percent and (group.total or {*group.parts} == {TOTAL}):
                sizes[group.dataset] = max(sizes.get(group.dataset, 0), whole)
    return sizes


def _has_layouts(folder: Path) -> bool:
    return (folder / LAYOUTS).is_file()


def _read_shipped_layouts() -> Mapping[str, TableLayout]:
    folder = find_shipped(SHIPPED)
    return read_layouts(folder) if _has_layouts(folder) else {}
