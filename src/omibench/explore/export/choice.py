"""Selection of items and cells for export: ids, files of ids, and addresses of the explorer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from omibench.errors import MissingInputError, ParamsError
from omibench.explore.cell_names import parse_cells
from omibench.explore.query import ItemQuery, parse_query
from omibench.explore.selection import Study
from omibench.files.intake import read_text
from omibench.params.cell import Cell
from omibench.schemas.validation import suggest_name

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
        if text not in study.items.questions and _is_address(text):
            names, query, columns = _read_address(study, text, default)
            rules = query.rules or rules
        else:
            names, query, columns = _list_ids(study, text), default, ()
        ids |= dict.fromkeys(names)
        cells |= set(columns or _list_cells(study, query))
    if not ids:
        raise MissingInputError(f"--export {' '.join(texts)}: no item matches")
    order = study.run.cells if study.run else ()
    chosen = tuple(cell for cell in order if cell in cells)
    _check_size(len(ids), len(ids) * len(chosen))
    has_verdicts = study.run is not None and bool(study.run.rules)
    return ExportChoice(tuple(ids), chosen, study.choose_rules(rules) if has_verdicts else None)


def _is_address(text: str) -> bool:
    if _is_file(text):
        return False
    return text.startswith(_ADDRESS_STARTS) or "=" in text


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
    columns = parse_cells([value for name, value in pairs if name == "cells"])
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


def _list_cells(study: Study, query: ItemQuery) -> Sequence[Cell]:
    return study.list_cells(query) if study.run is not None else ()


def _check_size(items: int, responses: int) -> None:
    if items > MOST_ITEMS:
        raise ParamsError(f"--export: {items:,} items; the limit is {MOST_ITEMS:,}; select fewer")
    if responses > MOST_RESPONSES:
        raise ParamsError(
            f"--export: {responses:,} responses; the limit is {MOST_RESPONSES:,}; select with "
            "--models and --settings"
        )
