"""Which cells a study compares with each other: the family that its tests are made over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from omibench.params.cell import Cell


class Family(NamedTuple):
    """The cells that are compared with each other, all pairs of them."""

    cells: tuple[Cell, ...]
    setting: str | None
    """The setting that they share; None for all cells of a study where no two models share one."""

    @property
    def pairs(self) -> int:
        """How many comparisons there are."""
        return len(self.cells) * (len(self.cells) - 1) // 2


def choose_family(cells: Sequence[Cell], reference: str | None = None) -> Family:
    """Choose the cells of the headline: the models under one setting.

    Args:
        cells: The study's, in its order.
        reference: `analyze.reference_setting`; where it is left out, or fewer than two models have
            it, the first setting that two models or more have.

    Returns:
        The cells under that setting; all cells where no two models share a setting.
    """
    by_setting: dict[str, list[Cell]] = {}
    for cell in cells:
        by_setting.setdefault(cell.setting, []).append(cell)
    first = [reference] if reference in by_setting else []
    for setting in [*first, *by_setting]:
        if len(by_setting[setting]) > 1:
            return Family(tuple(by_setting[setting]), setting)
    return Family(tuple(cells), None)
