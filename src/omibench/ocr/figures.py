"""Figures of a page: which regions are pictures, which labels and captions belong to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from omibench.ocr.captions import Caption, name_boxes
from omibench.ocr.choices import is_lone_marker, starts_choice
from omibench.ocr.layout import Box, Line, Picture
from omibench.ocr.marks import Region
from omibench.ocr.numbering import looks_numbered

MIN_SIDE = 12.0
MIN_AREA = 600.0
REACH = 6.0
SMALL_REACH = 12.0
"""Points around a picture within which a label belongs to it: in the size of the text, or smaller."""
_LABEL_CHARS = 48
_PROSE = re.compile(r"(?:\w{2,}\W+){4}\w{2,}")


@dataclass(frozen=True, slots=True)
class Setting:
    """How the text of a page is set: its size and the width of its column, in points."""

    size: float
    width: float


def pictures_of(
    page: int,
    regions: Sequence[Region],
    lines: Sequence[Line],
    captions: Sequence[Caption],
    setting: Setting,
) -> tuple[list[Picture], list[Line]]:
    """The pictures of a page and the lines that are no part of them.

    Regions that are rules, tables, frames or too small are left out; labels around a region are
    taken into it; regions above one caption, as panels are, become one picture.
    """
    kept = [r for r in regions if _is_picture(r, lines, captions)]
    taken = {id(line) for caption in captions for line in caption.lines}
    free = [line for line in lines if id(line) not in taken]
    boxes = [r.box for r in kept]
    body = [line for line in free if is_body(line, free, setting)]
    labels = [line for line in free if line not in body]
    boxes, absorbed = _with_labels(boxes, labels, setting.size)
    boxes = _joined(boxes)
    pictures = _captioned(page, boxes, captions, body)
    inside = {id(line) for line in absorbed}
    used = {id(line) for c in captions if c.text in {p.caption for p in pictures} for line in c.lines}
    return pictures, [line for line in lines if id(line) not in inside | used]


def is_body(line: Line, lines: Sequence[Line], setting: Setting) -> bool:
    """Whether a line is running text, a choice or the start of a problem, not a figure's label."""
    if not line.upright:
        return False
    if looks_numbered(line) or starts_choice(line.text) or is_lone_marker(line.text):
        return True
    if len(line.text) > _LABEL_CHARS or line.box.width > 0.6 * setting.width:
        return True
    return any(
        abs(other.box.x0 - line.box.x0) < 1.5
        and abs(other.size - line.size) < 0.3
        and -4 < other.box.gap_y(line.box) < 0.7 * line.size
        and other.box.width > 0.5 * setting.width
        for other in lines
        if other is not line
    )


def _is_picture(region: Region, lines: Sequence[Line], captions: Sequence[Caption]) -> bool:
    box = region.box
    if min(box.width, box.height) < MIN_SIDE or box.width * box.height < MIN_AREA:
        return False
    inside = [line for line in lines if box.holds(line.box)]
    if region.raster or not region.ruled or not inside:
        return True
    if _is_named(box, lines, captions):
        return True
    if any(_PROSE.search(line.text) for line in inside):
        return False
    return not (region.rules >= 3 and len(inside) >= 4)


def _is_named(box: Box, lines: Sequence[Line], captions: Sequence[Caption]) -> bool:
    """Whether a caption or the letter of a choice stands right at a box."""
    around = box.grown(4, 26)
    return any(around.touches(c.box) for c in captions) or any(
        is_lone_marker(line.text) and box.grown(24, 16).touches(line.box) for line in lines
    )


def _with_labels(
    boxes: list[Box], labels: Sequence[Line], size: float
) -> tuple[list[Box], list[Line]]:
    """Grow each box by the labels near it, nearest first, until nothing more is near."""
    boxes, waiting, absorbed = list(boxes), list(labels), []
    while boxes:
        reach = [(*_nearest(boxes, line.box), line) for line in waiting]
        near = [(distance, index, line) for distance, index, line in reach if distance <= _reach(line, size)]
        if not near:
            break
        for _, index, line in near:
            boxes[index] = boxes[index].union(line.box)
            absorbed.append(line)
        gone = {id(line) for line in absorbed}
        waiting = [line for line in waiting if id(line) not in gone]
    return boxes, absorbed


def _reach(line: Line, size: float) -> float:
    return SMALL_REACH if not line.upright or line.size < 0.93 * size else REACH


def _nearest(boxes: Sequence[Box], box: Box) -> tuple[float, int]:
    return min((max(b.gap_x(box), b.gap_y(box), 0.0), k) for k, b in enumerate(boxes))


def _joined(boxes: list[Box]) -> list[Box]:
    joined: list[Box] = []
    for box in boxes:
        current = box
        while hit := next((b for b in joined if _overlap(b, current) > 0.1), None):
            joined.remove(hit)
            current = current.union(hit)
        joined.append(current)
    return joined


def _overlap(a: Box, b: Box) -> float:
    shared = max(0.0, -a.gap_x(b)) * max(0.0, -a.gap_y(b))
    return shared / max(1.0, min(a.width * a.height, b.width * b.height))


def _captioned(
    page: int, boxes: Sequence[Box], captions: Sequence[Caption], body: Sequence[Line]
) -> list[Picture]:
    groups: dict[int | None, list[Box]] = {}
    for box, name in zip(boxes, name_boxes(boxes, captions, body), strict=True):
        groups.setdefault(name, []).append(box)
    pictures = [Picture(page, box) for box in groups.pop(None, [])]
    for index, members in groups.items():
        caption = captions[index or 0]
        # Panels side by side or one above the other under one caption are one figure.
        whole = members[0]
        for box in members[1:]:
            whole = whole.union(box)
        pictures.append(Picture(page, whole, caption.text, caption.number))
    return pictures
