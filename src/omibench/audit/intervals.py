"""Check of printed intervals against Wilson's interval of the underlying count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omibench.audit.counts import find_count
from omibench.audit.findings import AGREES, Finding
from omibench.printed_tables.layouts import ColumnGroup
from omibench.printed_tables.rows import PrintedNumber, PrintedRow, parse_number
from omibench.statistics.intervals import wilson

BOUNDARY = 0.001
"""Tolerance in percentage points within which a bound rounds either way."""


def check_intervals(
    file: str, rows: Sequence[PrintedRow], groups: Sequence[ColumnGroup]
) -> Iterator[Finding]:
    """Check both bounds of each printed 95 % interval."""
    for row in rows:
        for group in groups:
            if group.interval is None:
                continue
            metric = next(iter(group.metrics))
            for part, n in group.parts.items():
                share = parse_number(file, row, group.column(part, metric))
                if share is None or n is None:
                    continue
                for pattern, bound in zip(group.interval, _compute_bounds(share, n), strict=True):
                    column = pattern.format(part=part)
                    printed = parse_number(file, row, column)
                    if printed is not None:
                        yield Finding(
                            file, row.name, f"{group.dataset} {column}", "interval", printed.value,
                            round(bound, 4), n, _describe(printed, bound, n),
                        )  # fmt: skip


def _compute_bounds(share: PrintedNumber, n: int) -> tuple[float, float]:
    """Return Wilson's bounds in per cent, using the nearest count if none matches the share."""
    count = find_count(share, n)
    low, high = wilson(round(share.value * n / 100) if count is None else count, n, 0.95)
    return 100 * low, 100 * high


def _describe(printed: PrintedNumber, bound: float, n: int) -> str:
    if printed.admits(bound):
        return AGREES
    if abs(bound - printed.value) <= printed.half + BOUNDARY:
        return f"{AGREES}, at a rounding boundary"
    return f"differs from Wilson's interval of the count of {n}"
