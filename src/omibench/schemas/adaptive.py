"""The files of `infer.adaptive`: the order of the problems, and the record of the looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal

from omibench.schemas.problem import FrozenModel

Pair = tuple[str, str]
"""A cell: its model and its setting."""
Spending = Literal["obrien-fleming", "pocock"]
"""How a level is spent over looks: little at first, or evenly."""
FOLDER: Final = "adaptive"
"""The folder of these files, below that of `infer`."""


class ProblemOrder(FrozenModel):
    """The order in which all cells answer the problems; made before the first request."""

    seed: int
    strata: list[str]
    """Attributes of which each part has about the same mix."""
    looks: list[int]
    """Number of problems answered at each look, ascending to all."""
    ids: list[str]
    groups: list[str]
    """The stem of each problem, or its id; problems of one stem are never parted."""
    sha256: str
    """Hash of the ids in this order and of `looks`."""

    def list_part(self, look: int) -> list[str]:
        """Return the problems that a look adds; looks are counted from 1."""
        start = self.looks[look - 2] if look > 1 else 0
        return self.ids[start : self.looks[look - 1]]


class StopRecord(FrozenModel):
    """A cell that was found behind the leader, and is asked no more."""

    cell: Pair
    behind: Pair
    difference: float
    """Accuracy of the leader minus that of the cell on the problems of the look, in [0, 1]."""
    p: float
    """One-sided p of the paired test, at most `level`."""


class Look(FrozenModel):
    """What one look at the verdicts found."""

    look: int
    problems: int
    """Problems that the cells in `open` have answered."""
    of: int
    order: str
    """Hash of the order of the problems."""
    scorer: str
    level: float
    """Nominal one-sided level of each test."""
    open: list[Pair]
    """The cells before the look that no earlier look stopped."""
    leader: Pair | None = None
    """None if no two cells remain to be compared, so that nothing was asked for the look."""
    stopped: list[StopRecord] = []


def list_open(looks: Sequence[Look], cells: Iterable[Pair]) -> list[Pair]:
    """Return the cells that no look has stopped."""
    stopped = {stop.cell for look in looks for stop in look.stopped}
    return [cell for cell in cells if cell not in stopped]


def list_compared(
    looks: Sequence[Look], cells: Iterable[Pair], keep: Iterable[str] = ()
) -> list[Pair]:
    """Return the cells of the next look: the open ones, or none if no more of them can stop."""
    kept, remaining = {*keep}, list_open(looks, cells)
    can_stop = any(model not in kept for model, _ in remaining)
    return remaining if can_stop and len(remaining) > 1 else []


def count_asked(looks: Sequence[Look], cell: Pair) -> int | None:
    """Return the number of problems after which a cell stopped; None if it did not."""
    sizes = (look.problems for look in looks for stop in look.stopped if stop.cell == cell)
    return next(sizes, None)


def locate_verdicts(folder: Path, look: int, cell: Pair) -> Path:
    """Return the verdicts of a cell on the problems that a look adds, below FOLDER."""
    return folder / str(look) / "score" / cell[0] / f"{cell[1]}.parquet"
