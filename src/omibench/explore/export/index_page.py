"""First page of exported items, with the outcome of each cell."""

from __future__ import annotations

import math
from typing import Any, Final

from omibench.explore.app.live import Snapshot
from omibench.explore.export.choice import ExportChoice
from omibench.explore.query import ItemQuery
from omibench.explore.run import Run
from omibench.params.cell import Cell
from omibench.schemas.verdict import RIGHT
from omibench.stages.analyze.explorer.view import image_words
from omibench.stages.analyze.links import cell_anchor, problem_file
from omibench.stages.analyze.words import format_share, name_scorer

MOST_COLUMNS: Final = 12
"""The maximum number of cells with a column; for more, the share of right ones is shown."""
_NEARLY: Final = 1e-6
Values = dict[str, Any]


def describe_index(snapshot: Snapshot, choice: ExportChoice) -> Values:
    """Return the values for the template `exported.html.j2`.

    Args:
        snapshot: The study.
        choice: The selection.
    """
    items, run = snapshot.study.items, snapshot.study.run
    marks = _list_marks(snapshot, choice)
    has_columns = 0 < len(choice.cells) <= MOST_COLUMNS
    problems = [
        {
            "id": name,
            "href": f"pages/{problem_file(name)}",
            "subject": items.answers[name].subject,
            "images": image_words(items.questions[name], items.answers[name]),
            "marks": marks[name] if has_columns else [],
            "right": _count_right(marks[name]),
        }
        for name in choice.ids
    ]
    return {
        "title": snapshot.sources.title,
        "dataset": f"{items.manifest.name} {items.manifest.version}".strip(),
        "problems": problems,
        "cells": [_describe_cell(run, cell) for cell in choice.cells] if run else [],
        "has_columns": has_columns,
        "scored_by": name_scorer(choice.rules) if choice.rules else "",
        "simulated": bool(run and run.simulated_cells & set(choice.cells)),
        "made_up": bool(items.manifest.synthetic),
    }


def _describe_cell(run: Run, cell: Cell) -> Values:
    return {
        "label": run.label(cell.model),
        "setting": run.label(cell.setting),
        "simulated": cell in run.simulated_cells,
    }


def _list_marks(snapshot: Snapshot, choice: ExportChoice) -> dict[str, list[Values]]:
    """Return the mark of each cell, by item."""
    study = snapshot.study
    empty: dict[str, list[Values]] = {name: [] for name in choice.ids}
    if choice.rules is None or not choice.cells:
        return empty
    grid = study.select(ItemQuery(rules=choice.rules)).grid
    assert grid is not None
    columns = [grid.cells.index(cell) for cell in choice.cells]
    for name in choice.ids:
        row = study.items.places[name]
        for cell, column in zip(choice.cells, columns, strict=True):
            value, failed = float(grid.values[row, column]), float(grid.failed[row, column])
            href = f"pages/{problem_file(name)}#{cell_anchor(cell)}"
            empty[name].append({**_word_mark(value, failed), "href": href, "value": value})
    return empty


def _word_mark(value: float, failed: float) -> Values:
    """Return a mean verdict as text, as in the explorer's grid."""
    if math.isnan(value):
        return {"word": "", "style": "muted"}
    if failed >= 1 - _NEARLY:
        return {"word": "no answer", "style": "failed"}
    if value >= 1 - _NEARLY:
        return {"word": "✓ right", "style": "right"}
    if value <= _NEARLY:
        return {"word": "✗ wrong", "style": "wrong"}
    return {"word": f"{format_share(value, 0)} % right", "style": ""}


def _count_right(marks: list[Values]) -> str:
    values = [mark["value"] for mark in marks if not math.isnan(mark["value"])]
    right = sum(value >= RIGHT for value in values)
    return f"{right} of {len(values)}" if values else "–"
