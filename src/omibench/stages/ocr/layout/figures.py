"""Find the figures of a page, with their labels and captions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omibench.stages.ocr.layout.captions import Caption, name_boxes
from omibench.stages.ocr.layout.grids import is_table
from omibench.stages.ocr.layout.labels import MARK_REACH, Typography, is_body, with_labels
from omibench.stages.ocr.layout.layout import Box, Line, Picture
from omibench.stages.ocr.layout.marks import Region
from omibench.stages.ocr.layout.panels import find_panels
from omibench.stages.ocr.structure.choices import is_lone_marker

MIN_SIDE = 12.0
MIN_AREA = 600.0
MIN_TICKS = 5
_PROSE = re.compile(r"(?:\w{2,}\W+){4}\w{2,}")


def find_pictures(
    page: int,
    regions: Sequence[Region],
    lines: Sequence[Line],
    captions: Sequence[Caption],
    setting: Typography,
) -> tuple[list[Picture], list[Line]]:
    """Return the pictures of a page and the lines that are not part of them.

    Rules, tables and frames are left out, and so are small regions unless a caption groups them
    with others. All parts under one caption are one picture; it includes labels around it.
    """
    caption_lines = {id(line) for caption in captions for line in caption.lines}
    free = [line for line in lines if id(line) not in caption_lines]
    body = [line for line in free if is_body(line, free, setting)]
    picture_boxes = [r.box for r in regions if _is_picture(r, lines, captions, setting)]
    picture_boxes += [
        r.box for r in regions if _is_scale(r) and not _touches_any(r.box, picture_boxes)
    ]
    bits = [r.box for r in regions if _is_bit(r, lines, setting) and r.box not in picture_boxes]
    stops = [line.box for line in body]
    named: dict[int, Box] = {}
    parts: dict[int, list[Box]] = {}
    nameless: list[Box] = []
    boxes = [*picture_boxes, *bits]
    for box, name in zip(boxes, name_boxes(boxes, captions, stops), strict=True):
        if name is not None:
            named[name] = named[name].union(box) if name in named else box
            parts.setdefault(name, []).extend([box] if box in picture_boxes else [])
        elif box in picture_boxes or _is_lettered(box, free):
            nameless.append(box)
    named = {name: box for name, box in named.items() if _is_large(box)}
    labels = [line for line in free if line not in body]
    owners: list[int | None] = [*named, *(None for _ in nameless)]
    grown, absorbed = with_labels(
        [*named.values(), *nameless],
        [None if name is None else captions[name].box for name in owners],
        labels,
        bits,
        setting.size,
    )
    pictures = [
        Picture(page, box)
        if name is None
        else Picture(
            page,
            box,
            captions[name].text,
            captions[name].number,
            find_panels(parts[name], box, free, setting.size),
        )
        for box, name in _join_boxes(list(zip(grown, owners, strict=True)))
    ]
    absorbed_lines = {id(line) for line in absorbed} | {
        id(ln) for name in named for ln in captions[name].lines
    }
    return pictures, [line for line in lines if id(line) not in absorbed_lines]


def _is_large(box: Box) -> bool:
    return min(box.width, box.height) >= MIN_SIDE and box.width * box.height >= MIN_AREA


def _is_scale(region: Region) -> bool:
    """Return whether it is a ruler or an axis with ticks: long and flat, of many strokes."""
    box = region.box
    if _is_large(box) or region.raster:
        return False
    return region.strokes >= MIN_TICKS and box.width >= 60 and box.height >= 3


def _touches_any(box: Box, neighbours: Sequence[Box]) -> bool:
    return any(box.grow(MARK_REACH, MARK_REACH).touches(neighbour) for neighbour in neighbours)


def _is_bit(region: Region, lines: Sequence[Line], setting: Typography) -> bool:
    """Return whether a mark is too small for a figure but may be part of one; not an underline or a
    fraction bar."""
    if _is_large(region.box) or region.box.width >= 0.9 * setting.width:
        return False
    flat = region.box.height < 3
    return not flat or not any(_carries_line(line, region.box) for line in lines)


def _carries_line(line: Line, rule: Box) -> bool:
    """Return whether a rule underlines a line or is a fraction bar below it."""
    gap = rule.y0 - line.baseline
    return -1 < gap < 0.45 * line.size and line.box.gap_x(rule) < 0 and line.upright


def _is_picture(
    region: Region, lines: Sequence[Line], captions: Sequence[Caption], setting: Typography
) -> bool:
    box = region.box
    if not _is_large(box):
        return False
    inside = [line for line in lines if box.holds(line.box)]
    if _is_named(box, lines, captions):
        return True
    if region.framed:
        return not inside and _is_measured(box, lines, setting)
    if region.raster:
        around_text = any(2 * line.box.width > box.width and _is_prose(line) for line in inside)
        return not (around_text or is_table(inside) or _is_inline(box, lines, setting))
    if not region.ruled:
        return True
    return not is_table(inside) and not any(map(_is_prose, inside))


def _is_prose(line: Line) -> bool:
    return _PROSE.search(line.text) is not None


def _is_inline(box: Box, lines: Sequence[Line], setting: Typography) -> bool:
    """Return whether an image is inside a line of text, like embedded or unread formulas."""
    if box.height <= 1.9 * setting.size:
        return True
    return box.height < 3.2 * setting.size and any(
        line.upright
        and -2 < line.box.gap_x(box) < 1.2 * line.size
        and -line.box.gap_y(box) > 0.5 * line.box.height
        for line in lines
    )


def _is_measured(box: Box, lines: Sequence[Line], setting: Typography) -> bool:
    """Return whether short labels surround an empty box: a plate with its sides, not a space for an
    answer."""
    around = box.grow(12, 12)
    short = [line for line in lines if len(line.text) <= 8 and around.touches(line.box)]
    return box.width < 0.6 * setting.width and len(short) >= 2


def _is_named(box: Box, lines: Sequence[Line], captions: Sequence[Caption]) -> bool:
    """Return whether a caption or the letter of a choice is next to a box."""
    around = box.grow(4, 26)
    return any(around.touches(c.box) for c in captions) or any(
        is_lone_marker(line.text) and box.grow(24, 16).touches(line.box) for line in lines
    )


def _is_lettered(box: Box, lines: Sequence[Line]) -> bool:
    """Return whether a small mark, not a mere rule, is the content of a choice."""
    if min(box.width, box.height) < 5 or max(box.width, box.height) < 15:
        return False
    near = (line for line in lines if is_lone_marker(line.text))
    return any(
        line.box.gap_x(box) < 0 and 0 <= line.box.gap_y(box) < 2.5 * line.size for line in near
    )


def _join_boxes(boxes: list[tuple[Box, int | None]]) -> list[tuple[Box, int | None]]:
    """Merge overlapping boxes, unless two captions separate them."""
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
