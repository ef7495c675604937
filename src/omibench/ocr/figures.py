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
TURNED_REACH = 28.0
"""Points around a picture within which a label belongs to it: in the size of the text, smaller, or
turned, as the titles of vertical axes are."""
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

    Regions that are rules, tables or frames are left out, small ones unless a caption gathers them
    with others; what a caption names, panels and scattered parts, is one picture; labels around a
    picture are taken into it.
    """
    taken = {id(line) for caption in captions for line in caption.lines}
    free = [line for line in lines if id(line) not in taken]
    body = [line for line in free if is_body(line, free, setting)]
    whole = [r.box for r in regions if _is_picture(r, lines, captions)]
    bits = [r.box for r in regions if _is_bit(r, setting)]
    stops = [line.box for line in body]
    named: dict[int, Box] = {}
    nameless: list[Box] = []
    boxes = [*whole, *bits]
    for box, name in zip(boxes, name_boxes(boxes, captions, stops), strict=True):
        if name is not None:
            named[name] = named[name].union(box) if name in named else box
        elif box in whole or _is_lettered(box, free):
            nameless.append(box)
    named = {name: box for name, box in named.items() if _is_large(box)}
    labels = [line for line in free if line not in body]
    owners: list[int | None] = [*named, *(None for _ in nameless)]
    grown, absorbed = _with_labels(
        [*named.values(), *nameless],
        [None if name is None else captions[name].box for name in owners],
        labels,
        setting.size,
    )
    pictures = [
        Picture(page, box)
        if name is None
        else Picture(page, box, captions[name].text, captions[name].number)
        for box, name in _joined(list(zip(grown, owners, strict=True)))
    ]
    gone = {id(line) for line in absorbed} | {
        id(ln) for name in named for ln in captions[name].lines
    }
    return pictures, [line for line in lines if id(line) not in gone]


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


def _is_large(box: Box) -> bool:
    return min(box.width, box.height) >= MIN_SIDE and box.width * box.height >= MIN_AREA


def _is_bit(region: Region, setting: Setting) -> bool:
    """A mark too small to be a figure that may be a part of one."""
    return not _is_large(region.box) and region.box.width < 0.9 * setting.width


def _is_picture(region: Region, lines: Sequence[Line], captions: Sequence[Caption]) -> bool:
    box = region.box
    if not _is_large(box):
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


def _is_lettered(box: Box, lines: Sequence[Line]) -> bool:
    """Whether a small mark, no mere rule, is what the letter of a choice above or below stands for."""
    if min(box.width, box.height) < 5 or max(box.width, box.height) < 15:
        return False
    near = (line for line in lines if is_lone_marker(line.text))
    return any(
        line.box.gap_x(box) < 0 and 0 <= line.box.gap_y(box) < 2.5 * line.size for line in near
    )


def _with_labels(
    boxes: list[Box], captions: Sequence[Box | None], labels: Sequence[Line], size: float
) -> tuple[list[Box], list[Line]]:
    """Grow each box by the labels near it until nothing more is near.

    A label between a picture and its caption is near, however far.
    """
    boxes, waiting, absorbed = list(boxes), list(labels), []
    while boxes:
        hits = []
        for line in waiting:
            index, distance = _nearest(boxes, captions, line.box)
            if distance <= _reach(line, size):
                hits.append((index, line))
        if not hits:
            break
        for index, line in hits:
            boxes[index] = boxes[index].union(line.box)
            absorbed.append(line)
        gone = {id(line) for line in absorbed}
        waiting = [line for line in waiting if id(line) not in gone]
    return boxes, absorbed


def _reach(line: Line, size: float) -> float:
    if not line.upright:
        return TURNED_REACH
    return SMALL_REACH if line.size < 0.93 * size else REACH


def _nearest(boxes: Sequence[Box], captions: Sequence[Box | None], box: Box) -> tuple[int, float]:
    distances = []
    for index, (own, caption) in enumerate(zip(boxes, captions, strict=True)):
        zone = own
        if caption and caption.y0 > own.y1:
            zone = Box(own.x0, own.y0, own.x1, caption.y0)
        gap = max(zone.gap_x(box), zone.gap_y(box), 0.0)
        distances.append((gap, max(own.gap_x(box), own.gap_y(box)), index))
    gap, _, index = min(distances)
    return index, gap


def _joined(boxes: list[tuple[Box, int | None]]) -> list[tuple[Box, int | None]]:
    """Overlapping boxes as one, unless two captions tell them apart."""
    joined: list[tuple[Box, int | None]] = []
    for box, name in boxes:
        current, owner = box, name
        while hit := next(
            (j for j in joined if _overlap(j[0], current) > 0.1 and None in (j[1], owner)), None
        ):
            joined.remove(hit)
            current, owner = current.union(hit[0]), hit[1] if owner is None else owner
        joined.append((current, owner))
    return joined


def _overlap(a: Box, b: Box) -> float:
    shared = max(0.0, -a.gap_x(b)) * max(0.0, -a.gap_y(b))
    return shared / max(1.0, min(a.width * a.height, b.width * b.height))
