"""Captions (`Figure 3: ...`, `图 2`) and their pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from omibench.stages.ocr.layout.layout import Box, Line, unite

_NOUN = (
    r"(?:figure|fig\.|figura|abbildung|abb\.|gr[áa]fico|图|圖|図|obrázek|obr\.|rysunek|rys\.|"
    r"рисунок|рис\.)"
)
CAPTION = re.compile(
    rf"{_NOUN}\s*(?P<number>\d{{1,3}}(?:\.\d{{1,2}})?[a-z]?)\s*(?:[:：.．—–-](?P<rest>.*))?", re.I
)
_FAR = 42.0
_HIGH = 260.0


class Caption(NamedTuple):
    """The text of a caption, the number of its figure, and its lines."""

    text: str
    number: str
    lines: tuple[Line, ...]

    @property
    def box(self) -> Box:
        return unite(line.box for line in self.lines)


def find_captions(lines: Sequence[Line]) -> list[Caption]:
    """Return every caption among the lines of a page, including captions of several lines."""
    captions = []
    for line in lines:
        match = CAPTION.fullmatch(line.text) if line.upright else None
        if match:
            parts = [line]
            while follower := next((o for o in lines if _continues(parts[-1], o)), None):
                parts.append(follower)
            text = " ".join(part.text for part in parts)
            captions.append(Caption(text, match["number"], tuple(parts)))
    return captions


def name_boxes(
    boxes: Sequence[Box], captions: Sequence[Caption], stops: Sequence[Box]
) -> list[int | None]:
    """Return the index of each box's caption, or None.

    A caption belongs to the picture above it, or to the one below if nothing is above. Running text
    (`stops`) or another caption between them separates them.
    """
    names = [_nearest(box, captions, stops, below=True) for box in boxes]
    used = set(names)
    for index, box in enumerate(boxes):
        if names[index] is None:
            above = _nearest(box, captions, stops, below=False)
            names[index] = None if above in used else above
    return _with_neighbours(boxes, names, stops)


def _with_neighbours(
    boxes: Sequence[Box], names: list[int | None], stops: Sequence[Box]
) -> list[int | None]:
    """Assign unnamed panels to the panel next to them in a row, whose caption is far away."""
    waiting = [k for k, name in enumerate(names) if name is None]
    while waiting:
        neighbours = {}
        for k in waiting:
            beside = [
                (boxes[k].gap_x(boxes[j]), name)
                for j, name in enumerate(names)
                if name is not None and _stands_beside_panel(boxes[k], boxes[j], stops)
            ]
            if beside:
                neighbours[k] = min(beside)[1]
        if not neighbours:
            break
        for k, name in neighbours.items():
            names[k] = name
        waiting = [k for k in waiting if k not in neighbours]
    return names


def _stands_beside_panel(box: Box, panel: Box, stops: Sequence[Box]) -> bool:
    level = -box.gap_y(panel) > 0.8 * max(box.height, panel.height)
    if not level or box.gap_x(panel) > 1.2 * min(box.width, panel.width):
        return False
    left, right = min(box.x1, panel.x1), max(box.x0, panel.x0)
    return not any(left <= stop.centre[0] <= right and stop.gap_y(box) < 0 for stop in stops)


def _nearest(
    box: Box, captions: Sequence[Caption], stops: Sequence[Box], *, below: bool
) -> int | None:
    best: tuple[float, int] | None = None
    far = _HIGH if below else _FAR
    for index, caption in enumerate(captions):
        if below != (caption.box.y0 >= box.y1 - 0.5 * caption.lines[0].size):
            continue
        gap = max(0.0, caption.box.gap_y(box))
        aside = max(0.0, caption.box.gap_x(box))
        other_boxes = [c.box for c in captions if c is not caption]
        if gap > far or aside > 0.5 * box.width + _FAR:
            continue
        if any(_separates(stop, box, caption.box) for stop in (*stops, *other_boxes)):
            continue
        off = abs(caption.box.centre[0] - box.centre[0])
        if best is None or gap + 3 * aside + 0.1 * off < best[0]:
            best = (gap + 3 * aside + 0.1 * off, index)
    return best[1] if best else None


def _separates(stop: Box, box: Box, caption: Box) -> bool:
    top, bottom = min(box.y1, caption.y1), max(box.y0, caption.y0)
    middle = stop.centre[1]
    return top < middle < bottom and (stop.gap_x(box) < 0 or stop.gap_x(caption) < 0)


def _continues(above: Line, line: Line) -> bool:
    gap = line.box.y0 - above.box.y1
    if not line.upright or not -0.5 * line.size < gap < 0.4 * line.size:
        return False
    if abs(line.size - above.size) > 0.2 or line.bold or CAPTION.fullmatch(line.text):
        return False
    centred = abs(line.box.centre[0] - above.box.centre[0]) < 2.5
    return line.baseline > above.baseline and (centred or abs(line.box.x0 - above.box.x0) < 1.0)
