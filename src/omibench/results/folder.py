"""The results folder of a study, even if the user gives one near it."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from omibench.errors import MissingInputError
from omibench.text.terminal import printable

NAMED_FOLDERS = 3
_FOLDERS_BELOW = 500
"""Folders that are searched for a results folder."""
_PARENTS = 4


def find_results_folder(folder: Path) -> Path:
    """Check that a folder contains cells of responses.

    Args:
        folder: The folder given by the user.

    Returns:
        The same folder.

    Raises:
        MissingInputError: It contains none; the line suggests a results folder above or below it.
    """
    if has_cells(folder):
        return folder
    resolved = folder.resolve()
    above = [parent for parent in islice(resolved.parents, _PARENTS) if has_cells(parent)]
    below = [
        candidate
        for pattern in ("*", "*/*")
        for candidate in islice(sorted(resolved.glob(pattern)), _FOLDERS_BELOW)
        if candidate.is_dir() and has_cells(candidate)
    ]
    nearest = [_relative_to_here(path) for path in (above or below)[:NAMED_FOLDERS]]
    hint = (
        f"give {' or '.join(nearest)}"
        if nearest
        else "give the results folder of a study (`study.results` of its params), or a file of "
        "responses"
    )
    raise MissingInputError(
        f"{printable(folder)}: contains no cell of responses "
        f"(infer/<model>/<setting>.parquet); {hint}"
    )


def has_cells(folder: Path) -> bool:
    """Return whether a folder has responses: `infer/<model>/<setting>.parquet`."""
    return next((folder / "infer").glob("*/*.parquet"), None) is not None


def _relative_to_here(folder: Path) -> str:
    working_folder = Path.cwd()
    return printable(
        folder.relative_to(working_folder) if folder.is_relative_to(working_folder) else folder
    )
