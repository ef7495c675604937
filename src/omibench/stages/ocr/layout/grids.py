"""Detect regions that only look like figures: tables, frames, highlights, spaces for answers."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.stages.ocr.layout.layout import Box, Line

_ALIGNED = 4.0
"""The tolerance in points for the left edge, middle or right edge of cells of one column."""


def is_table(lines: Sequence[Line]) -> bool:
    """Return whether lines are arranged like cells: at least two rows of two or more, aligned.

    Labels of a circuit or chart are scattered: some form rows, but most text is not in columns.
    """
    rows = [row for row in _rows(lines) if len(row) > 1]
    if len(rows) < 2:
        return False
    cells = [line.box for row in rows for line in row]
    aligned = sum(
        any(_underlies(a, b) for k, row in enumerate(rows) for b in _boxes(row) if k != row_number)
        for row_number, row in enumerate(rows)
        for a in _boxes(row)
    )
    steady = len({len(row) for row in rows}) <= 1 + len(rows) // 3
    return aligned >= 0.8 * len(cells) and (len(cells) >= 0.7 * len(lines) or steady)


def _boxes(row: Sequence[Line]) -> list[Box]:
    return [line.box for line in row]


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.baseline):
        if rows and abs(rows[-1][0].baseline - line.baseline) < 0.4 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _underlies(a: Box, b: Box) -> bool:
    offsets = (a.x0 - b.x0, a.x1 - b.x1, a.centre[0] - b.centre[0])
    return min(map(abs, offsets)) < _ALIGNED
