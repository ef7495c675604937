"""File names of the explorer's pages, so that every page can name every other."""

from __future__ import annotations

import re
from hashlib import sha256

from omibench.params.cell import Cell

EXPLORER = "explorer"
INDEX = "index.html"
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


def problem_file(problem: str) -> str:
    """The page of a problem inside `explorer/pages`: its id where that is a safe file name."""
    if _SAFE.fullmatch(problem):
        return f"{problem}.html"
    readable = re.sub(r"[^A-Za-z0-9]+", "-", problem)[:60].strip("-")
    return f"{readable}.{sha256(problem.encode()).hexdigest()[:12]}.html"


def cell_file(cell: Cell) -> str:
    """The page of a cell inside `explorer/cells`."""
    return f"{cell_anchor(cell)}.html"


def cell_anchor(cell: Cell, sample: int = 0) -> str:
    """The place of a cell's response, one of its samples, on every problem's page."""
    # No name of a model or setting holds an @, so no two cells share a page.
    return f"{cell.model}@{cell.setting}" + (f"@{sample}" if sample else "")
