"""The cells that a study compares with each other: the family of its tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from omibench.params.cell import Cell


class Family(NamedTuple):
    """Cells that are compared pairwise."""

    cells: tuple[Cell, ...]
    settings: tuple[str, ...]
    """Their settings, with each model once; empty for all cells of a study in which no two
    models can be compared under the reference."""

    @property
    def setting(self) -> str | None:
        """The first of the settings."""
        return self.settings[0] if self.settings else None

    @property
    def pairs(self) -> int:
        """Number of comparisons."""
        return len(self.cells) * (len(self.cells) - 1) // 2


def choose_family(cells: Sequence[Cell], reference: Sequence[str] = ()) -> Family:
    """Choose the cells of the headline: each model once, under the reference setting.

    Args:
        cells: The cells of the study, in order.
        reference: `analyze.reference_setting`: for each model the first of these that it has. If it
            is missing, or fewer than two models have one, the first setting with two models or
            more.

    Returns:
        One cell per model; all cells if no two models share a setting.
    """
    for settings in [list(reference), *([cell.setting] for cell in cells)]:
        cells_by_model: dict[str, Cell] = {}
        for setting in settings:
            for cell in cells:
                if cell.setting == setting:
                    cells_by_model.setdefault(cell.model, cell)
        if len(cells_by_model) > 1:
            family = [cell for cell in cells if cells_by_model.get(cell.model) == cell]
            used = {cell.setting for cell in family}
            return Family(tuple(family), tuple(name for name in settings if name in used))
    return Family(tuple(cells), ())
