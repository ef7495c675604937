"""Lower-case texts of responses by model and item, for fast searches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final, Literal

import polars as pl

from omibench.errors import ParamsError
from omibench.explore.index import CellReader, Index, name_part, stamp_cells
from omibench.explore.run import Items, Run
from omibench.params.setting import Cell

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


# Text search in questions, responses, extracted answers and rationales.

Field = Literal["question", "response", "extracted", "rationale"]
FIELDS: Final[tuple[Field, ...]] = ("question", "response", "extracted", "rationale")
LONGEST: Final = 200
"""Maximum characters of a search text."""


def find_items(
    items: Items,
    run: Run | None,
    words: str,
    fields: tuple[Field, ...],
    index: Index | None = None,
) -> set[str]:
    """Return the items in which a field contains the text, ignoring case.

    Args:
        items: The items.
        run: The run with the responses; None to search only items.
        words: The text; not a pattern.
        fields: The fields to search.
        index: The run's index, if any.

    Returns:
        Their ids.

    Raises:
        ParamsError: The text is too long.
    """
    text = words.strip().lower()
    if len(text) > LONGEST:
        raise ParamsError(f"search: {len(text)} characters; the limit is {LONGEST}")
    if not text:
        return set(items.ids)
    found: set[str] = set()
    if "question" in fields:
        found |= {name for name, words in items.texts.items() if text in words}
    if "rationale" in fields:
        answers = items.answers.values()
        found |= {a.id for a in answers if text in (a.solution or "").lower()}
    if run is not None and "extracted" in fields:
        found |= set(_keep(run.verdicts, "extracted", text)["id"].unique().to_list())
    if run is not None and "response" in fields:
        found |= find_texts(run, text, index)
    return found & set(items.ids)


def _keep(frame: pl.DataFrame, column: str, text: str) -> pl.DataFrame:
    return frame.filter(pl.col(column).str.to_lowercase().str.contains(text, literal=True))
