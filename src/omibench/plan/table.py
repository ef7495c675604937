"""Plain text tables and numbers for quick reading."""

from __future__ import annotations

from collections.abc import Sequence


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], total: Sequence[str], names: int = 2
) -> list[str]:
    """Return the lines of a table with totals last; the first `names` columns are left-aligned."""
    all_rows = (head, *rows, total)
    widths = [max(len(row[i]) for row in all_rows) for i in range(len(head))]
    lines = [
        "  ".join(
            text.ljust(width) if i < names else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in all_rows
    ]
    rule = "-" * max(map(len, lines))
    return [rule, lines[0], rule, *lines[1:-1], rule, lines[-1], rule]


def count(tokens: float) -> str:
    """Tokens: 950, 12.3k, 4.56M."""
    if tokens < 1000:
        return f"{tokens:.0f}"
    if tokens < 1_000_000:
        return f"{tokens / 1000:.1f}k"
    return f"{tokens / 1_000_000:,.2f}M"


def duration(hours: float | None) -> str:
    """Format hours as 40 s, 12 min or 3.4 h; unknown for None."""
    if hours is None:
        return "unknown"
    if hours * 3600 < 90:
        return f"{hours * 3600:.0f} s"
    return f"{hours * 60:.0f} min" if hours < 1.5 else f"{hours:.1f} h"
