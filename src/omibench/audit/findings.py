"""A finding: one printed value that something else printed contradicts, or confirms."""

from __future__ import annotations

from typing import Literal, NamedTuple

CheckKind = Literal[
    "count", "total", "average", "interval", "difference", "sum", "share", "correlation", "repeat"
]
AGREES = "agrees"


class Finding(NamedTuple):
    """One check of one printed value: a row of audit.csv."""

    file: str
    model: str
    """The row of the table."""
    cell: str
    """The dataset, part and metric."""
    kind: CheckKind
    printed: float
    recomputed: float | None
    """What the other numbers give; None where no value can be given."""
    n: int | None
    """How many problems it is of."""
    note: str
    """`agrees`, or why not."""

    @property
    def agrees(self) -> bool:
        """Whether nothing speaks against the value."""
        return self.note.startswith(AGREES)
