"""Lower-case texts of responses by model and item, for fast searches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Final

import polars as pl

from omibench.explore.index import Index, name_part
from omibench.explore.reader import CellReader, stamp_cells
from omibench.params.cell import Cell

if TYPE_CHECKING:
    from omibench.explore.run import Run

TEXTS: Final = ("text", "reasoning")


def find_texts(run: Run, text: str, index: Index | None = None) -> set[str]:
    """Return the items with a response that contains a text.

    Args:
        run: The run.
        text: The text in lower case.
        index: The run's index; missing models are read from their files.
    """
    holds = pl.col("text").str.contains(text, literal=True)
    ids: set[str] = set()
    for cells in group_by_model(run.cells):
        part = index.find(name_texts(run, cells)) if index else None
        # Without an index, only one cell at a time is in memory.
        tables = [pl.scan_ipc(part)] if part else (scan_texts(run, cell) for cell in cells)
        for table in tables:
            ids.update(table.filter(holds).select("id").collect()["id"].to_list())
    return ids


def build_index(run: Run, reader: CellReader, index: Index) -> None:
    """Write missing parts of a run's index, and delete outdated ones.

    Args:
        run: The run.
        reader: The reader of the run.
        index: Its index.

    Raises:
        OSError: The index cannot be written.
    """
    names = set()
    for name, rows in reader.list_parts():
        names.add(name)
        if index.find(name) is None:
            index.write(name, rows, is_packed=True)
    for cells in group_by_model(run.cells):
        name = name_texts(run, cells)
        names.add(name)
        if index.find(name) is None:
            index.write(name, join_texts(run, cells))
    index.keep(names)


def group_by_model(cells: tuple[Cell, ...]) -> Iterator[list[Cell]]:
    """Return the cells of each model."""
    for _, group in groupby(cells, key=lambda cell: cell.model):
        yield list(group)


def name_texts(run: Run, cells: list[Cell]) -> str:
    """Return the name of the index part with the texts of some cells."""
    return name_part("texts", stamp_cells(run.files.locate("infer", cell) for cell in cells))


def scan_texts(run: Run, cell: Cell) -> pl.LazyFrame:
    """Return text and reasoning of each response of a cell, joined and in lower case."""
    path = run.files.locate("infer", cell)
    joined = pl.concat_str(TEXTS, separator="\n", ignore_nulls=True).str.to_lowercase()
    return pl.scan_parquet(path, glob=False).select("id", joined.alias("text"))


def join_texts(run: Run, cells: list[Cell]) -> pl.DataFrame:
    """Return one row per item with the texts of all its cells."""
    tables = pl.concat([scan_texts(run, cell) for cell in cells])
    return tables.group_by("id").agg(pl.col("text").str.join("\n")).collect()
