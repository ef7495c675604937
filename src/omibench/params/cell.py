"""A cell: the unit of inference and scoring."""

from __future__ import annotations

from typing import NamedTuple


class Cell(NamedTuple):
    """One model under one setting."""

    model: str
    setting: str
