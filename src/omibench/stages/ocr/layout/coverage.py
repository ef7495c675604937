"""Ink of a page that is in no text, formula or figure, so that nothing is lost silently.

The painted objects (glyphs, pictures, drawings) are compared with the reading by boxes. Only the
rest is rendered, to check for ink.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from omibench.stages.ocr.corrections.entry import describe_box
from omibench.stages.ocr.layout.layout import Box, Line, Picture
from omibench.stages.ocr.layout.marks import Region

if TYPE_CHECKING:
    import pymupdf

_MARGIN = 0.07
"""The share of a page's height at its top and bottom for heads and feet."""
_SMALLEST = 5.0
"""The side in points up to which a drawing is a bullet, a tick or an arrow head."""
_SMALLEST_PICTURE = 3.0
"""The same for an embedded picture."""
_STROKES = 4
"""The minimum number of parts of a drawing; outlines of letters have more."""
_NEAR = 6.0
"""The distance in points from a line within which ink may be part of it."""
_BELOW = 40.0
"""The distance in points below a line within which unassigned ink may belong to its problem."""
_INK = 0.02
"""The minimum share of dark pixels in a box."""
_DARK = 160
_MOST = 50
"""The maximum number of places checked on a page."""


class UnreadInk(NamedTuple):
    """A place of a page with unread ink, and a description of it."""

    box: Box
    what: str


def find_unread(
    page: pymupdf.Page,
    regions: Sequence[Region],
    pictures: Sequence[Picture],
    lines: Sequence[Line],
    glyphs: Iterable[UnreadInk],
) -> list[UnreadInk]:
    """Find the ink of a page that is in no text, formula or figure.

    Rules, frames and tables, small marks such as bullets, and the margins of heads and feet are
    ignored.

    Args:
        page: Page with its rotation removed.
        regions: Drawings and embedded pictures, without those on many pages.
        pictures: Figures of the page.
        lines: Lines of the page.
        glyphs: Glyphs that are missing in the text layer, or are spaces there.
    """
    read = [picture.box.grow(3, 3) for picture in pictures]
    read += [formula.region.box.grow(2, 2) for line in lines for formula in line.formulas]
    found = [ink for ink in glyphs if not any(box.holds(ink.box) for box in read)]
    for region in regions:
        if _may_say_something(region, lines) and not any(box.holds(region.box) for box in read):
            what = "picture" if region.raster else "drawing"
            size = f"{region.box.width:.0f} x {region.box.height:.0f} points"
            found.append(UnreadInk(region.box, f"a {what} of {size}"))
    height = page.rect.height
    inside = (ink for ink in found if _MARGIN * height < ink.box.centre[1] < (1 - _MARGIN) * height)
    return [ink for ink, _ in zip(inside, range(_MOST), strict=False) if _has_ink(page, ink.box)]


def note_unread(number: int, lines: Sequence[Line], found: Sequence[UnreadInk]) -> dict[int, Line]:
    """Note unread ink at the lines next to it or, if there are none, at the line above it.

    Args:
        number: Page number, from 1.
        lines: Lines of the page.
        found: Output of `find_unread`.

    Returns:
        The annotated lines, by id of the original line.
    """
    noted: dict[int, Line] = {}
    by_id = {id(line): line for line in lines}
    for ink in found:
        home = _find_line(ink.box, lines)
        if home is not None:
            line = noted.get(id(home), by_id[id(home)])
            reason = f"{describe_box(number, ink.box)}: {ink.what}"
            noted[id(home)] = replace(line, unread=(*line.unread, reason))
    return noted


def _may_say_something(region: Region, lines: Sequence[Line]) -> bool:
    box = region.box
    if any(box.holds(line.box) for line in lines):
        return False
    if region.raster:
        return min(box.width, box.height) >= _SMALLEST_PICTURE
    if region.ruled or region.framed or region.strokes < _STROKES:
        return False
    return min(box.width, box.height) >= _SMALLEST


def _has_ink(page: pymupdf.Page, box: Box) -> bool:
    """Return whether enough pixels of a box are dark."""
    import pymupdf

    pixels = page.get_pixmap(clip=pymupdf.Rect(*box), colorspace=pymupdf.csGRAY, alpha=False)
    samples = pixels.samples
    return bool(samples) and sum(value < _DARK for value in samples) >= _INK * len(samples)


def _find_line(box: Box, lines: Sequence[Line]) -> Line | None:
    around = box.grow(_NEAR, 0)
    beside = [line for line in lines if line.upright and around.touches(line.box)]
    if beside:
        return min(beside, key=lambda line: abs(line.box.centre[1] - box.centre[1]))
    above = list(_list_above(box, lines))
    return min(above, key=lambda pair: pair[0])[1] if above else None


def _list_above(box: Box, lines: Sequence[Line]) -> Iterator[tuple[float, Line]]:
    for line in lines:
        gap = box.y0 - line.box.y1
        if line.upright and -_NEAR < gap < _BELOW and line.box.gap_x(box) < _BELOW:
            yield gap, line
