"""What a page draws that formulas are made of: bars, drawn radical signs and small pictures."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from omibench.stages.ocr.formulas.marks import RootSign, Rule, SmallPicture
from omibench.stages.ocr.formulas.reading.characters import SEQUENCE
from omibench.stages.ocr.layout.layout import Box

Drawing = dict[str, Any]
"""A path as MuPDF tells it."""
_THICK = 1.6
"""Points up to which a rule is one of a formula: bars of display type are .4 to 1.2 thick."""
_LEVEL = 0.3
"""Points by which the ends of a level rule may differ."""
_MEETS = 1.5
"""Points within which a rule meets an upright one."""
_UPRIGHT = 2.0
"""Points that an upright rule is high at least."""
_SHORT = 1.5
"""Points that a rule is long at least."""
_ROOT_HEIGHTS = 5.0, 150.0
_ROOT_SEGMENTS = 3, 12
_PICTURE_HEIGHT = 60.0
"""Points up to which an image may stand in a line, as a formula of a few rows does."""


def find_bars(drawings: Sequence[Drawing]) -> list[Rule]:
    """Every level rule of a page that is no part of a grid or table.

    Stroked lines, thin filled rectangles and thin polygons are rules.

    Args:
        drawings: The page's paths, as `get_drawings` gives them.

    Returns:
        Each rule once; its thickness is that of its ink, in points.
    """
    bars = list(_list_bars(drawings))
    uprights = sorted(_list_uprights(drawings))
    places = [upright.x for upright in uprights]
    return [bar for bar in bars if not _meets(bar, uprights, places)]


def _meets(bar: Rule, uprights: Sequence[UprightRule], places: Sequence[float]) -> bool:
    """Whether a vertical rule ends at a rule or crosses it."""
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
                box = Box(*(item[1] if item[0] == "re" else item[1].rect))
                if _is_thin(box):
                    thickness = max(box.height, stroke)
                    yield Rule(serial, box.x0, box.x1, box.centre[1], thickness)


class UprightRule(NamedTuple):
    """A vertical rule, as those of tables, frames and axes are."""

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
                box = Box(*(item[1] if item[0] == "re" else item[1].rect))
                if box.height >= _UPRIGHT:
                    yield UprightRule(box.x0, box.y0, box.y1)
                    yield UprightRule(box.x1, box.y0, box.y1)


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
