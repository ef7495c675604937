"""Selection of items and cells for export: ids, files of ids, and addresses of the explorer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from omibench.errors import MissingInputError, OutputError, ParamsError, reason_of
from omibench.explore.app.live import Snapshot
from omibench.explore.app.pictures import PictureFinder, ServedPicture, read_served_picture
from omibench.explore.item import CellItems, find_heat_map, list_outcomes
from omibench.explore.query import ItemQuery, parse_query
from omibench.explore.run import parse_cell
from omibench.explore.selection import Study
from omibench.files.outputs import made_folder, write_atomically
from omibench.files.reading import read_text
from omibench.params.setting import Cell
from omibench.schemas.tables import write_json
from omibench.schemas.validation import suggest_name
from omibench.stages.analyze.explorer.item import describe_study
from omibench.stages.analyze.explorer.pages import PAGES, ItemFolder
from omibench.stages.analyze.explorer.requests import Link
from omibench.stages.analyze.pages import INDEX, problem_file
from omibench.web.pictures import link_file

MOST_ITEMS: Final = 2_000
MOST_RESPONSES: Final = 50_000
"""The maximum number of items; use the explorer itself for more."""
ITEM_PATH: Final = "/items/"
_ADDRESS_STARTS: Final = ("http://", "https://", "/", "?")


@dataclass(frozen=True)
class ExportChoice:
    """The selection for an export.

    Attributes:
        ids: The items, in the given order.
        cells: The cells, in the order of the run.
        rules: The scorer of the index; None if nothing is scored.
    """

    ids: tuple[str, ...]
    cells: tuple[Cell, ...]
    rules: str | None


def choose_items(study: Study, texts: Sequence[str], default: ItemQuery) -> ExportChoice:
    """Select items and cells for an export.

    Args:
        study: The study.
        texts: Each the id of an item, the path of a file of ids (one per line), or an address of
            the explorer: of its grid with a filter, or of an item with its cells; or only the query
            of an address.
        default: Models, settings and scorer if an address does not contain them.

    Raises:
        MissingInputError: A text does not match any item.
        ParamsError: An address does not match the study, or the export is too large.
    """
    ids: dict[str, None] = {}
    cells: set[Cell] = set()
    rules = default.rules
    for text in texts:
        looks_like_address = text.startswith(_ADDRESS_STARTS) or "=" in text
        if text not in study.items.questions and looks_like_address and not _is_file(text):
            names, query, columns = _read_address(study, text, default)
            rules = query.rules or rules
        else:
            names, query, columns = _list_ids(study, text), default, ()
        ids |= dict.fromkeys(names)
        cells |= set(columns or study.list_cells(query))
    if not ids:
        raise MissingInputError(f"--export {' '.join(texts)}: no item matches")
    order = study.run.cells if study.run else ()
    chosen = tuple(cell for cell in order if cell in cells)
    responses = len(ids) * len(chosen)
    if len(ids) > MOST_ITEMS:
        raise ParamsError(
            f"--export: {len(ids):,} items; the limit is {MOST_ITEMS:,}; select fewer"
        )
    if responses > MOST_RESPONSES:
        raise ParamsError(
            f"--export: {responses:,} responses; the limit is {MOST_RESPONSES:,}; select with "
            "--models and --settings"
        )
    has_verdicts = study.run is not None and bool(study.run.rules)
    return ExportChoice(tuple(ids), chosen, study.choose_rules(rules) if has_verdicts else None)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # addresses may be longer than file names can be
        return False


def _read_address(
    study: Study, text: str, default: ItemQuery
) -> tuple[Iterable[str], ItemQuery, Sequence[Cell]]:
    """Return the items of an address, its query, and its cells."""
    parts = urlsplit(text if text.startswith(_ADDRESS_STARTS) else f"?{text}")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    columns = [parse_cell(value) for name, value in pairs if name == "cells"]
    for cell in columns:
        if study.run is None or cell not in study.run.cells:
            raise ParamsError(f"cells: {cell.model}/{cell.setting} is not in the run")
    query = parse_query([(name, value) for name, value in pairs if name != "cells"])
    query = replace(
        query,
        rules=query.rules or default.rules,
        models=query.models or default.models,
        settings=query.settings or default.settings,
    )
    if parts.path.startswith(ITEM_PATH):
        return [_check_id(study, unquote(parts.path.removeprefix(ITEM_PATH)))], query, columns
    return study.select(query).ids, query, columns


def _list_ids(study: Study, text: str) -> list[str]:
    """Return the item of an id, or those of a file."""
    if text in study.items.questions or not _is_file(text):
        return [_check_id(study, text)]
    lines = (line.strip() for line in read_text(Path(text)).splitlines())
    return [_check_id(study, line, f"{text}: ") for line in lines if line]


def _check_id(study: Study, name: str, place: str = "") -> str:
    if name in study.items.questions:
        return name
    hint = suggest_name(name, study.items.ids)
    way = "" if place else "; give items, a file of ids, or an address of the explorer"
    raise MissingInputError(f"--export: {place}item {name[:80]!r} not found{hint}{way}")


# Pictures of exported pages, each copied once, by content.

FOLDER: Final = "pictures"


class PictureCopies:
    """The pictures of a folder of pages."""

    def __init__(self, finder: PictureFinder, folder: Path) -> None:
        """Prepare the folder.

        Args:
            finder: Finds pictures by their SHA-256.
            folder: The folder of the pages.
        """
        self._finder = finder
        self._folder = folder / FOLDER
        self._paths: dict[str, Path | None] = {}

    def link(self, sha256: str, page: Path) -> str | None:
        """Copy a picture and return its address.

        Args:
            sha256: Hash of its bytes.
            page: The page that shows it.

        Returns:
            None if nothing with this hash is found, or it is not a picture.
        """
        if sha256 not in self._paths:
            picture = self._finder.read(sha256)
            self._paths[sha256] = self._copy(sha256, picture) if picture else None
        path = self._paths[sha256]
        return link_file(path, page) if path else None

    def link_file(self, source: Path, page: Path) -> str | None:
        """Copy the picture of a file and return its address; None if it is not a picture."""
        picture = read_served_picture(source)
        if picture is None:
            return None
        return link_file(self._copy(hashlib.sha256(picture.data).hexdigest(), picture), page)

    def _copy(self, sha256: str, picture: ServedPicture) -> Path:
        path = self._folder / f"{sha256}.{picture.media_type.removeprefix('image/')}"
        if not path.is_file():
            write_atomically(path, picture.data)
        return path


# Export of items as pages that open from disk, with all their files.

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
    made_folder(folder)
    if any(folder.iterdir()) and not (folder / LIST).is_file():
        raise OutputError(
            f"--out {folder}: not empty, and has no {LIST}; pass a new folder, or one with an "
            "earlier export"
        )
    for path in (*(folder / PAGES).glob("*.html"), *(folder / FOLDER).glob("*")):
        path.unlink()
    items, run = snapshot.study.items, snapshot.study.run
    listed = {
        "dataset": {"name": items.manifest.name, "version": items.manifest.version},
        "rules": choice.rules,
        "simulated": bool(run and run.simulated_cells & set(choice.cells)),
        "synthetic": bool(items.manifest.synthetic),
        "cells": [cell._asdict() for cell in choice.cells],
        "items": [{"id": name, "page": f"{PAGES}/{problem_file(name)}"} for name in choice.ids],
    }
    try:
        write_json(folder / LIST, listed)
        _write_pages(folder, snapshot, choice, with_pages=with_pages)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {reason_of(error)}") from None
    return folder / INDEX


def _write_pages(
    folder: Path, snapshot: Snapshot, choice: ExportChoice, *, with_pages: bool
) -> None:
    study = snapshot.study
    items, run = study.items, study.run
    simulated = run.simulated_cells if run else frozenset()
    copies = PictureCopies(snapshot.pictures, folder)
    study.read_measures(with_slow=True)
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
            pages = snapshot.pictures.list_pages(name) if with_pages else ()
            return [
                {"address": address, "label": page.label, "boxes": page.boxes}
                for page in pages
                if (address := link(page.sha256))
            ]

        outcomes = list_outcomes(study, name, choice.rules) if run and choice.rules else []
        chosen = [o for o in outcomes if Cell(o["model"], o["setting"]) in choice.cells]
        site.write_item(name, chosen, describe_columns, list_pages)

    for start in range(0, len(choice.ids), _AT_ONCE):
        names = choice.ids[start : start + _AT_ONCE]
        cells = [CellItems(run, cell, names) for cell in choice.cells] if run else []
        for name in names:
            write(name, cells)
    dataset = f"{items.manifest.name} {items.manifest.version}".strip()
    site.write_index(dataset=dataset, simulated=bool(simulated & set(choice.cells)))
