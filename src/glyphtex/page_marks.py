"""Marks of a page that formulas consist of: glyphs, bars, radical signs, small pictures."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from glyphtex.font_programs import EmbeddedFonts
from glyphtex.libreoffice import correct_signs
from glyphtex.marks import (
    SEQUENCE,
    Box,
    Glyph,
    GlyphSymbol,
    PageMarks,
    RootSign,
    Rule,
    SmallPicture,
)
from glyphtex.symbols import identify, is_tex
from glyphtex.text_layer import Character, TextRun

if TYPE_CHECKING:
    import pymupdf


# Drawings: bars, radical signs and small pictures.

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
    uprights = sorted(_list_uprights(drawings))
    places = [x for x, _, _ in uprights]

    def is_met(bar: Rule) -> bool:
        """Return whether a vertical rule ends at a rule or crosses it."""
        low = bisect_left(places, bar.x0 - _MEETS)
        high = bisect_left(places, bar.x1 + _MEETS)
        return any(y0 - _MEETS <= bar.y <= y1 + _MEETS for _, y0, y1 in uprights[low:high])

    return [bar for bar in _list_bars(drawings) if not is_met(bar)]


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


def _list_uprights(drawings: Sequence[Drawing]) -> Iterator[tuple[float, float, float]]:
    """Yield x and the ends of each vertical rule, as in tables, frames and axes."""
    for drawing in drawings:
        for item in drawing["items"]:
            if item[0] == "l":
                (ax, ay), (bx, by) = item[1], item[2]
                if abs(ax - bx) <= _LEVEL and abs(ay - by) >= _UPRIGHT:
                    yield (ax + bx) / 2, min(ay, by), max(ay, by)
            elif item[0] in ("re", "qu"):
                box = _bound(item)
                if box.height >= _UPRIGHT:
                    yield box.x0, box.y0, box.y1
                    yield box.x1, box.y0, box.y1


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


# Arrows over letters, which MathJax sets as ordinary arrows rather than accents.

_ARROW = "→"
_VECTOR = GlyphSymbol("\\vec", "accent")
_MOST = 500
"""Maximum number of arrows of a page that are compared with its letters."""
_WIDEST = 1.3
"""Maximum width of an arrow over one letter, in type sizes."""
_GAP = 0.35
"""Maximum gap between a letter and the arrow over it, in type sizes."""
_SAME_LINE = 0.05
"""Maximum difference between two baselines that are the same, in points."""
_BESIDE = 0.35
"""Maximum gap between an arrow of a row and the symbol before it, in type sizes."""
_OFF_CENTRE = 0.45
"""Maximum offset between the middles of the arrow and its letter, in type sizes."""


def find_vectors(glyphs: Sequence[Glyph]) -> tuple[Glyph, ...]:
    """Return the glyphs, with arrows over a letter as accents.

    Args:
        glyphs: All glyphs of a page. With more than 500 arrows, they are returned unchanged.
    """
    if not 0 < sum(glyph.text == _ARROW for glyph in glyphs) <= _MOST:
        return tuple(glyphs)
    letters = [g for g in glyphs if g.symbol.kind == "letter"]
    dashes = [g for g in glyphs if g.symbol.latex == "-"]

    def is_vector(arrow: Glyph) -> bool:
        box, size = arrow.box, arrow.size
        return (
            any(_is_over(arrow, letter) for letter in letters)
            # A dash would lengthen it: then it is over several letters.
            and not any(
                abs(arrow.y - dash.y) < 0.05 * size
                and box.gap_x(dash.box) < 0
                and dash.box.x0 < box.x0
                for dash in dashes
            )
            # It would be between two symbols, as in the limit `n → ∞`.
            and not any(
                abs(arrow.y - other.y) < _SAME_LINE
                and other.text != _ARROW
                and -0.05 * size < box.x0 - other.box.x1 < _BESIDE * size
                for other in glyphs
            )
        )

    return tuple(
        replace(g, symbol=_VECTOR) if g.text == _ARROW and is_vector(g) else g for g in glyphs
    )


def _is_over(arrow: Glyph, letter: Glyph) -> bool:
    size = letter.size
    gap = letter.box.y0 - arrow.box.y1
    return (
        -0.1 * size < gap < _GAP * size
        and arrow.box.width < _WIDEST * size
        and abs(arrow.box.centre[0] - letter.box.centre[0]) < _OFF_CENTRE * size
    )


# Glyphs that a page stretches over itself and clips, as browsers make the middles of brackets.

_SHARE = 0.4
"""Minimum share of the page from which a glyph's box is larger than its visible part."""


def cut_stretched(page: pymupdf.Page, glyphs: Sequence[Glyph]) -> tuple[Glyph | None, ...]:
    """Cut the boxes of stretched glyphs to their visible parts.

    Args:
        page: Page to read.
        glyphs: All its glyphs.

    Returns:
        The glyphs, stretched ones in the type size of the page; None for a glyph that is as large
        as the page, such as a letter of a watermark.
    """
    high, wide = _SHARE * page.rect.height, _SHARE * page.rect.width
    if not any(g.box.height > high or g.box.width > wide for g in glyphs):
        return tuple(glyphs)
    clips = list(_find_clips(page.get_drawings(extended=True)))
    size = median(g.size for g in glyphs)
    cut: list[Glyph | None] = []
    for glyph in glyphs:
        box = glyph.box
        if box.height <= high and box.width <= wide:
            cut.append(glyph)
            continue
        seen = _see(glyph, clips)
        is_small = seen is not None and seen.height <= high and seen.width <= wide
        cut.append(replace(glyph, box=seen, size=size, y=seen.y1) if seen and is_small else None)
    return tuple(cut)


def _see(glyph: Glyph, clips: Sequence[tuple[int, int, Box]]) -> Box | None:
    """Return the smallest clip around the glyph's place in the painting order, cut to its box."""
    number, box = glyph.serial // SEQUENCE, glyph.box
    boxes = (box.clip(clip) for first, last, clip in clips if first <= number <= last)
    inked = (piece for piece in boxes if piece.x1 > piece.x0 and piece.y1 > piece.y0)
    return min(inked, key=lambda piece: piece.width * piece.height, default=None)


def _find_clips(drawings: Sequence[dict[str, Any]]) -> Iterator[tuple[int, int, Box]]:
    """Yield each clip with the numbers of the paths painted before and after it."""
    before = 0
    waiting: list[Box] = []
    for drawing in [*drawings, {"type": "end", "seqno": 2**31}]:
        if drawing["type"] == "clip":
            waiting.append(Box(*drawing["scissor"]))
        elif "seqno" in drawing:
            after = drawing["seqno"]
            yield from ((before, after, clip) for clip in waiting)
            before, waiting = after, []


# Marks of a page that formulas can consist of.

MAX_DRAWINGS = 4_000
"""Maximum paths of a page that are examined: maps and scatter plots have more."""
_OVERSIZED = 4.0
"""Minimum size of a letter that is in no formula, as a multiple of the median size of the page: the
lines under it would be its scripts.
"""
_SIGMAS = ("\U0001d70d", "\U0001d70e")
"""Italic final sigma and sigma."""
_SWAPPED = "STIXTwoMath"
"""Font whose names of the two sigmas are exchanged in the sizes of scripts."""
_DESCENDER = 0.1
"""Minimum depth of a final sigma below its baseline, in type sizes; a sigma has .01."""


MAX_ROOTS = 300
"""Maximum number of drawn radical signs of a page that are examined."""


class DrawnMarks(NamedTuple):
    """Horizontal rules and radical signs of a page; `is_partial` if it has too many of them."""

    bars: list[Rule]
    roots: list[RootSign]
    is_partial: bool

    def list_boxes(self, width: float) -> list[Box]:
        """Return the boxes of those that can be part of a formula, given the page's width."""
        bars = (bar.box for bar in self.bars if bar.x1 - bar.x0 < WIDEST * width)
        return [*bars, *(root.box for root in self.roots)]


def find_drawn(drawings: Sequence[Drawing]) -> DrawnMarks:
    """Return the drawn marks of a page.

    Args:
        drawings: Paths of the page from `get_drawings` or `get_cdrawings`.
    """
    bounded = drawings[:MAX_DRAWINGS]
    roots = list(find_roots(bounded))
    is_partial = len(drawings) > MAX_DRAWINGS or len(roots) > MAX_ROOTS
    return DrawnMarks(find_bars(bounded), roots[:MAX_ROOTS], is_partial)


class GatheredMarks(NamedTuple):
    """Marks of a page, and for each of its glyphs the indices of its run and within it."""

    marks: PageMarks
    places: list[tuple[int, int]]


def gather_marks(
    page: pymupdf.Page, runs: Sequence[TextRun], drawn: DrawnMarks, frames: Sequence[Box]
) -> GatheredMarks:
    """Return the marks of a page from its runs, drawings, images and frames of objects."""
    fonts = EmbeddedFonts(page)
    level = list(_level_characters(runs))
    cut = cut_stretched(page, [_as_glyph(c, fonts) for _, _, c in level])
    seen = [(glyph, (run, k)) for glyph, (run, k, _) in zip(cut, level, strict=True) if glyph]
    usual = median(glyph.size for glyph, _ in seen) if seen else 0.0
    seen = [
        (glyph, place)
        for glyph, place in seen
        if glyph.symbol.kind not in ("letter", "digit") or glyph.size <= _OVERSIZED * usual
    ]
    marks = PageMarks(
        width=page.rect.width,
        height=page.rect.height,
        glyphs=correct_signs(find_vectors([glyph for glyph, _ in seen])),
        bars=tuple(drawn.bars),
        roots=tuple(drawn.roots),
        pictures=tuple(find_pictures(page.get_image_info())),
        frames=tuple(frames),
    )
    return GatheredMarks(marks, [place for _, place in seen])


def _level_characters(runs: Sequence[TextRun]) -> Iterator[tuple[int, int, Character]]:
    """Yield every character that is a mark, with the indices of its run and within it."""
    for place, run in enumerate(runs):
        if not run.is_prose and is_level(run):
            for k, c in enumerate(run.characters):
                if not c.synthetic and (c.code is not None or not c.text.isspace()):
                    yield place, k, c


def is_level(run: TextRun) -> bool:
    """Return whether a line of the text layer runs from left to right."""
    return bool(abs(run.raw["dir"][1]) < 0.05 and run.raw["dir"][0] > 0)


def _as_glyph(c: Character, fonts: EmbeddedFonts) -> Glyph:
    """Return a character as a mark, of kind `unknown` if it cannot be identified."""
    text, name = c.text, None
    if c.glyph_id is not None and (c.code is not None or is_tex(c.font)):
        name = fonts.facts(c.font, c.glyph_id).name
    if text in _SIGMAS and c.font.startswith(_SWAPPED):
        # The final sigma is the one whose ink is below the baseline.
        text = _SIGMAS[c.box.y1 - c.y < _DESCENDER * c.size]
    symbol = identify(c.font, text, name=name)
    return Glyph(c.serial, c.text, symbol, c.font, c.size, c.x, c.y, c.box, c.italic, c.bold)
