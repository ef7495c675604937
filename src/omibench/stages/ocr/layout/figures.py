"""Figures of a page: captions, panels, and drawings with their labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from glyphtex.marks import Box, unite
from omibench.stages.ocr.layout.layout import Line, PanelBox, Picture
from omibench.stages.ocr.layout.regions import Region
from omibench.stages.ocr.structure.choices import is_lone_marker, starts_choice
from omibench.stages.ocr.structure.numbering import looks_numbered

# Captions (`Figure 3: ...`, `图 2`) and their pictures.

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


# Detect regions that only look like figures: tables, frames, highlights, spaces for answers.

_ALIGNED = 4.0
"""The tolerance in points for the left edge, middle or right edge of cells of one column."""


def is_table(lines: Sequence[Line]) -> bool:
    """Return whether lines are arranged like cells: at least two rows of two or more, aligned.

    Labels of a circuit or chart are scattered: some form rows, but most text is not in columns.
    """
    rows = [row for row in _rows(lines) if len(row) > 1]
    if len(rows) < 2:
        return False
    cells = [line.box for row in rows for line in row]
    aligned = sum(
        any(_underlies(a, b) for k, row in enumerate(rows) for b in _boxes(row) if k != row_number)
        for row_number, row in enumerate(rows)
        for a in _boxes(row)
    )
    steady = len({len(row) for row in rows}) <= 1 + len(rows) // 3
    return aligned >= 0.8 * len(cells) and (len(cells) >= 0.7 * len(lines) or steady)


def _boxes(row: Sequence[Line]) -> list[Box]:
    return [line.box for line in row]


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.baseline):
        if rows and abs(rows[-1][0].baseline - line.baseline) < 0.4 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _underlies(a: Box, b: Box) -> bool:
    offsets = (a.x0 - b.x0, a.x1 - b.x1, a.centre[0] - b.centre[0])
    return min(map(abs, offsets)) < _ALIGNED


# Distinguish running text from labels, and assign labels to pictures.

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
            index, distance = _nearest_labels(boxes, captions, part[0])
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


def _nearest_labels(
    boxes: Sequence[Box], captions: Sequence[Box | None], box: Box
) -> tuple[int, float]:
    distances = []
    for index, (figure_box, caption) in enumerate(zip(boxes, captions, strict=True)):
        zone = figure_box
        if caption and caption.y0 > figure_box.y1:
            zone = Box(figure_box.x0, figure_box.y0, figure_box.x1, caption.y0)
        gap = max(zone.gap_x(box), zone.gap_y(box), 0.0)
        distances.append((gap, max(figure_box.gap_x(box), figure_box.gap_y(box)), index))
    gap, _, index = min(distances)
    return index, gap


# Panels of a figure: its parts under one caption, each with its letter.

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


# Find the figures of a page, with their labels and captions.

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
