"""Rows of the grid, and single items within a filter."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

import numpy as np
import polars as pl
from numpy.typing import NDArray

from omibench.errors import MissingInputError
from omibench.explore.app.live import Snapshot
from omibench.explore.filters import READY_FILTERS, Grid, describe_numbers
from omibench.explore.item import CellItems, check_cells, find_heat_map, find_item, list_outcomes
from omibench.explore.query import MEASURES, MOST_COLUMNS, ORDERS, ItemQuery
from omibench.explore.run import Items, Run
from omibench.explore.search import FIELDS, cut_start
from omibench.explore.selection import Selection
from omibench.params.setting import Cell
from omibench.params.study import Study as StudyParams
from omibench.results.attributes import list_attributes, list_values
from omibench.results.load import JUDGE_RULES
from omibench.results.suspected_keys import FEWEST_MODELS
from omibench.schemas.verdict import RIGHT
from omibench.stages.analyze.explorer.item import (
    choose_columns,
    describe_item,
    describe_place_among,
)
from omibench.stages.analyze.explorer.requests import describe_sent
from omibench.stages.analyze.formatting import name_rules

SNIPPET: Final = 200
"""Characters of a problem in a row."""
_THUMBNAILS: Final = 3
_DIGITS: Final = 4
Values = dict[str, Any]


def describe_rows(snapshot: Snapshot, query: ItemQuery) -> Values:
    """Return one page of the items that a query selects.

    Args:
        snapshot: The study.
        query: The selection of items, rows and columns.

    Returns:
        Plain values for JSON. Verdicts are in the order of `cells`, None if missing; `right`,
        `asked` and the measures are over all columns, of which `cells` are those of this page.
        `counts` are those of the facets.

    Raises:
        ParamsError: The query does not match the study.
    """
    study = snapshot.study
    selection = study.select(query)
    grid = selection.grid
    count = len(grid.cells) if grid else 0
    first = query.column if query.column < count else 0
    columns = range(first, min(first + MOST_COLUMNS, count))
    rows = query.count_rows(len(columns))
    names = selection.ids[query.offset : query.offset + rows]
    narrow_grid = grid.select(columns) if grid else None
    return {
        "total": len(selection.ids),
        "offset": query.offset,
        "limit": rows,
        "rules": study.choose_rules(query.rules) if grid else None,
        "column": columns.start,
        "columns": count,
        "most_columns": MOST_COLUMNS,
        "cells": [cell._asdict() for cell in narrow_grid.cells] if narrow_grid else [],
        "items": _describe_all(snapshot, query, names, selection, narrow_grid),
        "counts": study.count(query),
        "address": query.to_address(),
    }


def describe_place(
    snapshot: Snapshot, name: str, cells: Sequence[Cell], query: ItemQuery
) -> Values:
    """Return one item with selected models side by side, and its position in a query's result.

    Args:
        snapshot: The study.
        name: The id of the item.
        cells: The cells to show; two with different verdicts if there are none.
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
    outcomes = list_outcomes(study, name, rules) if run and rules else []
    columns = []
    if run is not None:
        cells = cells or [Cell(o["model"], o["setting"]) for o in choose_columns(outcomes)]
        check_cells(run, cells)
        link_map = partial(_link_map, run)
        columns = [CellItems(run, c, [name]).describe(name, link, link_map) for c in cells]
    return {
        "item": item,
        "rules": rules,
        "outcomes": outcomes,
        "columns": columns,
        **describe_place_among(study.select(query).ids, name),
        **snapshot.tags.describe(name),
    }


def _link_map(run: Run, cell: Cell, name: str, image: int, option: str) -> str | None:
    if find_heat_map(run, cell, name, image, option) is None:
        return None
    query = {"model": cell.model, "setting": cell.setting, "id": name, "image": image,
             "option": option}  # fmt: skip
    return f"/heat-map?{urlencode(query)}"


def _describe_all(
    snapshot: Snapshot,
    query: ItemQuery,
    names: list[str],
    selection: Selection,
    narrow_grid: Grid | None,
) -> list[Values]:
    study, grid = snapshot.study, selection.grid
    hits, tags = study.find_hits(query, names), study.read_tags()
    measures = study.average_measures(selection.columns) if selection.columns else {}
    rows: list[Values] = []
    for name in names:
        question, answer = study.items.questions[name], study.items.answers[name]
        rows.append(
            {
                "id": name,
                "subject": question.subject,
                "answer_type": answer.answer_type,
                "n_images": answer.n_images,
                "gold": cut_start("; ".join(answer.answer), SNIPPET),
                "snippet": cut_start(question.question, SNIPPET),
                "thumbnails": [
                    f"/thumbnails/{figure.sha256}"
                    for figure in question.images[:_THUMBNAILS]
                    if figure.sha256 and snapshot.pictures.has(figure.sha256)
                ],
                "tags": sorted(tags.get(name, ())),
                "hit": hits[name]._asdict() if name in hits else None,
                **describe_numbers(measures, study.items.places[name]),
            }
        )
    if grid is None or narrow_grid is None:
        return [{**row, "right": 0, "asked": 0, "verdicts": [], "failed": []} for row in rows]
    places = [study.items.places[name] for name in names]
    values = grid.values[places]
    counts = {
        "right": (values >= RIGHT).sum(axis=1).tolist(),
        "asked": (~np.isnan(values)).sum(axis=1).tolist(),
        "verdicts": _list_numbers(narrow_grid.values[places]),
        "failed": _list_numbers(narrow_grid.failed[places]),
    }
    return [{**row, **{k: v[n] for k, v in counts.items()}} for n, row in enumerate(rows)]


def _list_numbers(values: NDArray[np.float32]) -> list[list[float | None]]:
    """Convert rows of numbers for JSON, which has no NaN; 0 and 1 become short integers."""
    rounded = np.round(values.astype(np.float64), _DIGITS)
    numbers = rounded.astype(object)
    is_whole = rounded == np.trunc(rounded)
    numbers[is_whole] = rounded[is_whole].astype(np.int64)
    numbers[np.isnan(rounded)] = None
    rows: list[list[float | None]] = numbers.tolist()
    return rows


# Requests and replies of a response as stored.

_KEY: Final = re.compile(r"[0-9a-f]{64}")
_STORE: Final = threading.Lock()
"""Requests read files of the store one at a time."""


def find_sent(snapshot: Snapshot, key: str) -> Values:
    """Return the messages of a request, and the previous steps, as `describe_sent`.

    Args:
        snapshot: The study.
        key: The key of the request in the store: of a response, a step or a judgement.

    Raises:
        MissingInputError: The text is not a key.
    """
    if not _KEY.fullmatch(key):
        raise MissingInputError(f"request {key[:80]!r} not found")
    run = snapshot.study.run
    rows = run.responses.filter(key=key) if run else None
    row = rows.row(0, named=True) if rows is not None and rows.height else None
    question = snapshot.study.items.questions.get(row["id"]) if row else None
    images = [figure.sha256 for figure in question.images] if question else []
    with _STORE:
        steps = _read_steps(run, Cell(row["model"], row["setting"]), key) if run and row else []
        return describe_sent(snapshot.trail, key, steps, images, snapshot.pictures.link)


def _read_steps(run: Run, cell: Cell, key: str) -> list[str]:
    """Return the keys of the requests that led to a response, in order."""
    path = run.files.locate("infer", cell)
    if "steps" not in pl.read_parquet_schema(path):
        return []
    rows = pl.scan_parquet(path, glob=False).filter(pl.col("key") == key).select("steps").collect()
    return [str(step) for step in rows["steps"].to_list()[0] or []] if rows.height else []


# Description of the study for the first page: its contents and filters.

MOST_VALUES: Final = 60
"""The maximum number of values in a facet; attributes with more are searched."""


def describe_study(snapshot: Snapshot) -> Values:
    """Return the contents of the study as plain values for JSON.

    Args:
        snapshot: The study.
    """
    study, sources = snapshot.study, snapshot.sources
    run, manifest = study.run, study.items.manifest
    is_scored = bool(run and run.rules)

    def is_possible(order: str) -> bool:
        if order in ("hardest", "easiest", "disputed"):
            return is_scored
        return run is not None or order.removeprefix("-") not in MEASURES

    return {
        "title": sources.title,
        "dataset": {"name": manifest.name, "version": manifest.version, "items": manifest.problems},
        "simulated": run.is_simulated if run else False,
        "synthetic": manifest.synthetic,
        "models": _describe_models(run, sources.study) if run else [],
        "settings": [
            {"name": name, "label": run.label(name)}
            for name in dict.fromkeys(cell.setting for cell in run.cells)
        ]
        if run
        else [],
        "cells": [{**c._asdict(), "simulated": c in run.simulated_cells} for c in run.cells]
        if run
        else [],
        "responses": run.responses.height if run else 0,
        "rules": [{"name": r, "title": name_rules(r)} for r in run.rules] if run else [],
        "main_rules": run.main_rules if run else None,
        "other": study.other.name if study.other else None,
        "facets": describe_facets(study.items),
        "ready": _describe_ready(snapshot) if run else [],
        "fields": list(FIELDS) if run else ["question", "rationale"],
        "orders": [name for name in ORDERS if is_possible(name)],
        "unreadable": list(snapshot.warnings),
        "tags": sources.review is not None,
        "notes": sources.review is not None and sources.study is not None,
    }


def describe_facets(items: Items) -> list[Values]:
    """Return item attributes with the number of items per value, the most frequent first.

    Attributes with a single value or with more than `MOST_VALUES` are omitted.
    """
    facets = []
    for name in list_attributes(items.attributes):
        rows = list_values(items.attributes, "id", name)
        counts = rows.group_by(name).len().sort(["len", name], descending=[True, False])
        if 1 < counts.height <= MOST_VALUES:
            values = [{"value": value, "count": count} for value, count in counts.rows()]
            if name == "n_images":
                values.sort(key=lambda entry: str(entry["value"]))
            title = (
                "Number of images" if name == "n_images" else name.replace("_", " ").capitalize()
            )
            facets.append({"name": name, "title": title, "values": values})
    return facets


def _describe_models(run: Run, params: StudyParams | None) -> list[Values]:
    blocks: Mapping[str, Any] = params.models if params else {}
    return [
        {
            "name": name,
            "label": run.label(name),
            "group": getattr(blocks.get(name), "group", None),
            "weights": getattr(blocks.get(name), "weights", None),
            "size": getattr(blocks.get(name), "parameters_b", None),
        }
        for name in dict.fromkeys(cell.model for cell in run.cells)
    ]


def _describe_ready(snapshot: Snapshot) -> list[Values]:
    """Return the ready filters; `needs` states what is missing, empty if the filter works."""
    run, other = snapshot.study.run, snapshot.study.other
    lacks = {
        "judge-differs": "" if run and JUDGE_RULES in run.rules else "verdicts of a judge",
        "changed": "" if other else "another run (--other)",
        "suspected-key": ""
        if run and len({cell.model for cell in run.cells}) >= FEWEST_MODELS
        else f"{FEWEST_MODELS} models or more",
    }
    scored = "" if run and run.rules else "verdicts"
    return [
        {"name": ready.name, "title": ready.title, "needs": scored or lacks.get(ready.name, "")}
        for ready in READY_FILTERS.values()
    ]
