"""Distinguish running text from labels, and assign labels to pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from omibench.stages.ocr.layout.layout import Box, Line
from omibench.stages.ocr.structure.choices import is_lone_marker, starts_choice
from omibench.stages.ocr.structure.numbering import looks_numbered

REACH = 6.0
SHORT_REACH = 10.0
SMALL_REACH = 12.0
TURNED_REACH = 28.0
"""The distance in points within which a label belongs to a picture: in text size, the same but
short, in smaller type, or turned like titles of vertical axes."""
MARK_REACH = 16.0
"""The distance in points within which a small mark belongs to a picture, such as a dimension
arrow."""
_LABEL_CHARS = 48
_SHORT = 6
_ENTRY = re.compile(r"[(（]?([A-Ha-h])[)）.．]\s*\w")
_Part = tuple[Box, float, Line | None]


@dataclass(frozen=True, slots=True)
class Typography:
    """The typesetting of a page: type size and column width, in points."""

    size: float
    width: float


def is_body(line: Line, lines: Sequence[Line], setting: Typography) -> bool:
    """Return whether a line is running text, a choice or the start of a problem, not a label."""
    if not line.upright:
        return False
    if line.running or looks_numbered(line):
        return True
    if starts_choice(line.text) or is_lone_marker(line.text):
        return True
    if _is_listed(line, lines):
        return True
    if len(line.text) > _LABEL_CHARS or line.box.width > 0.6 * setting.width:
        return True
    return any(
        abs(neighbour.box.x0 - line.box.x0) < 1.5
        and abs(neighbour.size - line.size) < 0.3
        and -4 < neighbour.box.gap_y(line.box) < 0.7 * line.size
        and neighbour.box.width > 0.5 * setting.width
        for neighbour in lines
        if neighbour is not line
    )


def _is_listed(line: Line, lines: Sequence[Line]) -> bool:
    """Return whether a line is part of a list "a) ...", "b) ...", "c) ..." aligned in a column.

    A single letter may also be a part of a figure.
    """
    match = _ENTRY.match(line.text)
    if match is None:
        return False
    column = sorted(
        (neighbour.baseline, entry[1].lower())
        for neighbour in lines
        if (entry := _ENTRY.match(neighbour.text))
        and abs(neighbour.box.x0 - line.box.x0) < 1.5
        and abs(neighbour.size - line.size) < 0.3
    )
    letters = "".join(letter for _, letter in column)
    place = column.index((line.baseline, match[1].lower()))
    begin = letters.rfind("abc", 0, place + 3)
    return begin >= 0 and "abcdefgh".startswith(letters[begin : place + 1])


def with_labels(
    boxes: list[Box],
    captions: Sequence[Box | None],
    labels: Sequence[Line],
    bits: Sequence[Box],
    size: float,
) -> tuple[list[Box], list[Line]]:
    """Grow each box by nearby labels and small marks until none remain.

    A label between a picture and its caption always counts as near. Returns the grown boxes and
    their labels.
    """
    boxes, absorbed = list(boxes), list[Line]()
    waiting: list[_Part] = [
        *((line.box, _reach(line, size), line) for line in labels),
        *((bit, MARK_REACH, None) for bit in bits),
    ]
    while boxes:
        hits: list[tuple[int, _Part]] = []
        unlabelled: list[tuple[int, _Part]] = []
        for part in waiting:
            index, distance = _nearest(boxes, captions, part[0])
            (hits if distance <= part[1] else unlabelled).append((index, part))
        if not hits:
            break
        for index, (box, _, line) in hits:
            boxes[index] = boxes[index].union(box)
            absorbed += [line] if line else []
        waiting = [part for _, part in unlabelled]
    return boxes, absorbed


def _reach(line: Line, size: float) -> float:
    if not line.upright:
        return TURNED_REACH
    if line.size < 0.93 * size:
        return SMALL_REACH
    return SHORT_REACH if len(line.text) <= _SHORT else REACH


def _nearest(boxes: Sequence[Box], captions: Sequence[Box | None], box: Box) -> tuple[int, float]:
    distances = []
    for index, (figure_box, caption) in enumerate(zip(boxes, captions, strict=True)):
        zone = figure_box
        if caption and caption.y0 > figure_box.y1:
            zone = Box(figure_box.x0, figure_box.y0, figure_box.x1, caption.y0)
        gap = max(zone.gap_x(box), zone.gap_y(box), 0.0)
        distances.append((gap, max(figure_box.gap_x(box), figure_box.gap_y(box)), index))
    gap, _, index = min(distances)
    return index, gap
