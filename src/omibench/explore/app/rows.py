"""Rows of the grid, and single items within a filter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from omibench.explore.app.live import Snapshot
from omibench.explore.grid import Grid
from omibench.explore.item import (
    CellItems,
    check_cells,
    find_heat_map,
    find_item,
    list_outcomes,
)
from omibench.explore.query import MOST_COLUMNS, ItemQuery
from omibench.explore.run import Run
from omibench.explore.selection import Study
from omibench.params.cell import Cell
from omibench.schemas.verdict import RIGHT
from omibench.stages.analyze.explorer.document import describe_item, describe_place_among

SNIPPET: Final = 160
"""Maximum characters of a question in a row."""
_DIGITS: Final = 4
Values = dict[str, Any]


def describe_rows(study: Study, query: ItemQuery) -> Values:
    """Return one page of the items that a query selects.

    Args:
        study: The study.
        query: The selection of items, rows and columns.

    Returns:
        Plain values for JSON. Verdicts are in the order of `cells`, None if missing; `right` and
        `asked` count over all columns, of which `cells` are those of this page.

    Raises:
        ParamsError: The query does not match the study.
    """
    selection = study.select(query)
    grid = selection.grid
    columns = _choose_columns(grid, query) if grid else range(0)
    rows = query.count_rows(len(columns))
    names = selection.ids[query.offset : query.offset + rows]
    shown = grid.select(columns) if grid else None
    return {
        "total": len(selection.ids),
        "offset": query.offset,
        "limit": rows,
        "rules": study.choose_rules(query.rules) if grid else None,
        "column": columns.start,
        "columns": len(grid.cells) if grid else 0,
        "most_columns": MOST_COLUMNS,
        "cells": [cell._asdict() for cell in shown.cells] if shown else [],
        "items": _describe_all(study, names, grid, shown),
        "address": query.to_address(),
    }


def describe_place(
    snapshot: Snapshot, name: str, cells: Sequence[Cell], query: ItemQuery
) -> Values:
    """Return one item with selected models side by side, and its position in a query's result.

    Args:
        snapshot: The study.
        name: The id of the item.
        cells: The cells to show.
        query: The query.

    Raises:
        MissingInputError: The item does not exist.
        ParamsError: The query or a cell does not match the study.
    """
    study, link = snapshot.study, snapshot.pictures.link
    item = describe_item(*find_item(study.items, name), link, has_attributes=True)
    item["pages_drawn"] = [
        {"address": f"/pictures/{page.sha256}", "label": page.label, "boxes": page.boxes}
        for page in snapshot.pictures.list_pages(name)
    ]
    run = study.run
    rules = study.choose_rules(query.rules) if run and run.rules else None
    columns = []
    if run is not None:
        check_cells(run, cells)
        link_map = partial(_link_map, run)
        columns = [CellItems(run, c, [name]).describe(name, link, link_map) for c in cells]
    return {
        "item": item,
        "rules": rules,
        "outcomes": list_outcomes(run, name, rules) if run and rules else [],
        "columns": columns,
        **describe_place_among(study.select(query).ids, name),
    }


def _link_map(run: Run, cell: Cell, name: str, image: int, option: str) -> str | None:
    if find_heat_map(run, cell, name, image, option) is None:
        return None
    query = {"model": cell.model, "setting": cell.setting, "id": name, "image": image,
             "option": option}  # fmt: skip
    return f"/heat-map?{urlencode(query)}"


def _choose_columns(grid: Grid, query: ItemQuery) -> range:
    """Return the columns of a page; the first ones if the query is past the last."""
    count = len(grid.cells)
    first = query.column if query.column < count else 0
    return range(first, min(first + MOST_COLUMNS, count))


def _describe_all(
    study: Study, names: Sequence[str], grid: Grid | None, shown: Grid | None
) -> list[Values]:
    rows = [_describe_row(study, name) for name in names]
    if grid is None or shown is None:
        return [{**row, "right": 0, "asked": 0, "verdicts": [], "failed": []} for row in rows]
    places = [study.items.places[name] for name in names]
    values = grid.values[places]
    counts = {
        "right": (values >= RIGHT).sum(axis=1).tolist(),
        "asked": (~np.isnan(values)).sum(axis=1).tolist(),
        "verdicts": _list_numbers(shown.values[places]),
        "failed": _list_numbers(shown.failed[places]),
    }
    return [{**row, **{k: v[n] for k, v in counts.items()}} for n, row in enumerate(rows)]


def _describe_row(study: Study, name: str) -> Values:
    question, answer = study.items.questions[name], study.items.answers[name]
    return {
        "id": name,
        "subject": question.subject,
        "answer_type": answer.answer_type,
        "n_images": answer.n_images,
        "gold": "; ".join(answer.answer)[:SNIPPET],
        "snippet": " ".join(question.question[: 2 * SNIPPET].split())[:SNIPPET],
    }


def _list_numbers(values: NDArray[np.float32]) -> list[list[float | None]]:
    """Convert rows of numbers for JSON, which has no NaN; 0 and 1 become short integers."""
    rounded = np.round(values.astype(np.float64), _DIGITS)
    numbers = rounded.astype(object)
    is_whole = rounded == np.trunc(rounded)
    numbers[is_whole] = rounded[is_whole].astype(np.int64)
    numbers[np.isnan(rounded)] = None
    rows: list[list[float | None]] = numbers.tolist()
    return rows
