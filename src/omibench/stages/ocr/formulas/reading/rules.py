"""What a page draws that formulas are made of: bars, drawn radical signs and small pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from omibench.stages.ocr.formulas.marks import Bar, RootSign, SmallPicture
from omibench.stages.ocr.formulas.reading.characters import SEQUENCE
from omibench.stages.ocr.layout.layout import Box

Drawing = dict[str, Any]
"""A path as MuPDF tells it."""
_THICK = 1.6
"""Points up to which a rule is one of a formula: bars of display type are .4 to 1.2 thick."""
_LEVEL = 0.3
"""Points by which the ends of a level rule may differ."""
_SHORT = 1.5
"""Points that a rule is long at least."""
_ROOT_HEIGHTS = 5.0, 150.0
_ROOT_SEGMENTS = 3, 12
_PICTURE_HEIGHT = 60.0
"""Points up to which an image may stand in a line, as a formula of a few rows does."""


def find_bars(drawings: Sequence[Drawing]) -> Iterator[Bar]:
    """Every level rule of a page: stroked lines, thin filled rectangles, thin polygons.

    Args:
        drawings: The page's paths, as `get_drawings` gives them.

    Yields:
        Each rule once; its thickness is that of its ink, in points.
    """
    for drawing in drawings:
        serial = drawing["seqno"] * SEQUENCE
        stroke = (drawing.get("width") or 0.0) if drawing.get("color") else 0.0
        whole = Box(*drawing["rect"])
        items = drawing["items"]
        if len(items) > 1 and _is_thin(whole) and whole.height:
            yield Bar(serial, whole.x0, whole.x1, whole.centre[1], whole.height)
            continue
        for item in items:
            if item[0] == "l" and stroke:
                (ax, ay), (bx, by) = item[1], item[2]
                if abs(ay - by) <= _LEVEL and abs(ax - bx) >= _SHORT and stroke <= _THICK:
                    yield Bar(serial, min(ax, bx), max(ax, bx), (ay + by) / 2, stroke)
            elif item[0] in ("re", "qu"):
                box = Box(*(item[1] if item[0] == "re" else item[1].rect))
                if _is_thin(box):
                    thickness = max(box.height, stroke)
                    yield Bar(serial, box.x0, box.x1, box.centre[1], thickness)


def find_roots(drawings: Sequence[Drawing]) -> Iterator[RootSign]:
    """Every path that has the shape of a radical sign, filled or stroked."""
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
    """Every image of a page that is low enough to stand in a line of text.

    Args:
        images: As `get_image_info` gives them.
    """
    for image in images:
        box = Box(*image["bbox"])
        if 2 <= box.height <= _PICTURE_HEIGHT and box.width >= 2:
            yield SmallPicture(image["number"], box)


def _is_thin(box: Box) -> bool:
    return box.height <= _THICK and box.width >= max(_SHORT, 2 * box.height)


def _is_radical(points: Sequence[tuple[float, float]], box: Box) -> bool:
    """Whether a path goes from a mid height down to its bottom and up to the top, rightwards."""
    x_low, _ = max(points, key=lambda p: p[1])
    top = [x for x, y in points if y < box.y0 + 0.12 * box.height]
    left_y = min(points, key=lambda p: p[0])[1]
    share = (left_y - box.y0) / box.height
    slopes = any(
        abs(a[0] - b[0]) > 0.5 and abs(a[1] - b[1]) > 0.5 * box.height for a, b in pairwise(points)
    )
    left_of_top = bool(top) and x_low < min(top)
    return left_of_top and slopes and 0.2 < share < 0.9 and box.y1 - 0.5 < max(p[1] for p in points)
