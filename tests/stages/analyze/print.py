"""Printed rows that tests make."""

from __future__ import annotations

from collections.abc import Mapping

from omibench.papers.layouts import AVERAGE, TOTAL
from omibench.papers.tables import PrintedCell, PrintedNumber
from omibench.stages.analyze.tables.printed import Printed

Values = Mapping[tuple[str, str], float]
"""(part, metric) -> per cent; a part is `slice=value`, a subject, `total` or `average`."""


def make_printed(
    values: Values, sizes: Mapping[str, int] | None = None, digits: int = 2, k: int | None = None
) -> Printed:
    """A row of the model `Strong` under `cot`."""
    cells = [
        make_cell(part, metric, value, (sizes or {}).get(part, 0), digits, k)
        for (part, metric), value in values.items()
    ]
    return Printed("Strong", "cot", "", tuple(cells), "t.csv", "a paper, table 1")


def make_cell(
    part: str, metric: str, value: float, n: int, digits: int, k: int | None = None
) -> PrintedCell:
    name, _, text = part.rpartition("=")
    slice_, where = (name or "subject", text) if part not in (TOTAL, AVERAGE) else ("", "")
    return PrintedCell(
        "t.csv", "Strong, cot", "", "", part, metric, "mean" if part == AVERAGE else "count", n,
        PrintedNumber(value, digits), "Strong", "cot", slice_, where, k=k,
    )  # fmt: skip
