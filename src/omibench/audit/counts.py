"""Percentages that no count of their problems gives, and which number of problems would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import floor

from omibench.audit.findings import AGREES, Finding
from omibench.printed_tables.cells import PrintedCell
from omibench.printed_tables.layouts import TOTAL
from omibench.printed_tables.rows import PrintedNumber

REACH = 10
"""How many problems more or fewer another number may have."""
WHOLE = 0.75
"""From this share of parts that counts give on, a row of ratios is one of counts."""


def find_count(number: PrintedNumber, n: int) -> int | None:
    """The count of n problems that a percentage is rounded from; None where there is none."""
    below = floor(number.value * n / 100)
    return next(
        (count for count in (below, below + 1) if number.admits(100 * count / n) and count <= n),
        None,
    )


def select_counts(cells: Sequence[PrintedCell]) -> list[PrintedCell]:
    """The cells that should be counts: all of a metric of counts, and rows of ratios that are."""
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
    """Check that counts give the shares of one table.

    Args:
        cells: Of one table, a row's cells of one metric together.

    Yields:
        A finding for each share that is one of counts.
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
    """Column -> the number of problems, near the stated one, that most of these shares fit."""
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
