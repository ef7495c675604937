"""Check that percentages are shares of a whole number of problems, with the number that fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import floor

from omibench.audit.findings import AGREES, Finding
from omibench.printed_tables.cells import PrintedCell
from omibench.printed_tables.layouts import TOTAL
from omibench.printed_tables.rows import PrintedNumber

REACH = 10
"""Range around the stated number of problems in which another number is searched."""
WHOLE = 0.75
"""Share of parts explained by counts from which a row of ratios is treated as counts."""


def find_count(number: PrintedNumber, n: int) -> int | None:
    """Return the count of n problems that rounds to a percentage; None if none does."""
    below = floor(number.value * n / 100)
    return next(
        (count for count in (below, below + 1) if number.admits(100 * count / n) and count <= n),
        None,
    )


def select_counts(cells: Sequence[PrintedCell]) -> list[PrintedCell]:
    """Return the cells that must be counts: metrics of counts, and rows that fit counts."""
    selected: list[PrintedCell] = []
    shares = [cell for cell in cells if cell.kind != "mean" and cell.n]
    for _, group in groupby(shares, key=lambda cell: (cell.row, *_get_column(cell)[:3])):
        row = list(group)
        parts = [cell for cell in row if cell.part != TOTAL]
        fitting = sum(find_count(cell.number, cell.n) is not None for cell in parts)
        if row[0].kind == "count" or (len(parts) > 1 and fitting >= WHOLE * len(parts)):
            selected += row
    return selected


def check_counts(cells: Sequence[PrintedCell]) -> Iterator[Finding]:
    """Check the shares of one table against counts.

    Args:
        cells: Cells of one table, grouped by row and metric.

    Yields:
        A finding for each share that should be a count.
    """
    counted = select_counts(cells)
    others = _find_other_sizes([c for c in counted if find_count(c.number, c.n) is None])
    for cell in counted:
        count = find_count(cell.number, cell.n)
        nearest = 100 * round(cell.number.value * cell.n / 100) / cell.n
        note = AGREES
        if count is None:
            note = f"no count of {cell.n} gives it"
            other = others.get(_get_column(cell))
            if other and (fit := find_count(cell.number, other)) is not None:
                note += f"; {fit} of {other} would"
        yield Finding(
            cell.file, cell.row, cell.place, "count", cell.number.value, round(nearest, 4), cell.n,
            note,
        )  # fmt: skip


def _get_column(cell: PrintedCell) -> tuple[str, str, str, str]:
    return cell.dataset, cell.setting, cell.metric, cell.part


def _find_other_sizes(
    cells: Sequence[PrintedCell],
) -> Mapping[tuple[str, str, str, str], int]:
    """Return for each column the number of problems, near the stated one, that fits most shares."""
    columns: dict[tuple[str, str, str, str], list[PrintedCell]] = {}
    for cell in cells:
        columns.setdefault(_get_column(cell), []).append(cell)
    sizes = {}
    for column, members in columns.items():
        stated = members[0].n
        near = [n for n in range(max(1, stated - REACH), stated + REACH + 1) if n != stated]
        fits = {n: sum(find_count(c.number, n) is not None for c in members) for n in near}
        best = max(near, key=lambda n: (fits[n], -abs(n - stated)))
        if fits[best]:
            sizes[column] = best
    return sizes
