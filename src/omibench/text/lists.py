"""Long lists on one line."""

from __future__ import annotations

from collections.abc import Sequence


def list_first(entries: Sequence[str], most: int, separator: str = ", ") -> str:
    """Return the first entries on one line, and the number of the others.

    Args:
        entries: All entries.
        most: How many are listed.
        separator: `", "`, or `"; "` between sentences.
    """
    text, more = separator.join(entries[:most]), len(entries) - most
    return f"{text}{separator.lstrip(',')}and {more:,} more" if more > 0 else text
