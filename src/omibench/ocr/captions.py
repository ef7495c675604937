"""Captions: `Figure 3: ...`, `图 2`, and which picture they name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from omibench.ocr.layout import Box, Line

_NOUN = r"(?:figure|fig\.|figura|abbildung|abb\.|gr[áa]fico|图|圖)"
CAPTION = re.compile(
    rf"{_NOUN}\s*(?P<number>\d{{1,3}}(?:\.\d{{1,2}})?[a-z]?)\s*(?:[:：.．—–-](?P<rest>.*))?", re.I
)
_FAR = 42.0


class Caption(NamedTuple):
    """The text of a caption, the number it gives its figure, and its lines."""

    text: str
    number: str
    lines: tuple[Line, ...]

    @property
    def box(self) -> Box:
        box = self.lines[0].box
        for line in self.lines[1:]:
            box = box.union(line.box)
        return box


def captions_of(lines: Sequence[Line]) -> list[Caption]:
    """Every caption among the lines of a page; one may run over several lines."""
    found = []
    for line in lines:
        match = CAPTION.fullmatch(line.text) if line.upright else None
        if match:
            parts = [line]
            while follower := next((o for o in lines if _continues(parts[-1], o)), None):
                parts.append(follower)
            text = " ".join(part.text for part in parts)
            found.append(Caption(text, match["number"], tuple(parts)))
    return found


def name_boxes(
    boxes: Sequence[Box], captions: Sequence[Caption], body: Sequence[Line]
) -> list[int | None]:
    """For each box the index of the caption that names it, or None.

    A caption stands below its picture; only one that has no picture above it may name one below.
    Running text between the two keeps them apart.
    """
    names = [_nearest(box, captions, body, below=True) for box in boxes]
    free = [k if k not in names else None for k in range(len(captions))]
    for index, box in enumerate(boxes):
        if names[index] is None:
            above = _nearest(box, captions, body, below=False)
            names[index] = None if above is None else free[above]
    return names


def _nearest(
    box: Box, captions: Sequence[Caption], body: Sequence[Line], *, below: bool
) -> int | None:
    best: tuple[float, int] | None = None
    for index, caption in enumerate(captions):
        if below != (caption.box.centre[1] >= box.centre[1]):
            continue
        gap = max(0.0, caption.box.gap_y(box))
        aside = max(0.0, caption.box.gap_x(box))
        if gap > _FAR or aside > 0.5 * box.width + _FAR or _between(box, caption.box, body):
            continue
        if best is None or gap + aside < best[0]:
            best = (gap + aside, index)
    return best[1] if best else None


def _between(box: Box, caption: Box, body: Sequence[Line]) -> bool:
    top, bottom = min(box.y1, caption.y1), max(box.y0, caption.y0)
    return any(
        top < line.box.centre[1] < bottom and line.box.gap_x(box) < 0 and not caption.holds(line.box)
        for line in body
    )


def _continues(above: Line, line: Line) -> bool:
    gap = line.box.y0 - above.box.y1
    if not line.upright or not -0.5 * line.size < gap < 0.4 * line.size:
        return False
    if abs(line.size - above.size) > 0.2 or line.bold or CAPTION.fullmatch(line.text):
        return False
    centred = abs(line.box.centre[0] - above.box.centre[0]) < 2.5
    return line.baseline > above.baseline and (centred or abs(line.box.x0 - above.box.x0) < 1.0)
