"""The marked pixels of a page, and those outside of the boxes of what was read.

Masks are pictures of Pillow: importing numpy takes longer than a paper of ten pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from glyphtex.marks import Box
from omibench.stages.ocr.corrections.entry import describe_box
from omibench.stages.ocr.layout.layout import Line, Picture
from omibench.stages.ocr.layout.regions import Region, Square, bounds, list_rules, patches

if TYPE_CHECKING:
    import pymupdf
    from PIL.Image import Image as Mask


_DPI = 96
_MAX_SIDE = 2200
"""The maximum side of the picture, in pixels."""
_DARK = 190
"""The brightness, of 255, below which a pixel is marked: a hair line between two rows of pixels
gives 187."""
_CELL = 4
"""The side of the squares in which marked pixels are counted, in pixels."""
_NEAR = 2
"""The distance in squares within which ink is connected."""
_MOST_SQUARES = 20_000
"""The maximum number of squares with unread ink that are grouped."""
_STROKE = 12.0
"""The length in points from which a straight horizontal or vertical stroke is a rule."""
_MARKED: Final = 255
_LEVELS: Final = [_MARKED] * _DARK + [0] * (256 - _DARK)
_INKED: Final = re.compile(rb"[^\0]")


class UnreadInk(NamedTuple):
    """A place of a page with unread ink, a description, and its area in square points."""

    box: Box
    what: str
    area: float = 0.0


class Coverage(NamedTuple):
    """The share of the marked pixels of a page that were read, from 0 to 1, and the unread ink."""

    share: float
    unread: list[UnreadInk]


@dataclass(frozen=True, slots=True)
class PageInk:
    """The marked pixels of a page, as packed bits by rows."""

    packed: bytes
    size: tuple[int, int]
    """Width and height in pixels."""
    scale: float
    """Pixels per point."""

    def measure(self, box: Box) -> float:
        """Return the area of the marked pixels of a box, in square points."""
        place = _cut(box, self.scale, self.size)
        return _count(self.unpack().crop(place)) / self.scale**2 if place else 0.0

    def find_rest(self, read: Iterable[Box], unread: Iterable[Box] = ()) -> Coverage:
        """Find the marked pixels that are in no box, each connected patch of them as a place.

        Long straight strokes do not count: rules, frames, tables, dark panels.

        Args:
            read: The boxes of what was read, and of what was left out on purpose.
            unread: The boxes of unread objects, in which all pixels count.
        """
        marked = self.unpack()
        rest = marked.copy()
        for box in read:
            if place := _cut(box, self.scale, self.size):
                rest.paste(0, place)
        if rest.getbbox():
            _drop_strokes(rest, marked, max(2, int(_STROKE * self.scale)))
        for box in unread:
            if place := _cut(box, self.scale, self.size):
                rest.paste(marked.crop(place), place)
        left = _count(rest) if rest.getbbox() else 0
        return Coverage(1 - left / _count(marked), self._group(rest)) if left else Coverage(1.0, [])

    def unpack(self) -> Mask:
        """Return the mask of the page, of mode `1`."""
        from PIL import Image

        return Image.frombytes("1", self.size, self.packed)

    def _group(self, rest: Mask) -> list[UnreadInk]:
        width, height = (-(-side // _CELL) * _CELL for side in rest.size)
        small = rest.crop((0, 0, width, height)).convert("L").reduce(_CELL)
        data = small.tobytes()
        inked = [match.start() for match in _INKED.finditer(data)][:_MOST_SQUARES]
        counts: dict[Square, float] = {
            divmod(place, small.width): data[place] * _CELL**2 / _MARKED for place in inked
        }
        side = _CELL / self.scale
        found = []
        for patch in patches(counts, _NEAR):
            x0, y0, x1, y1 = bounds(patch)
            area = round(sum(counts[square] for square in patch)) / self.scale**2
            box = Box(x0 * side, y0 * side, (x1 + 1) * side, (y1 + 1) * side)
            found.append(UnreadInk(box, _describe("mark", box), area))
        return found


def render_ink(page: pymupdf.Page, skipped: Sequence[Box] = ()) -> PageInk:
    """Render a page in grey and find its marked pixels.

    Args:
        page: Page with its rotation removed.
        skipped: Boxes of pictures to leave out, since most of the time is for decoding them.
    """
    from PIL import Image

    sheet = Box(*page.rect)
    scale = min(_DPI / 72, _MAX_SIDE / max(sheet.width, sheet.height, 1.0))
    size = round(sheet.width * scale) + 1, round(sheet.height * scale) + 1
    marked = Image.new("1", size)
    _paint(marked, page, list(_list_strips(sheet, skipped)), scale)
    return PageInk(marked.tobytes(), size, scale)


def add_ink(ink: PageInk, page: pymupdf.Page, boxes: Sequence[Box]) -> PageInk:
    """Return the marked pixels of a page with those of boxes that were skipped."""
    marked = ink.unpack()
    _paint(marked, page, boxes, ink.scale)
    return PageInk(marked.tobytes(), ink.size, ink.scale)


def _paint(marked: Mask, page: pymupdf.Page, boxes: Sequence[Box], scale: float) -> None:
    import pymupdf
    from PIL import Image

    listing, matrix = page.get_displaylist(), pymupdf.Matrix(scale, scale)
    for box in boxes:
        picture = listing.get_pixmap(
            matrix=matrix, colorspace=pymupdf.csGRAY, alpha=0, clip=pymupdf.Rect(*box)
        )
        size = picture.width, picture.height
        if min(size) > 0:
            grey = Image.frombuffer("L", size, picture.samples, "raw", "L", picture.stride, 1)
            marked.paste(grey.point(_LEVELS, "1"), (picture.x, picture.y))


def _list_strips(sheet: Box, skipped: Sequence[Box]) -> Iterator[Box]:
    """Yield rectangles that together are a page without some boxes."""
    edges = {sheet.y0, sheet.y1}
    edges |= {y for box in skipped for y in (box.y0, box.y1) if sheet.y0 < y < sheet.y1}
    for y0, y1 in pairwise(sorted(edges)):
        x = sheet.x0
        for box in sorted(box for box in skipped if box.y0 < y1 and box.y1 > y0):
            if box.x0 > x:
                yield Box(x, y0, min(box.x0, sheet.x1), y1)
            x = max(x, box.x1)
        if x < sheet.x1:
            yield Box(x, y0, sheet.x1, y1)


def _cut(box: Box, scale: float, size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """Return the pixels of a mask that a box touches, without its end, or None."""
    x0, y0 = max(0, _bound(box.x0 * scale, size[0])), max(0, _bound(box.y0 * scale, size[1]))
    x1, y1 = _bound(box.x1 * scale, size[0]) + 1, _bound(box.y1 * scale, size[1]) + 1
    x1, y1 = min(size[0], x1), min(size[1], y1)
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def _bound(place: float, most: int) -> int:
    """Return a whole number of pixels, at least -1; a page can place text at infinity."""
    return int(max(-1.0, min(place, most)))


def _count(mask: Mask) -> int:
    return mask.histogram()[_MARKED]


def _drop_strokes(rest: Mask, marked: Mask, length: int) -> None:
    """Unmark the runs of at least `length` marked pixels in a row or a column."""
    for across, down in ((1, 0), (0, 1)):
        rest.paste(0, (0, 0, *rest.size), _find_runs(marked, length, across, down))


def _find_runs(marked: Mask, length: int, across: int, down: int) -> Mask:
    """Return the runs in one direction: shrunk to their first pixels, then grown again, by doubled
    steps."""
    from PIL import ImageChops

    steps, reach = [], 1
    while reach < length:
        steps.append(min(reach, length - reach))
        reach += steps[-1]
    runs = marked
    for step in steps:
        runs = ImageChops.logical_and(runs, _shift(runs, -step * across, -step * down))
    for step in steps:
        runs = ImageChops.logical_or(runs, _shift(runs, step * across, step * down))
    return runs


def _shift(mask: Mask, x: int, y: int) -> Mask:
    from PIL import Image

    shifted = Image.new("1", mask.size)
    shifted.paste(mask, (x, y))
    return shifted


# Ink of a page that is in no text, formula or figure, so that nothing is lost silently.
#
# The reading is compared with the painted objects (glyphs, pictures, drawings) by their boxes, and
# with the marked pixels of the rendered page. These also show what is no object of the page, such
# as text of annotations, and glyphs whose boxes are false.

_MARGIN = 0.07
"""The share of a page's height at its top and bottom for heads and feet."""
_SMALLEST = 5.0
"""The side in points up to which a drawing is a bullet, a tick or an arrow head."""
_SMALLEST_PICTURE = 3.0
"""The same for an embedded picture."""
_STROKES = 4
"""The minimum number of parts of a drawing; outlines of letters have more."""
_NEAR_COVERAGE = 6.0
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
    if any(patch.area >= _LEAST for patch in rest.unread):
        rest = ink.find_rest([*covered, *list_rules(page)], objects)
    if len(found) < _MOST:
        found += _list_patches(rest, found)
    return Coverage(rest.share, found[:_MOST])


def _list_objects(regions: Sequence[Region], lines: Sequence[Line]) -> Iterator[UnreadInk]:
    for region in regions:
        if _may_say_something(region, lines):
            what = "picture" if region.raster else "drawing"
            yield UnreadInk(region.box, _describe(what, region.box))


def _list_patches(rest: Coverage, found: Sequence[UnreadInk]) -> list[UnreadInk]:
    """Return the unread patches, largest first, without those of objects that were found."""
    least = _LEAST if rest.share >= _PAGE else 0.0
    return [
        patch
        for patch in sorted(rest.unread, key=lambda patch: -patch.area)
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
    is_rule = region.ruled or region.framed
    return not (is_rule or _is_mark(region) or any(region.box.holds(line.box) for line in lines))


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
    around = box.grow(_NEAR_COVERAGE, 0)
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
        if line.upright and -_NEAR_COVERAGE < gap < _BELOW and line.box.gap_x(box) < _BELOW:
            yield gap, line
