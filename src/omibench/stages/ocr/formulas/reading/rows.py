"""Units of a page in rows from left to right, scripts attached to their bases."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from omibench.stages.ocr.formulas.reading.units import RowUnit

Row = list[RowUnit]
_LEVEL = 0.12
"""Maximum difference between baselines of one row, in type sizes."""
_MOST_ROWS = 12
"""Maximum number of rows next to a block that are examined."""
_COLUMN_GAP = 1.3
"""Minimum gap that splits a row, in type sizes: columns, choices and equation numbers."""
_TALL = 1.3
"""Minimum height of a block taller than a line, in type sizes."""
_INSIDE = 0.5
"""Weight of the gap between a bracket and its content if several rows are near."""
_OFF_AXIS = 0.36
"""Maximum distance of a block's axis from that of an adjacent row, as a share of its height."""
_BESIDE = 0.4
"""Maximum gap between a block and such a row, in type sizes."""


def form_rows(groups: Iterable[Sequence[RowUnit]]) -> list[Row]:
    """Return rows of units; a row ends at a wide gap.

    Args:
        groups: Units of a page in any grouping, their scripts attached.

    Returns:
        Rows, each from left to right.
    """
    remaining = sorted((u for group in groups for u in group), key=lambda u: u.box.x0)
    letters = sorted((u for u in remaining if not u.has_axis), key=lambda u: u.baseline)
    rows: list[Row] = []
    for unit in letters:
        row = rows[-1] if rows else None
        if row and unit.baseline - row[0].baseline < _LEVEL * max(unit.size, row[0].size):
            row.append(unit)
        else:
            rows.append([unit])
    _place_blocks(rows, [u for u in remaining if u.has_axis])
    return [part for row in rows for part in _part(sorted(row, key=lambda u: u.box.x0))]


def _place_blocks(rows: list[Row], blocks: Sequence[RowUnit]) -> None:
    """Add blocks to the rows at their axis level, and the others to new rows."""
    levels = [row[0].baseline for row in rows]
    count = len(rows)
    waiting = sorted(blocks, key=lambda u: u.axis)
    while waiting:
        left: list[RowUnit] = []
        for block in waiting:
            low = bisect_left(levels, block.axis - 2, 0, count)
            row = _choose_row(block, [*rows[low : min(low + _MOST_ROWS, count)], *rows[count:]])
            if row is None:
                left.append(block)
            else:
                row.append(block)
        if len(left) == len(waiting):
            block = left.pop(0)
            row = _choose_row_beside(block, rows)
            if row is None:
                rows.append([block])
            else:
                row.append(block)
        waiting = left


def _choose_row(block: RowUnit, rows: Sequence[Row]) -> Row | None:
    best: tuple[float, Row] | None = None
    for row in rows:
        size = max(u.size for u in row)
        off = abs(row[0].axis - block.axis)
        if off > 0.24 * max(size, block.size):
            continue
        gap = min(u.whole_box.gap_x(block.whole_box) for u in row)
        distance = off + 0.01 * max(gap, 0) + _INSIDE * _gap_inside(block, row, size)
        if gap < _COLUMN_GAP * size and (best is None or distance < best[0]):
            best = (distance, row)
    return best[1] if best else None


def _gap_inside(block: RowUnit, row: Row, size: float) -> float:
    """Return the points between a bracket and its content, at most two type sizes; else 0."""
    kind = block.glyphs[0].symbol.kind if block.glyph else ""
    if kind not in ("open", "close"):
        return 0.0
    middle = block.box.centre[0]
    gaps = (
        u.whole_box.x0 - block.box.x1 if kind == "open" else block.box.x0 - u.whole_box.x1
        for u in row
        if (u.box.centre[0] > middle) == (kind == "open")
    )
    return min(2 * size, max(0.0, min(gaps, default=2 * size)))


def _choose_row_beside(block: RowUnit, rows: Sequence[Row]) -> Row | None:
    """Choose the row whose type ends right next to a tall block, slightly off the block's axis."""
    for row in rows:
        size = max(u.size for u in row)
        off = abs(row[0].axis - block.axis)
        if block.box.height < _TALL * size or off > min(_OFF_AXIS * block.box.height, size):
            continue
        gap = min(abs(u.whole_box.gap_x(block.whole_box)) for u in row)
        if gap < _BESIDE * size:
            return row
    return None


def _part(row: Row) -> list[Row]:
    parts: list[Row] = []
    end = 0.0
    for unit in row:
        box = unit.whole_box
        if parts and box.x0 - end < _COLUMN_GAP * unit.size:
            parts[-1].append(unit)
        else:
            parts.append([unit])
            end = box.x1
        end = max(end, box.x1)
    return parts
