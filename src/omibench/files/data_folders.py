"""Folders that contain untrusted data or its derivatives: no code is loaded from them."""

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
"""Marker files of generated or downloaded folders."""


def describe_data_folder(path: Path, root: Path, folders: Mapping[str, str]) -> str | None:
    """Return the data folder that a file or folder is in, or is.

    Args:
        path: File or folder; need not exist. Links are followed.
        root: Working folder of commands. Markers are not searched above it, unless the path is
            elsewhere.
        folders: Data folders relative to `root` and their descriptions: `results` -> "results".

    Returns:
        For example `results, the folder of results`; None if it is in no such folder.
    """
    real, real_root = Path(os.path.realpath(path)), Path(os.path.realpath(root))
    for folder, noun in folders.items():
        if real.is_relative_to(os.path.realpath(real_root / folder)):
            return f"{folder}, the folder of {noun}"
    for place in (real, *real.parents):
        for mark, noun in MARKS.items():
            if (place / mark).exists():
                return f"{place.name}, which contains {noun} ({mark})"
        if place == real_root:
            break
    return None
