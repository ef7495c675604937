"""Printed tables: each with its layout, its rows and its values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from omibench.files.intake import read_csv
from omibench.files.shipped import find_shipped
from omibench.printed_tables.cells import PrintedCell, read_cells
from omibench.printed_tables.guess import guess_layout
from omibench.printed_tables.layouts import LAYOUTS, TOTAL, TableLayout, read_layouts
from omibench.printed_tables.rows import PrintedRow, name_rows, read_rows

SHIPPED = "published"


class PrintedTable(NamedTuple):
    """One printed table."""

    file: str
    layout: TableLayout
    rows: list[PrintedRow]
    cells: list[PrintedCell]


def read_described_table(path: Path, layout: TableLayout) -> PrintedTable:
    """Read a table of a known layout.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: It is not CSV, or lacks columns of its layout.
    """
    rows = read_rows(path, layout)
    return PrintedTable(path.name, layout, rows, read_cells(path.name, rows, layout))


class KnownLayouts(NamedTuple):
    """The possible layouts of a folder's tables."""

    beside: Mapping[str, TableLayout]
    """From the `tables.yaml` in the folder."""
    shipped: Mapping[str, TableLayout]
    """Of the tables that ship with omibench."""


def read_known_layouts(folder: Path) -> KnownLayouts:
    """Read the possible layouts of a folder's tables.

    Raises:
        FileFormatError: `tables.yaml` is invalid.
    """
    home = find_shipped(SHIPPED)
    shipped = read_layouts(home) if _has_layouts(home) else {}
    if not _has_layouts(folder):
        return KnownLayouts({}, shipped)
    is_home = folder.resolve() == home.resolve()
    return KnownLayouts(shipped if is_home else read_layouts(folder), shipped)


def read_table(path: Path, known: KnownLayouts | None = None) -> PrintedTable:
    """Read a table with the layout in the `tables.yaml` next to it, or inferred from its columns.

    A copy of a table that ships with omibench has the shipped layout if that file is missing.

    Args:
        path: The table as CSV.
        known: The layouts of its folder, if they were read before.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: It is not CSV, its columns match no known layout, or `tables.yaml` is
            invalid.
    """
    known = known or read_known_layouts(path.parent)
    if layout := known.beside.get(path.name):
        return read_described_table(path, layout)
    texts = list(read_csv(path))
    columns = list(texts[0]) if texts else []
    shipped = known.shipped.get(path.name)
    if shipped and {*shipped.list_columns()} <= {*columns}:
        layout = shipped
    else:
        layout = guess_layout(path, columns)
    rows = name_rows(str(path), texts, layout)
    return PrintedTable(path.name, layout, rows, read_cells(path.name, rows, layout))


def measure_datasets(known: KnownLayouts) -> dict[str, int]:
    """Return the number of problems of each dataset in known layouts: the maximum of a table."""
    sizes: dict[str, int] = {}
    for layout in {**known.shipped, **known.beside}.values():
        for group in layout.columns:
            whole = 0 if group.within else sum(n or 0 for n in group.parts.values())
            if group.percent and (group.total or {*group.parts} == {TOTAL}):
                sizes[group.dataset] = max(sizes.get(group.dataset, 0), whole)
    return sizes


def list_layout_files(paths: Iterable[str]) -> list[str]:
    """List the `tables.yaml` files next to the tables, each once."""
    folders = dict.fromkeys(Path(path).parent for path in paths)
    return [str(folder / LAYOUTS) for folder in folders if _has_layouts(folder)]


def _has_layouts(folder: Path) -> bool:
    return (folder / LAYOUTS).is_file()
