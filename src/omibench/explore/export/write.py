"""Export of items as pages that open from disk, with all their files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from omibench.errors import OutputError, reason_of
from omibench.explore.app.live import Snapshot
from omibench.explore.export.choice import ExportChoice
from omibench.explore.export.pictures import FOLDER, PictureCopies
from omibench.explore.item import CellItems, find_heat_map, list_outcomes
from omibench.files.outputs import made_folder
from omibench.params.cell import Cell
from omibench.schemas.tables import write_json
from omibench.stages.analyze.explorer.document import describe_study
from omibench.stages.analyze.explorer.pages import PAGES, ItemFolder
from omibench.stages.analyze.explorer.steps import Link
from omibench.stages.analyze.links import INDEX, problem_file

LIST: Final = "items.json"
"""The list of an export's items; folders without it are not overwritten."""
_AT_ONCE: Final = 100
"""The number of items with responses in memory."""
Values = dict[str, Any]


def export_items(
    folder: Path, snapshot: Snapshot, choice: ExportChoice, *, with_pages: bool = False
) -> Path:
    """Write `index.html`, `pages/<item>.html`, `pictures/`, `formulas/` and `items.json`.

    The folder contains only the selected items: questions, gold answers, rationales, responses,
    requests and verdicts. Notes, names of people and attributes of items are not included.

    Args:
        folder: The output folder: new, empty, or an earlier export, which is replaced.
        snapshot: The study.
        choice: The selection.
        with_pages: Whether to show pages of papers, which are third-party works.

    Returns:
        The first page.

    Raises:
        OutputError: The folder contains something else, or cannot be written.
        FileFormatError: The file of a cell cannot be read.
    """
    _prepare_folder(folder)
    try:
        write_json(folder / LIST, _describe_export(snapshot, choice))
        _write_pages(folder, snapshot, choice, with_pages=with_pages)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {reason_of(error)}") from None
    return folder / INDEX


def _prepare_folder(folder: Path) -> None:
    """Reject a folder with other files; delete an earlier export."""
    made_folder(folder)
    if any(folder.iterdir()) and not (folder / LIST).is_file():
        raise OutputError(
            f"--out {folder}: not empty, and has no {LIST}; pass a new folder, or one with an "
            "earlier export"
        )
    for path in (*(folder / PAGES).glob("*.html"), *(folder / FOLDER).glob("*")):
        path.unlink()


def _describe_export(snapshot: Snapshot, choice: ExportChoice) -> Values:
    items, run = snapshot.study.items, snapshot.study.run
    return {
        "dataset": {"name": items.manifest.name, "version": items.manifest.version},
        "rules": choice.rules,
        "simulated": bool(run and run.simulated_cells & set(choice.cells)),
        "synthetic": bool(items.manifest.synthetic),
        "cells": [cell._asdict() for cell in choice.cells],
        "items": [{"id": name, "page": f"{PAGES}/{problem_file(name)}"} for name in choice.ids],
    }


def _write_pages(
    folder: Path, snapshot: Snapshot, choice: ExportChoice, *, with_pages: bool
) -> None:
    items, run = snapshot.study.items, snapshot.study.run
    simulated = run.simulated_cells if run else frozenset()
    copies = PictureCopies(snapshot.pictures, folder)
    site = ItemFolder(
        folder=folder,
        study=describe_study(
            snapshot.sources.title,
            {cell: cell in simulated for cell in choice.cells},
            run.labels if run else {},
            run.rules if run else (),
            items.manifest.synthetic,
        ),
        questions={name: items.questions[name] for name in choice.ids},
        answers=items.answers,
        rules=choice.rules,
        trail=snapshot.trail,
        link=copies.link,
    )

    def write(name: str, cells: Sequence[CellItems]) -> None:
        def describe_columns(link: Link, page: Path) -> list[Values]:
            def link_map(cell: Cell, name: str, image: int, option: str) -> str | None:
                path = find_heat_map(run, cell, name, image, option) if run else None
                return copies.link_file(path, page) if path else None

            return [cell.describe(name, link, link_map) for cell in cells]

        def list_pages(link: Link) -> list[Values]:
            shown = snapshot.pictures.list_pages(name) if with_pages else ()
            return [
                {"address": address, "label": page.label, "boxes": page.boxes}
                for page in shown
                if (address := link(page.sha256))
            ]

        outcomes = list_outcomes(run, name, choice.rules) if run and choice.rules else []
        chosen = [o for o in outcomes if Cell(o["model"], o["setting"]) in choice.cells]
        site.write_item(name, chosen, describe_columns, list_pages)

    for start in range(0, len(choice.ids), _AT_ONCE):
        names = choice.ids[start : start + _AT_ONCE]
        cells = [CellItems(run, cell, names) for cell in choice.cells] if run else []
        for name in names:
            write(name, cells)
    dataset = f"{items.manifest.name} {items.manifest.version}".strip()
    site.write_index(dataset=dataset, simulated=bool(simulated & set(choice.cells)))
