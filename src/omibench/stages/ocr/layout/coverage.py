"""Ink of a page that is in no text, formula or figure, so that nothing is lost silently.

The reading is compared with the painted objects (glyphs, pictures, drawings) by their boxes, and
with the marked pixels of the rendered page. These also show what is no object of the page, such as
text of annotations, and glyphs whose boxes are false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from omibench.stages.ocr.corrections.entry import describe_box
from omibench.stages.ocr.layout.ink import InkRest, PageInk, add_ink, render_ink
from omibench.stages.ocr.layout.layout import Box, Line, Picture
from omibench.stages.ocr.layout.marks import Region, list_rules

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
"""The minimum share of marked pixels in the box of an object."""
_LEAST = 1.5
"""The area of connected unread ink that is reported, in square points: a dot has 2, a digit 10."""
_PAGE = 0.99
"""The share of a page's marked pixels below which also smaller unread ink is reported."""
_AROUND = 1.5
"""The distance in points from a word within which ink belongs to it."""
_LARGE = 30.0
"""The side in points above which an embedded picture is not rendered if it is in a figure."""
_MOST_SKIPPED = 8
"""The maximum number of such pictures of a page."""
_MOST = 50
"""The maximum number of places reported for a page."""


class UnreadInk(NamedTuple):
    """A place of a page with unread ink, a description, and its area in square points."""

    box: Box
    what: str
    area: float = 0.0


@dataclass(slots=True)
class PageMarkings:
    """What a page with a text layer paints, to compare it with the reading."""

    ink: PageInk
    words: Sequence[Box]
    """The boxes of the words of the text layer."""
    glyphs: Sequence[UnreadInk] = ()
    """Glyphs that the text layer lacks or has as spaces."""
    skipped: Sequence[Box] = ()
    """Pictures that are not rendered."""
    left_out: list[Box] = field(default_factory=list)
    """What is not part of the paper, such as a logo on many pages."""
    settled: list[Box] = field(default_factory=list)
    """Places at which a person has corrected the reading."""


class Coverage(NamedTuple):
    """The share of the marked pixels of a page that were read, from 0 to 1, and the unread ink."""

    share: float
    unread: list[UnreadInk]


def read_markings(
    page: pymupdf.Page,
    words: Iterable[Box],
    glyphs: Sequence[UnreadInk],
    regions: Sequence[Region] = (),
) -> PageMarkings:
    """Render a page and list the words of its text layer.

    Args:
        page: Page with its rotation removed.
        words: Further words, which the text layer has as spaces.
        glyphs: Glyphs that are missing in the text layer, or are spaces there.
        regions: Drawings and embedded pictures. Large pictures are not decoded, since most are in
            figures.
    """
    import pymupdf

    pictures = [region.box for region in regions if region.raster and _is_large(region.box)]
    skipped = sorted(pictures, key=lambda box: -box.width * box.height)[:_MOST_SKIPPED]

    flags = pymupdf.TEXTFLAGS_TEXT | pymupdf.TEXT_ACCURATE_BBOXES
    listed = (Box(*word[:4]) for word in page.get_textpage(flags=flags).extractWORDS())
    ink = render_ink(page, [box.grow(1, 1) for box in skipped])
    return PageMarkings(ink, [*listed, *words], glyphs, skipped)


def _is_large(box: Box) -> bool:
    return min(box.width, box.height) > _LARGE


def measure_coverage(
    page: pymupdf.Page,
    markings: PageMarkings,
    regions: Sequence[Region],
    pictures: Sequence[Picture],
    lines: Sequence[Line],
) -> Coverage:
    """Measure the share of a page's ink in text, formulas and figures, and find the rest.

    Rules, frames and tables, small marks such as bullets, and the margins of heads and feet are
    ignored.

    Args:
        page: Page with its rotation removed.
        markings: What the page paints.
        regions: Drawings and embedded pictures, without those on many pages.
        pictures: Figures of the page.
        lines: Lines of the page.
    """
    read = [picture.box.grow(3, 3) for picture in pictures]
    formulas = [formula for line in lines for formula in line.formulas]
    read += [box.grow(2, 2) for formula in formulas for box in formula.region.boxes]
    read += markings.settled
    margins = _list_margins(Box(*page.rect))
    covered = [*read, *margins, *(word.grow(_AROUND, _AROUND) for word in markings.words)]
    covered += [region.box.grow(1, 1) for region in regions if _is_mark(region)]
    covered += [box.grow(1, 1) for box in markings.left_out]
    ink = markings.ink
    if hidden := [
        box for box in markings.skipped if not any(other.union(box) == other for other in covered)
    ]:
        ink = add_ink(ink, page, [box.grow(1, 1) for box in hidden])
    found = [
        place._replace(area=ink.measure(place.box))
        for place in (*markings.glyphs, *_list_objects(regions, lines))
        if not any(box.holds(place.box) for box in (*read, *margins))
        and ink.measure(place.box) >= _INK * place.box.width * place.box.height > 0
    ]
    objects = [place.box for place in found]
    rest = ink.find_rest(covered, objects)
    if any(patch.area >= _LEAST for patch in rest.patches):
        rest = ink.find_rest([*covered, *list_rules(page)], objects)
    if len(found) < _MOST:
        found += _list_patches(rest, found)
    return Coverage(rest.share, found[:_MOST])


def _list_objects(regions: Sequence[Region], lines: Sequence[Line]) -> Iterator[UnreadInk]:
    for region in regions:
        if _may_say_something(region, lines):
            what = "picture" if region.raster else "drawing"
            yield UnreadInk(region.box, _describe(what, region.box))


def _list_patches(rest: InkRest, found: Sequence[UnreadInk]) -> list[UnreadInk]:
    """Return the unread patches, largest first, without those of objects that were found."""
    least = _LEAST if rest.share >= _PAGE else 0.0
    return [
        UnreadInk(patch.box, _describe("mark", patch.box), patch.area)
        for patch in sorted(rest.patches, key=lambda patch: -patch.area)
        if patch.area >= least and not any(ink.box.grow(1, 1).touches(patch.box) for ink in found)
    ]


def note_unread(
    number: int, lines: Sequence[Line], found: Sequence[UnreadInk], ink: PageInk
) -> dict[int, Line]:
    """Note unread ink at the lines next to it or, if there are none, at the line above it.

    Args:
        number: Page number, from 1.
        lines: Lines of the page.
        found: Unread ink, from `measure_coverage`.
        ink: The marked pixels of the page.

    Returns:
        The annotated lines, by id of the original line, with the share of their ink that was read.
    """
    noted: dict[int, Line] = {}
    for place in found:
        home = _find_line(place.box, lines)
        if home is not None:
            line = noted.get(id(home), home)
            reason = f"{describe_box(number, place.box)}: {place.what}"
            before = 1.0 if line.ink_read is None else line.ink_read
            share = place.area / max(ink.measure(home.box.union(place.box)), place.area, 1.0)
            noted[id(home)] = replace(
                line, unread=(*line.unread, reason), ink_read=max(0.0, before - share)
            )
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


def _is_mark(region: Region) -> bool:
    """Return whether a drawing or a picture is too small or too simple to be text."""
    side = min(region.box.width, region.box.height)
    if region.raster:
        return side < _SMALLEST_PICTURE
    is_simple = region.strokes < _STROKES and not (region.ruled or region.framed)
    return is_simple or side < _SMALLEST


def _list_margins(sheet: Box) -> list[Box]:
    """Return the strips of a page for heads and feet."""
    margin = _MARGIN * sheet.height
    return [sheet._replace(y1=sheet.y0 + margin), sheet._replace(y0=sheet.y1 - margin)]


def _describe(what: str, box: Box) -> str:
    return f"a {what} of {box.width:.0f} x {box.height:.0f} points"


def _find_line(box: Box, lines: Sequence[Line]) -> Line | None:
    around = box.grow(_NEAR, 0)
    beside = [line for line in lines if line.upright and around.touches(line.box)]
    if beside:
        return min(beside, key=lambda line: abs(line.box.centre[1] - box.centre[1]))
    in_row = [line for line in lines if line.upright and _is_in_row(box, line.box)]
    if in_row:
        return min(in_row, key=lambda line: line.box.gap_x(box))
    above = list(_list_above(box, lines))
    return min(above, key=lambda pair: pair[0])[1] if above else None


def _is_in_row(box: Box, line: Box) -> bool:
    """Return whether ink is in the row of a line, in a gap between words."""
    return -line.gap_y(box) > 0.5 * min(line.height, box.height) and line.gap_x(box) < _BELOW


def _list_above(box: Box, lines: Sequence[Line]) -> Iterator[tuple[float, Line]]:
    for line in lines:
        gap = box.y0 - line.box.y1
        if line.upright and -_NEAR < gap < _BELOW and line.box.gap_x(box) < _BELOW:
            yield gap, line
