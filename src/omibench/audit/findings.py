"""A finding: one printed value that another printed value contradicts or confirms."""

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
    """Row of the table."""
    cell: str
    """Dataset, part and metric."""
    kind: CheckKind
    printed: float
    recomputed: float | None
    """Value implied by the other numbers; None if there is none."""
    n: int | None
    """Number of problems."""
    note: str
    """`agrees`, or the reason for a contradiction."""

    @property
    def agrees(self) -> bool:
        """Whether the check found no contradiction."""
        return self.note.startswith(AGREES)
