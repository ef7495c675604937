"""Check of totals, averages, sums and differences against their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from omibench.audit.findings import AGREES, Finding
from omibench.printed_tables.cells import PrintedCell
from omibench.printed_tables.layouts import TOTAL, ColumnGroup, SumOfParts, TableLayout
from omibench.printed_tables.rows import TOLERANCE, PrintedNumber, PrintedRow, parse_number

Weight = Callable[[PrintedCell], float]


def combine(
    parts: Sequence[tuple[float, PrintedNumber]], printed: PrintedNumber
) -> tuple[float, bool]:
    """Return a weighted sum of printed numbers, and whether the printed sum can round from it.

    Args:
        parts: Weight and number of each part.
        printed: Printed sum.
    """
    value = sum(weight * number.value for weight, number in parts)
    slack = sum(abs(weight) * number.half for weight, number in parts)
    return value, abs(value - printed.value) <= slack + printed.half + TOLERANCE


def check_totals(cells: Sequence[PrintedCell]) -> Iterator[Finding]:
    """Check each total against the shares of its parts, weighted by problems."""
    shares = [cell for cell in cells if cell.kind != "mean" and cell.n]
    for _, group in groupby(shares, key=lambda c: (c.row, c.dataset, c.setting, c.metric)):
        row = list(group)
        parts = [cell for cell in row if cell.part != TOTAL]
        total = next((cell for cell in row if cell.part == TOTAL), None)
        if total is None or len(parts) < 2 or sum(cell.n for cell in parts) != total.n:
            continue
        weighed = [(cell.n / total.n, cell.number) for cell in parts]
        value, agrees = combine(weighed, total.number)
        note = AGREES if agrees else "the parts, weighted by problems, give another total"
        yield Finding(
            total.file, total.row, total.place, "total", total.number.value, round(value, 4),
            total.n, note,
        )  # fmt: skip


def check_averages(
    file: str, rows: Sequence[PrintedRow], groups: Sequence[ColumnGroup]
) -> Iterator[Finding]:
    """Check each average against the values of its parts with equal weights."""
    for row in rows:
        for group in groups:
            printed = group.average and parse_number(file, row, group.average)
            if not printed:
                continue
            metric = next(iter(group.metrics))
            columns = [group.column(part, metric) for part in group.parts]
            numbers = [parse_number(file, row, column) for column in columns]
            weighed = [(1 / len(columns), number) for number in numbers if number]
            if len(weighed) < len(columns):
                continue
            value, agrees = combine(weighed, printed)
            note = AGREES if agrees else f"the mean of {', '.join(columns)} is another value"
            yield Finding(
                file, row.name, f"{group.dataset} {group.average} {metric}", "average",
                printed.value, round(value, 4), None, note,
            )  # fmt: skip


def check_differences(
    file: str, rows: Sequence[PrintedRow], differences: Mapping[str, tuple[str, str]]
) -> Iterator[Finding]:
    """Check each difference against its two operands."""
    for row in rows:
        for column, operands in differences.items():
            numbers = [parse_number(file, row, operand) for operand in (column, *operands)]
            printed, *pair = [number for number in numbers if number]
            if len(pair) < 2:
                continue
            value, agrees = combine([(1, pair[0]), (-1, pair[1])], printed)
            note = AGREES if agrees else f"{operands[0]} minus {operands[1]} is another value"
            yield Finding(
                file, row.name, column, "difference", printed.value, round(value, 4), None, note
            )


def check_sums(file: str, rows: Sequence[PrintedRow], layout: TableLayout) -> Iterator[Finding]:
    """Check each row that is a sum of others, in a table with one value per row."""
    column = (
        next((name for name in rows[0].texts if name not in layout.row), None) if rows else None
    )
    if column is None or not layout.sums:
        return
    values = {row.name: parse_number(file, row, column) for row in rows}
    for entry in layout.sums:
        yield from _check_sum(file, entry, values)


def _check_sum(
    file: str, entry: SumOfParts, values: Mapping[str, PrintedNumber | None]
) -> Iterator[Finding]:
    printed, numbers = values.get(entry.of), [values.get(part) for part in entry.parts]
    present = [(1.0, number) for number in numbers if number]
    if printed is None or len(present) < len(numbers):
        return
    value, agrees = combine(present, printed)
    note = AGREES if agrees else f"{' + '.join(entry.parts)} is another value"
    yield Finding(file, entry.of, entry.of, "sum", printed.value, round(value, 4), None, note)
