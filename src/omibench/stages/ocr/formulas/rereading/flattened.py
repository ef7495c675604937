"""Groups of lines in scans whose formulas an engine has flattened."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from omibench.stages.ocr.formulas.marks import unite
from omibench.stages.ocr.layout.layout import Box, Line

_SHARED_HEIGHT = 0.3
"""Minimum overlap of two lines in one row, as a share of the lower line's height."""
_INSIDE = 0.6
"""Minimum overlap in height of lines of which one is inside the other, as the same share."""
_GAP = 1.2
"""Maximum gap between them, in heights of the lower line."""
_OVERLAP = 0.3
"""Minimum width that they share, in heights of the lower line."""
_MOST_ROWS = 8
_SAME_COLUMN = 0.5
"""Minimum overlap in width of the two halves of a fraction, as a share of the narrower half."""
_LONGEST_HALF = 12
"""Maximum length of half a fraction in characters."""
_WORD = re.compile(r"[^\W\d_]{4,}")


def group_flattened(lines: Sequence[Line]) -> list[list[Line]]:
    """Group the lines around those that may contain a flattened formula.

    To an engine, a numerator, a denominator and the text next to the bar are separate lines. Such
    lines are grouped too, even if none of them looks like a formula alone.

    Args:
        lines: Lines of one page.

    Returns:
        Groups of lines, read from left to right, then downwards; each line is in one group at most.
    """
    candidates = [line for line in lines if line.upright and not line.left_out]
    groups: list[list[Line]] = []
    taken: set[int] = set()
    for line in candidates:
        if id(line) in taken or not (line.math_suspect or _is_beside_fraction(line, candidates)):
            continue
        group = _grow(line, [c for c in candidates if id(c) not in taken])
        taken |= {id(member) for member in group}
        groups.append(sorted(group, key=lambda member: (member.box.x0, member.box.y0)))
    return groups


def join_group(group: Sequence[Line]) -> Line:
    """Join the lines of a group, their texts in a row."""
    first = group[0]
    if len(group) == 1:
        return first
    sure = [line.confidence for line in group if line.confidence is not None]
    return replace(
        first,
        box=unite(line.box for line in group),
        text=" ".join(line.text for line in group),
        confidence=min(sure) if sure else None,
        math_suspect=True,
    )


def _grow(line: Line, candidates: Sequence[Line]) -> list[Line]:
    group = [line]
    for member in group:
        for candidate in candidates:
            is_new = all(candidate is not other for other in group)
            if is_new and len(group) < _MOST_ROWS and _belong_together(member.box, candidate.box):
                group.append(candidate)
    return group


def _is_beside_fraction(line: Line, candidates: Sequence[Line]) -> bool:
    """Return whether two short lines, one above the other, are beside the middle of a line."""
    halves = [
        other
        for other in candidates
        if other is not line
        and len(other.text) <= _LONGEST_HALF
        and not _WORD.search(other.text)
        and _belong_together(line.box, other.box)
    ]
    middle = _find_middle(line.box)
    above = [half.box for half in halves if _find_middle(half.box) < middle]
    below = [half.box for half in halves if _find_middle(half.box) > middle]
    return any(_share_column(a, b) for a in above for b in below)


def _find_middle(box: Box) -> float:
    return (box.y0 + box.y1) / 2


def _share_column(a: Box, b: Box) -> bool:
    shared = -a.gap_x(b)
    return a.y1 <= b.y1 and shared > _SAME_COLUMN * min(a.width, b.width)


def _belong_together(a: Box, b: Box) -> bool:
    """Return whether two boxes are side by side rather than above each other, or mostly overlap.

    The denominator of a line's last fraction is in the box of the whole line.
    """
    height = min(a.height, b.height)
    shared = -a.gap_y(b)
    is_beside = -_OVERLAP * height < a.gap_x(b) < _GAP * height
    is_inside = a.gap_x(b) < 0 and shared > _INSIDE * height
    return is_inside or (is_beside and shared > _SHARED_HEIGHT * height)
