"""Names of cells in addresses."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.errors import ParamsError
from omibench.params.cell import Cell


def parse_cells(texts: Sequence[str]) -> list[Cell]:
    """Parse names of cells.

    Args:
        texts: Each MODEL/SETTING.

    Raises:
        ParamsError: A text has no slash.
    """
    cells = []
    for text in texts:
        model, slash, setting = text.partition("/")
        if not slash:
            raise ParamsError(f"cells: must be MODEL/SETTING (got {text[:80]!r})")
        cells.append(Cell(model, setting))
    return cells
