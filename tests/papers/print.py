"""Printed results that tests make and read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from omibench.papers.layouts import AVERAGE, TOTAL
from omibench.papers.study import PrintedResult, read_print
from omibench.papers.tables import PrintedCell, PrintedNumber

Values = Mapping[tuple[str, str], float]
"""(part, metric) -> per cent; a part is `slice=value`, a subject, `total` or `average`."""


def make_printed(
    values: Values, sizes: Mapping[str, int] | None = None, digits: int = 2, k: int | None = None
) -> PrintedResult:
    """A row of the model `Strong` under `cot`."""
    cells = [
        make_cell(part, metric, value, (sizes or {}).get(part, 0), digits, k)
        for (part, metric), value in values.items()
    ]
    return PrintedResult("Strong", "cot", "", tuple(cells), "t.csv", "a paper, table 1")


def make_cell(
    part: str, metric: str, value: float, n: int, digits: int, k: int | None = None
) -> PrintedCell:
    name, _, text = part.rpartition("=")
    slice_, where = (name or "subject", text) if part not in (TOTAL, AVERAGE) else ("", "")
    return PrintedCell(
        "t.csv", "Strong, cot", "", "", part, metric, "mean" if part == AVERAGE else "count", n,
        PrintedNumber(value, digits), "Strong", "cot", slice_, where, k=k,
    )  # fmt: skip


def read_results(path: Path, dataset: str, problems: int) -> list[PrintedResult]:
    """The printed results of a table on a dataset, or the error of the table."""
    found = read_print([str(path)], dataset, problems)
    for error in found.errors:
        raise error
    return found.rows


def list_sizes(row: PrintedResult) -> dict[str, int]:
    """The number of problems of each part of the printed dataset, if known."""
    return {cell.subject: cell.n for cell in row.cells if cell.n}
