"""Percentages that stand beside counts, against the count that they are shares of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omibench.audit.findings import AGREES, Finding
from omibench.printed_tables.layouts import SharesOfRow
from omibench.printed_tables.rows import PrintedRow, parse_number


def check_shares(
    file: str, rows: Sequence[PrintedRow], shares: SharesOfRow | None
) -> Iterator[Finding]:
    """Check each percentage against its row's count and the count of the row that holds all.

    Args:
        file: The table, which the findings name.
        rows: Its rows.
        shares: Which columns hold percentages and counts, and which row all.
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
        note = AGREES if share.admits(value) else f"{count.value:g} of {total.value:g} is another"
        yield Finding(
            file, row.name, shares.column, "share", share.value, round(value, 4),
            int(total.value), note,
        )  # fmt: skip
