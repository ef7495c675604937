"""Panels of a figure: its parts under one caption, each with its letter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omibench.stages.ocr.layout.labels import with_labels
from omibench.stages.ocr.layout.layout import Box, Line, PanelBox

_LETTER = re.compile(r"[(（]?([a-hA-H]|[ivIV]{1,4}|[1-9])[)）.]?(?:\s.*)?|([a-h])[)）]")
_NEAR = 30.0
_ALIKE = 3.0


def find_panels(
    parts: Sequence[Box], figure_box: Box, labels: Sequence[Line], size: float
) -> tuple[PanelBox, ...]:
    """Return the panels of a figure in rows from left to right; empty if it has only one part.

    `parts` are its separate drawings, and `labels` the lines inside it, which belong to the nearest
    part. `size` is the type size of the text.
    """
    if len(parts) < 2:
        return ()
    inside = [line for line in labels if figure_box.holds(line.box)]
    letters = [line for line in inside if line.upright and _letter(line)]
    other_lines = [line for line in inside if line not in letters]
    grown, _ = with_labels(list(parts), [None] * len(parts), other_lines, (), size)
    if any(a.touches(b) for k, a in enumerate(grown) for b in grown[:k]):
        grown = list(parts)
    named: dict[int, Line] = {}
    for line in letters:
        gap, owner = min(
            (max(box.gap_x(line.box), box.gap_y(line.box)), k) for k, box in enumerate(grown)
        )
        if gap < _NEAR and owner not in named:
            named[owner] = line
    if len(named) < 2 and not _are_alike(grown):
        return ()
    panels = [
        PanelBox(box.union(named[k].box) if k in named else box, _letter(named.get(k)))
        for k, box in enumerate(grown)
    ]
    return tuple(_sort_by_rows(panels))


def _are_alike(boxes: Sequence[Box]) -> bool:
    """Return whether parts without letters have about the same size, like graphs side by side."""
    sizes = [box.width * box.height for box in boxes]
    return max(sizes) < _ALIKE * min(sizes)


def _letter(line: Line | None) -> str | None:
    match = _LETTER.fullmatch(line.text) if line else None
    return (match[1] or match[2]) if match else None


def _sort_by_rows(panels: Sequence[PanelBox]) -> list[PanelBox]:
    rows: list[list[PanelBox]] = []
    for panel in sorted(panels, key=lambda panel: panel.box.y0):
        row = next((r for r in rows if r[0].box.holds(_level(r[0].box, panel.box))), None)
        if row is None:
            rows.append([panel])
        else:
            row.append(panel)
    return [panel for row in rows for panel in sorted(row, key=lambda panel: panel.box.x0)]


def _level(first: Box, box: Box) -> Box:
    """Move `box` next to `first`, to compare only their heights."""
    return Box(first.x0, box.y0, first.x1, box.y1)
