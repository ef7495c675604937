"""Find drawings on a scanned page: boxes of ink outside of text lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from omibench.stages.ocr.engines.engine import Pixels
from omibench.stages.ocr.layout.layout import Box, Line
from omibench.stages.ocr.layout.marks import Region
from omibench.stages.ocr.layout.patches import Square, bounds, patches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[Any]
else:
    Mask = Any

CELL = 3.0
"""The side of the squares in which ink is measured, in points."""
_NEAR = 2
"""The distance in squares within which ink is connected."""
_DARK, _FAINT = 0.72, 0.87
"""The share of the local paper brightness below which a pixel is ink, for high and low noise."""
_SURE = 6.0
"""The number of standard deviations of paper noise by which faint ink must be darker."""
_INKED = 0.04
"""The share of dark pixels above which a square counts; less is scanner noise."""
_HOLLOW = 0.01
_CLOSED = 0.85
"""The shares of inked squares: maximum within a frame, minimum along each side."""
_REMAINS = 5.0
"""The distance in points around a line of text within which ink belongs to the line."""
_EDGE = 6.0


def regions_of_scan(picture: Pixels, lines: Sequence[Line], scale: float) -> list[Region]:
    """Return patches of ink outside of the lines of a page; `scale` is pixels per point.

    Thin shadows along the edges of the sheet and ink that sticks out of lines are excluded.
    """
    squares = _find_ink(picture, scale)
    for line in lines:
        box = line.box.grow(1.0, 1.0)
        rows = slice(max(0, int(box.y0 / CELL)), max(0, round(box.y1 / CELL)))
        columns = slice(max(0, int(box.x0 / CELL)), max(0, round(box.x1 / CELL)))
        squares[rows, columns] = False
    height, width = squares.shape
    sheet = Box(0, 0, width * CELL, height * CELL)
    regions = [
        Region(
            Box(x0 * CELL, y0 * CELL, (x1 + 1) * CELL, (y1 + 1) * CELL),
            raster=True,
            framed=_is_hollow(squares[y0 : y1 + 1, x0 : x1 + 1]),
        )
        for x0, y0, x1, y1 in map(bounds, patches(_list_squares(squares), _NEAR))
    ]
    text = [line.box.grow(_REMAINS, _REMAINS) for line in lines]
    return [
        region
        for region in regions
        if not _is_shadow(region.box, sheet) and not any(_is_within(region.box, t) for t in text)
    ]


def _find_ink(picture: Pixels, scale: float) -> Mask:
    """Return which squares of the page contain ink, as a boolean array (rows, columns)."""
    import numpy as np
    from PIL import Image, ImageFilter

    grey = Image.fromarray(picture).convert("L")
    width, height = grey.size
    small = grey.resize((max(1, width // 16), max(1, height // 16)), Image.Resampling.BOX)
    paper = small.filter(ImageFilter.MaxFilter(5)).filter(ImageFilter.GaussianBlur(3))
    around = np.asarray(paper.resize(grey.size, Image.Resampling.BILINEAR), np.float32)
    bright = np.asarray(grey, np.float32) / np.maximum(around, 1.0)
    usual = float(np.median(bright[::4, ::4]))
    noise = 1.48 * float(np.median(np.abs(bright[::4, ::4] - usual)))
    dark = (bright < min(_FAINT, max(_DARK, usual - _SURE * noise))).astype(np.float32)
    columns, rows = max(1, round(width / scale / CELL)), max(1, round(height / scale / CELL))
    share = Image.fromarray(dark).resize((columns, rows), Image.Resampling.BOX)
    return np.asarray(share) > _INKED


def _list_squares(squares: Mask) -> list[Square]:
    return [(int(y), int(x)) for y, x in zip(*squares.nonzero(), strict=True)]


def _is_hollow(patch: Mask) -> bool:
    """Return whether a patch has ink along all sides and almost none inside, like a frame."""
    inside = patch[_NEAR:-_NEAR, _NEAR:-_NEAR]
    if min(inside.shape) < 2 or inside.mean() > _HOLLOW:
        return False
    ends = (patch[:_NEAR].any(axis=0), patch[-_NEAR:].any(axis=0))
    sides = (patch[:, :_NEAR].any(axis=1), patch[:, -_NEAR:].any(axis=1))
    return all(edge.mean() > _CLOSED for edge in (*ends, *sides))


def _is_within(box: Box, outer: Box) -> bool:
    return box.union(outer) == outer


def _is_shadow(box: Box, sheet: Box) -> bool:
    at_edge = (
        box.x0 < _EDGE or box.y0 < _EDGE or box.x1 > sheet.x1 - _EDGE or box.y1 > sheet.y1 - _EDGE
    )
    return at_edge and min(box.width, box.height) < 3 * _EDGE
