"""The marked pixels of a page, and those outside of the boxes of what was read.

Masks are pictures of Pillow: importing numpy takes longer than a paper of ten pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from omibench.stages.ocr.layout.layout import Box
from omibench.stages.ocr.layout.patches import Square, bounds, patches

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


class InkPatch(NamedTuple):
    """Connected marked pixels: their box, and their area in square points."""

    box: Box
    area: float


class InkRest(NamedTuple):
    """The marked pixels of a page that were not read.

    `share` is the part of all marked pixels that was read, from 0 to 1.
    """

    share: float
    patches: list[InkPatch]


_NOTHING: Final = InkRest(1.0, [])


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

    def find_rest(self, read: Iterable[Box], unread: Iterable[Box] = ()) -> InkRest:
        """Find the marked pixels that are in no box.

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
        return InkRest(1 - left / _count(marked), self._group(rest)) if left else _NOTHING

    def unpack(self) -> Mask:
        """Return the mask of the page, of mode `1`."""
        from PIL import Image

        return Image.frombytes("1", self.size, self.packed)

    def _group(self, rest: Mask) -> list[InkPatch]:
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
            found.append(InkPatch(box, area))
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
