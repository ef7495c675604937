"""What a person meant who named an id or a folder that is not there."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from pathlib import Path

from omibench.errors import MissingInputError
from omibench.text.terminal import printable

NEAREST = 3
_MOST = 500
"""Folders that are looked into for a results folder."""
_UP = 4


def nearest_ids(wanted: str, known: Collection[str]) -> list[str]:
    """The three known ids that are most like the one wanted, the likest first."""
    from rapidfuzz import fuzz, process, utils

    found = process.extract(
        wanted, sorted(known), scorer=fuzz.ratio, processor=utils.default_process, limit=NEAREST
    )
    return [id for id, *_ in found]


def no_such_id(wanted: str, known: Collection[str]) -> MissingInputError:
    """That no response has the id, and which ids are nearest to it."""
    near = [repr(printable(id)[:80]) for id in nearest_ids(wanted, known)]
    last = f"{', '.join(near[:-1])} and {near[-1]}" if len(near) > 1 else near[0]
    are = "the nearest are" if len(near) > 1 else "the only one is"
    return MissingInputError(
        f"--explain {printable(wanted)[:80]!r}: no response has this id; {are} {last}"
    )


def has_cells(folder: Path) -> bool:
    """Whether a folder is a results folder with responses: `infer/<model>/<setting>.parquet`."""
    return next((folder / "infer").glob("*/*.parquet"), None) is not None


def results_folder(given: Path) -> Path:
    """The folder given, where it holds cells of responses.

    Raises MissingInputError for another one; names the results folder above or below it.
    """
    if has_cells(given):
        return given
    whole = given.resolve()
    above = [parent for parent in islice(whole.parents, _UP) if has_cells(parent)]
    below = [
        folder
        for pattern in ("*", "*/*")
        for folder in islice(sorted(whole.glob(pattern)), _MOST)
        if folder.is_dir() and has_cells(folder)
    ]
    right = [_shown(folder) for folder in (above or below)[:NEAREST]]
    hint = (
        f"give {' or '.join(right)}"
        if right
        else "give the results folder of a study (`study.results` of its params), or a file of "
        "responses"
    )
    raise MissingInputError(
        f"{printable(given)}: holds no cell of responses (infer/<model>/<setting>.parquet): {hint}"
    )


def _shown(folder: Path) -> str:
    here = Path.cwd()
    return printable(folder.relative_to(here) if folder.is_relative_to(here) else folder)
