"""Drawings of a page that are parts of formulas: bars, radical signs and small pictures."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from glyphtex.boxes import Box, unite
from glyphtex.marks import Glyph, PageMarks, RootSign, Rule, SmallPicture
from glyphtex.painted_glyphs import SEQUENCE
from glyphtex.units import FUNCTIONS, UNITS, RowUnit, is_chemical, join_units

if TYPE_CHECKING:
    import pymupdf


Drawing = dict[str, Any]
"""Path as returned by MuPDF."""
_THICK = 1.6
"""Maximum thickness of a formula's rule, in points: bars of display type have .4 to 1.2."""
_LEVEL = 0.3
"""Maximum height difference between the ends of a horizontal rule, in points."""
_MEETS = 1.5
"""Maximum distance between a rule and a vertical rule that meet, in points."""
_UPRIGHT = 2.0
"""Minimum height of a vertical rule, in points."""
WIDEST = 0.72
"""Minimum length of a page or table rule, as a share of the page width."""
_SHORT = 1.5
"""Minimum length of a rule, in points."""
_ROOT_HEIGHTS = 5.0, 150.0
_ROOT_SEGMENTS = 3, 12
_PICTURE_HEIGHT = 60.0
"""Maximum height of an image in a line, such as a formula of a few rows, in points."""


def find_bars(drawings: Sequence[Drawing]) -> list[Rule]:
    """Return every horizontal rule of a page that is not part of a grid or table.

    Stroked lines, thin filled rectangles and thin polygons are rules.

    Args:
        drawings: Paths of the page from `get_drawings` or `get_cdrawings`.

    Returns:
        Each rule once; its thickness is that of its ink, in points.
    """
    bars = list(_list_bars(drawings))
    uprights = sorted(_list_uprights(drawings))
    places = [upright.x for upright in uprights]
    return [bar for bar in bars if not _meets(bar, uprights, places)]


def _meets(bar: Rule, uprights: Sequence[UprightRule], places: Sequence[float]) -> bool:
    """Return whether a vertical rule ends at a rule or crosses it."""
    low = bisect_left(places, bar.x0 - _MEETS)
    high = bisect_left(places, bar.x1 + _MEETS)
    return any(u.y0 - _MEETS <= bar.y <= u.y1 + _MEETS for u in uprights[low:high])


def _list_bars(drawings: Sequence[Drawing]) -> Iterator[Rule]:
    for drawing in drawings:
        serial = drawing["seqno"] * SEQUENCE
        stroke = (drawing.get("width") or 0.0) if drawing.get("color") else 0.0
        whole = Box(*drawing["rect"])
        items = drawing["items"]
        if len(items) > 1 and _is_thin(whole) and whole.height:
            yield Rule(serial, whole.x0, whole.x1, whole.centre[1], whole.height)
            continue
        for item in items:
            if item[0] == "l" and stroke:
                (ax, ay), (bx, by) = item[1], item[2]
                if abs(ay - by) <= _LEVEL and abs(ax - bx) >= _SHORT and stroke <= _THICK:
                    yield Rule(serial, min(ax, bx), max(ax, bx), (ay + by) / 2, stroke)
            elif item[0] in ("re", "qu"):
                box = _bound(item)
                if _is_thin(box):
                    thickness = max(box.height, stroke)
                    yield Rule(serial, box.x0, box.x1, box.centre[1], thickness)


class UprightRule(NamedTuple):
    """Return a path as a vertical rule, as in tables, frames and axes."""

    x: float
    y0: float
    y1: float


def _list_uprights(drawings: Sequence[Drawing]) -> Iterator[UprightRule]:
    for drawing in drawings:
        for item in drawing["items"]:
            if item[0] == "l":
                (ax, ay), (bx, by) = item[1], item[2]
                if abs(ax - bx) <= _LEVEL and abs(ay - by) >= _UPRIGHT:
                    yield UprightRule((ax + bx) / 2, min(ay, by), max(ay, by))
            elif item[0] in ("re", "qu"):
                box = _bound(item)
                if box.height >= _UPRIGHT:
                    yield UprightRule(box.x0, box.y0, box.y1)
                    yield UprightRule(box.x1, box.y0, box.y1)


def find_roots(drawings: Sequence[Drawing]) -> Iterator[RootSign]:
    """Yield every path in the shape of a radical sign, filled or stroked."""
    for drawing in drawings:
        items = drawing["items"]
        box = Box(*drawing["rect"])
        if (
            _ROOT_SEGMENTS[0] <= len(items) <= _ROOT_SEGMENTS[1]
            and _ROOT_HEIGHTS[0] <= box.height <= _ROOT_HEIGHTS[1]
            and all(item[0] == "l" for item in items)
            and _is_radical([items[0][1], *(item[2] for item in items)], box)
        ):
            yield RootSign(drawing["seqno"] * SEQUENCE, box)


def find_pictures(images: Sequence[dict[str, Any]]) -> Iterator[SmallPicture]:
    """Yield every image of a page that is low enough for a line of text.

    Args:
        images: Images from `get_image_info`.
    """
    for image in images:
        box = Box(*image["bbox"])
        if 2 <= box.height <= _PICTURE_HEIGHT and box.width >= 2:
            yield SmallPicture(image["number"], box)


def _bound(item: Sequence[Any]) -> Box:
    """Return the box of a rectangle or quadrilateral of a path."""
    if item[0] == "re":
        return Box(*item[1])
    points = list(item[1])
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return Box(min(xs), min(ys), max(xs), max(ys))


def _is_thin(box: Box) -> bool:
    return box.height <= _THICK and box.width >= max(_SHORT, 2 * box.height)


def _is_radical(points: Sequence[tuple[float, float]], box: Box) -> bool:
    """Return whether a path goes rightwards from a middle height to its bottom, then to its top."""
    x_low, _ = max(points, key=lambda p: p[1])
    top = [x for x, y in points if y < box.y0 + 0.12 * box.height]
    left_y = min(points, key=lambda p: p[0])[1]
    share = (left_y - box.y0) / box.height
    slopes = any(
        abs(a[0] - b[0]) > 0.5 and abs(a[1] - b[1]) > 0.5 * box.height for a, b in pairwise(points)
    )
    left_of_top = bool(top) and x_low < min(top)
    return left_of_top and slopes and 0.2 < share < 0.9 and box.y1 - 0.5 < max(p[1] for p in points)


# Formulas that a program embeds as objects, each painted within its own frame.
#
# LibreOffice paints each formula of a document inside a clip with the size of the formula.

_FONT = "OpenSymbol"
"""Font of LibreOffice's mathematical signs; a document without it has no embedded formulas."""
_MOST = 1_000
"""Maximum number of clips of a page that are examined."""
_MOST_PAIRS = 5_000_000
"""Maximum number of pairs of a frame and a glyph that are compared."""
_HIGHEST = 150.0
"""Maximum height of a formula, in points."""
_WIDEST = 0.9
"""Maximum width of a formula, as a share of the page width."""
_MARGIN = 0.3
"""Maximum distance of a mark's middle beyond the frame, in points."""
_TIGHT = 0.16
"""Maximum gap between the letters of a word, in type sizes."""
_LONGEST_NAME = 3
"""Maximum number of letters of a word that is a product of variables or an abbreviation."""
_MOST_WORDS = 0.5
"""Maximum share of the glyphs of a formula that are words."""
_SMALLER = 0.86
"""Maximum size of a script, as a share of its base's."""
_LEVEL_OBJECTS = 0.12
"""Maximum difference between baselines of one row, in type sizes."""


def find_frames(page: pymupdf.Page) -> list[Box]:
    """Return the frames of embedded objects on a page, from the top of the painting order.

    Args:
        page: Page with its rotation removed.
    """
    if not any(_FONT in font[3] for font in page.get_fonts()):
        return []
    width = page.rect.width
    clips = [
        Box(*drawing["scissor"])
        for drawing in page.get_cdrawings(extended=True)
        if drawing["type"] == "clip"
    ]
    return [b for b in clips if 0 < b.height < _HIGHEST and 0 < b.width < _WIDEST * width][:_MOST]


def split_objects(marks: PageMarks) -> tuple[PageMarks, list[PageMarks]]:
    """Split the marks of a page into those outside of embedded formulas, and each formula.

    Args:
        marks: Marks of the page with its frames. If it has too many glyphs and frames, all marks
            count as outside.
    """
    rest = marks
    objects: list[PageMarks] = []
    frames = dict.fromkeys(marks.frames)
    for frame in frames if len(frames) * len(marks.glyphs) <= _MOST_PAIRS else ():
        inside = _find_inside(rest, frame.grow(_MARGIN, _MARGIN))
        if inside is not None and _is_formula(inside.glyphs):
            objects.append(inside)
            rest = _without(rest, inside)
    return rest, objects


def as_unit(marks: PageMarks, units: Sequence[RowUnit]) -> RowUnit:
    """Return an embedded formula as one unit on the baseline of its row.

    Args:
        marks: Marks of the formula.
        units: Its units with their scripts attached.
    """
    size = max(unit.size for unit in units)
    letters = [u for u in units if not u.has_axis and u.size > _SMALLER * size]
    levels = sorted(u.axis for u in letters)
    parts = [part for unit in units for part in unit.walk()]
    if levels and levels[-1] - levels[0] < _LEVEL_OBJECTS * size:
        axis = levels[0]
    elif len(units) == 1:
        axis = units[0].axis
    else:
        axis = unite(part.box for part in parts).centre[1]
    bars = {bar for part in parts for bar in part.bars}
    roots = {root for part in parts for root in part.roots}
    whole = join_units(
        parts,
        axis,
        bars=[bar for bar in marks.bars if bar not in bars],
        roots=[root for root in marks.roots if root not in roots],
        size=size,
    )
    whole.is_object = True
    return whole


def _find_inside(marks: PageMarks, frame: Box) -> PageMarks | None:
    """Return the longest run of glyphs painted in a frame, and the rules painted with them."""
    glyphs = sorted(marks.glyphs, key=lambda g: g.serial)
    places = [
        list(run)
        for held, run in groupby(range(len(glyphs)), key=lambda k: _is_in(glyphs[k], frame))
        if held
    ]
    if not places:
        return None
    run = max(places, key=len)
    first = glyphs[run[0] - 1].serial if run[0] else -1
    last = glyphs[run[-1] + 1].serial if run[-1] + 1 < len(glyphs) else math.inf
    bars = (b for b in marks.bars if frame.holds(b.box))
    return PageMarks(
        marks.width,
        marks.height,
        tuple(glyphs[k] for k in run),
        tuple(bar for bar in bars if first < bar.serial < last),
        tuple(r for r in marks.roots if frame.holds(r.box) and first < r.serial < last),
    )


def _is_in(glyph: Glyph, frame: Box) -> bool:
    """Return whether a glyph is in a frame; the box of an accent without a width may not be."""
    if frame.holds(glyph.box):
        return True
    origin = Box(glyph.x, glyph.y, glyph.x, glyph.y)
    return glyph.symbol.kind == "accent" and frame.holds(origin)


def _is_formula(glyphs: Sequence[Glyph]) -> bool:
    """Return whether the glyphs of an object are mathematics rather than words."""
    if not any(g.italic or _FONT in g.font or g.symbol.kind == "digit" for g in glyphs):
        return False
    words = sum(len(word) for word in _list_words(glyphs) if not _may_be_mathematics(word))
    return words <= _MOST_WORDS * len(glyphs)


def _list_words(glyphs: Sequence[Glyph]) -> Iterator[str]:
    """Yield each run of adjacent letters on one baseline."""
    word: list[Glyph] = []
    for glyph in glyphs:
        last = word[-1] if word else None
        continues = (
            last is not None
            and abs(glyph.y - last.y) < _LEVEL_OBJECTS * glyph.size
            and glyph.box.x0 - last.box.x1 < _TIGHT * glyph.size
        )
        if word and not (continues and glyph.text.isalpha()):
            yield "".join(g.text for g in word)
            word = []
        if glyph.text.isalpha():
            word.append(glyph)
    if word:
        yield "".join(g.text for g in word)


def _may_be_mathematics(word: str) -> bool:
    is_known = word in FUNCTIONS or word in UNITS or is_chemical(word)
    return is_known or len(word) <= _LONGEST_NAME


def _without(marks: PageMarks, taken: PageMarks) -> PageMarks:
    glyphs = {id(glyph) for glyph in taken.glyphs}
    return replace(
        marks,
        glyphs=tuple(glyph for glyph in marks.glyphs if id(glyph) not in glyphs),
        bars=tuple(bar for bar in marks.bars if bar not in taken.bars),
        roots=tuple(root for root in marks.roots if root not in taken.roots),
    )
