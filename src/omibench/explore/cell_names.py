"""Cells as addresses name them."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.errors import ParamsError
from omibench.params.cell import Cell


def parse_cells(texts: Sequence[str]) -> list[Cell]:
    """Read cells as addresses name them.

    Args:
        texts: Each MODEL/SETTING.

    Raises:
        ParamsError: One has no slash.
    """
    cells = []
    for text in texts:
        model, slash, setting = text.partition("/")
        if not slash:
            raise ParamsError(f"cells: name one as MODEL/SETTING (got {text[:80]!r})")
        cells.append(Cell(model, setting))
    return cells
