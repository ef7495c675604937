"""Printed intervals against Wilson's of the count that a percentage is rounded from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omibench.audit.counts import find_count
from omibench.audit.findings import AGREES, Finding
from omibench.audit.layouts import ColumnGroup
from omibench.audit.printed import PrintedNumber, Row, parse_number
from omibench.statistics.intervals import wilson

BOUNDARY = 0.001
"""Percentage points within which a bound may have been rounded to either side."""


def check_intervals(
    file: str, rows: Sequence[tuple[str, Row]], groups: Sequence[ColumnGroup]
) -> Iterator[Finding]:
    """Check both bounds of each printed 95 % interval."""
    for name, row in rows:
        for group in groups:
            if group.interval is None:
                continue
            metric = next(iter(group.metrics))
            for part, n in group.parts.items():
                share = parse_number(file, name, row, group.column(part, metric))
                if share is None:
                    continue
                for pattern, bound in zip(group.interval, _compute_bounds(share, n), strict=True):
                    column = pattern.format(part=part)
                    printed = parse_number(file, name, row, column)
                    if printed is not None:
                        yield Finding(
                            file, name, f"{group.dataset} {column}", "interval", printed.value,
                            round(bound, 4), n, _describe(printed, bound, n),
                        )  # fmt: skip


def _compute_bounds(share: PrintedNumber, n: int) -> tuple[float, float]:
    """Wilson's bounds in per cent; of the nearest count where none gives the share."""
    count = find_count(share, n)
    low, high = wilson(round(share.value * n / 100) if count is None else count, n, 0.95)
    return 100 * low, 100 * high


def _describe(printed: PrintedNumber, bound: float, n: int) -> str:
    if printed.admits(bound):
        return AGREES
    if abs(bound - printed.value) <= printed.half + BOUNDARY:
        return f"{AGREES}, at a boundary of rounding"
    return f"is not Wilson's of the count of {n}"
