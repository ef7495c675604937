"""Drawings of a page that are parts of formulas: bars, radical signs and small pictures."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from omibench.stages.ocr.formulas.glyphs.painted import SEQUENCE
from omibench.stages.ocr.formulas.marks import RootSign, Rule, SmallPicture
from omibench.stages.ocr.layout.layout import Box

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
