"""Folders that hold data of others, or what was made of it: no code is taken from there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

MARKS: Final = {
    "questions.jsonl": "a frozen dataset",
    "provenance.json": "results",
    "ledger.sqlite3": "a store of responses",
}
"""What lies in folders that are made or fetched, never written by hand."""


def describe_data_folder(path: Path, root: Path, folders: Mapping[str, str]) -> str | None:
    """Which folder of data a file or folder lies in, or is.

    Args:
        path: The file or folder, which need not exist. Links are followed.
        root: The folder that commands run in. Above it no marks are looked for, unless the path
            lies elsewhere.
        folders: Folders that hold data of others, relative to `root`, and what to call them:
            `results` -> "results".

    Returns:
        Such as `results, the folder of results`; None where it lies in no such folder.
    """
    real, real_root = Path(os.path.realpath(path)), Path(os.path.realpath(root))
    for folder, noun in folders.items():
        if real.is_relative_to(os.path.realpath(real_root / folder)):
            return f"{folder}, the folder of {noun}"
    for place in (real, *real.parents):
        for mark, noun in MARKS.items():
            if (place / mark).exists():
                return f"{place.name}, which holds {noun} ({mark})"
        if place == real_root:
            break
    return None
