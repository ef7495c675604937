"""Check of percentages printed next to the counts they are computed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omibench.audit.findings import AGREES, Finding
from omibench.printed_tables.layouts import SharesOfRow
from omibench.printed_tables.rows import PrintedRow, parse_number


def check_shares(
    file: str, rows: Sequence[PrintedRow], shares: SharesOfRow | None
) -> Iterator[Finding]:
    """Check each percentage against the count of its row and of the row with the total.

    Args:
        file: File name of the table, for the findings.
        rows: Its rows.
        shares: Columns with percentages and counts, and the row with the total.
    """
    whole = next((row for row in rows if shares and row.name == shares.of), None)
    if shares is None or whole is None:
        return
    total = parse_number(file, whole, shares.values)
    for row in rows:
        share, count = (parse_number(file, row, name) for name in (shares.column, shares.values))
        if not (share and count and total and total.value):
            continue
        value = 100 * count.value / total.value
        note = (
            AGREES
            if share.admits(value)
            else f"{count.value:g} of {total.value:g} gives another share"
        )
        yield Finding(
            file, row.name, shares.column, "share", share.value, round(value, 4),
            int(total.value), note,
        )  # fmt: skip
