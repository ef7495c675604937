"""Table rows as lines of a terminal."""

from __future__ import annotations

from collections.abc import Sequence


def align_columns(rows: Sequence[Sequence[object]]) -> list[str]:
    """Format each row as a line: texts left-aligned, whole numbers right-aligned.

    Args:
        rows: Header, then the rows; all of the same length.
    """
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    numeric = [all(isinstance(row[i], int) for row in rows[1:]) for i in range(len(widths))]
    return [
        "  ".join(
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in texts
    ]
