"""Boxes of the ink of characters, from MuPDF's XML listing."""

from __future__ import annotations

import re

from omibench.stages.ocr.layout.layout import Box

_QUAD = re.compile(r'<char c="[^"]*"(?: hexc="[^"]*")? quad="([^"]*)" x="([^"]*)" y="([^"]*)"')
_MOST_BEYOND = 200
"""Maximum number of consecutive characters that one listing may lack."""
_NEAR = 0.01
"""Maximum difference between the positions of a character in two listings, in points."""


class InkBoxes:
    """Boxes of a listing in its order; `rawdict` omits those beyond the page.

    Args:
        listing: XML of a text page with accurate boxes.
    """

    def __init__(self, listing: str) -> None:
        self._rows = [(float(x), float(y), quad) for quad, x, y in _QUAD.findall(listing)]
        self._place = 0

    def skip(self, count: int) -> None:
        """Leave out the next characters."""
        self._place += count

    def find(self, x: float, y: float) -> Box | None:
        """Return the box of the next character whose origin is (x, y)."""
        rows, place = self._rows, self._place
        for k in range(place, min(place + _MOST_BEYOND, len(rows))):
            at_x, at_y, quad = rows[k]
            if -_NEAR < at_x - x < _NEAR and -_NEAR < at_y - y < _NEAR:
                self._place = k + 1
                return _bound(quad)
        return None


def _bound(quad: str) -> Box:
    """Return the box of a quadrilateral, written as upper left, upper right, lower left and right
    corner."""
    numbers = quad.split()
    left, top, right, _, _, bottom, _, _ = numbers
    if numbers == [left, top, right, top, left, bottom, right, bottom]:
        x0, y0, x1, y1 = float(left), float(top), float(right), float(bottom)
        if x0 <= x1 and y0 <= y1:
            return Box(x0, y0, x1, y1)
    xs, ys = list(map(float, numbers[::2])), list(map(float, numbers[1::2]))
    return Box(min(xs), min(ys), max(xs), max(ys))
