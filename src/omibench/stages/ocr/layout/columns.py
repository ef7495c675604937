"""Reading order: one or two columns, and the rows of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from omibench.stages.ocr.layout.layout import PERSON, Box, Item, Line, Picture

_CROSSING = 0.12


def gutter(boxes: Sequence[Box], width: float) -> float | None:
    """Return the x of the gap between two columns of text, or None for one column.

    Two columns: few lines cross the middle and both sides have several long ones.
    """
    best = None
    for step in range(-6, 7):
        x = width / 2 + step * width * 0.01
        crossing = [b for b in boxes if b.x0 < x - 1 and b.x1 > x + 1]
        left = [b for b in boxes if b.x1 <= x + 1]
        right = [b for b in boxes if b.x0 >= x - 1]
        if len(crossing) > _CROSSING * len(boxes) or not _is_column(left) or not _is_column(right):
            continue
        room = min(b.x0 for b in right) - max(b.x1 for b in left)
        if room > 0 and (best is None or (len(crossing), -room) < best[0]):
            middle = (min(b.x0 for b in right) + max(b.x1 for b in left)) / 2
            best = ((len(crossing), -room), middle)
    return best[1] if best else None


def _is_column(boxes: list[Box]) -> bool:
    if len(boxes) < 4:
        return False
    width = max(b.x1 for b in boxes) - min(b.x0 for b in boxes)
    return sum(b.width > 0.6 * width for b in boxes) >= 4


def in_reading_order(items: Sequence[Item], middle: float | None) -> list[Item]:
    """Items of one page as they are read; lines get their `indent` and `starts`.

    With two columns, an item that crosses the gutter closes the columns above it.
    """
    if middle is None:
        return _column(items)
    ordered: list[Item] = []
    wide = sorted((i for i in items if _crosses(i, middle)), key=lambda i: i.box.y0)
    narrow = [i for i in items if not _crosses(i, middle)]
    for bar in [*wide, None]:
        end = bar.box.y0 if bar else float("inf")
        band = [i for i in narrow if i.box.centre[1] < end]
        narrow = [i for i in narrow if i.box.centre[1] >= end]
        ordered += _column([i for i in band if i.box.centre[0] < middle])
        ordered += _column([i for i in band if i.box.centre[0] >= middle])
        ordered += _column([bar]) if bar else []
    return ordered


def _crosses(item: Item, middle: float) -> bool:
    return item.box.x0 < middle - 4 and item.box.x1 > middle + 4


def _column(items: Sequence[Item]) -> list[Item]:
    lines = [i for i in items if isinstance(i, Line)]
    left = min((line.box.x0 for line in lines if line.upright), default=0.0)
    stacked = _find_stacked_lines(lines)
    ordered: list[Item] = []
    for row in rows(items):
        first = min((i.box.x0 for i in row if isinstance(i, Line)), default=0.0)
        ordered += [
            replace(
                i,
                indent=i.box.x0 - left,
                starts=i.box.x0 <= first + 0.5,
                stacked=id(i) in stacked,
            )
            if isinstance(i, Line)
            else i
            for i in row
        ]
    return ordered


def rows(items: Sequence[Item]) -> list[list[Item]]:
    """Group items into rows, each from left to right.

    Pieces of a fraction are up to 0.8 of the type size above or below their line; they join the row
    of the nearest earlier-begun line that they do not overlap.
    """
    row_list: list[list[Item]] = []
    anchors: list[Item] = []
    for item in sorted(items, key=lambda i: (i.box.x0, i.box.y0)):
        near = [
            (abs(_level(item) - _level(anchor)), index)
            for index, anchor in enumerate(anchors)
            if _same_row(anchor, item)
        ]
        if near:
            row_list[min(near)[1]].append(item)
        else:
            anchors.append(item)
            row_list.append([item])
    order = sorted(range(len(row_list)), key=lambda k: (_level(anchors[k]), anchors[k].box.x0))
    return [sorted(row_list[k], key=lambda i: (i.box.x0, i.box.y0)) for k in order]


def _level(item: Item) -> float:
    return item.baseline if isinstance(item, Line) and item.upright else item.box.y0


def _same_row(anchor: Item, item: Item) -> bool:
    if isinstance(anchor, Picture) or isinstance(item, Picture):
        if isinstance(anchor, Picture) and isinstance(item, Picture):
            shared = -anchor.box.gap_y(item.box)
            return shared > 0.5 * min(anchor.box.height, item.box.height)
        return False
    reach = 0.8 * max(anchor.size, item.size)
    return abs(_level(anchor) - _level(item)) <= reach and anchor.box.gap_x(item.box) > -1.0


def _find_stacked_lines(lines: Sequence[Line]) -> set[int]:
    """Return the ids of lines closer to another line than a line's height.

    Lines of text are at least their type size apart; closer ones are part of a fraction, a root or
    a sum. Corrected lines are exempt.
    """
    stacked: set[int] = set()
    level = sorted(
        (line for line in lines if line.upright and line.engine != PERSON),
        key=lambda line: line.baseline,
    )
    for k, a in enumerate(level):
        for b in level[k + 1 :]:
            size = min(a.size, b.size)
            rise = b.baseline - a.baseline
            if rise > 0.85 * size:
                break
            if rise > 0.3 * size and a.box.gap_x(b.box) < 1.5 * size:
                stacked |= {id(a), id(b)}
    return stacked
