"""Rectangles on a page, in PDF points from its top left corner."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle (x0, y0, x1, y1) in points; y grows downwards."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def centre(self) -> tuple[float, float]:
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    def union(self, other: Box) -> Box:
        """Return the smallest box around both."""
        return Box(
            min(self.x0, other.x0),
            min(self.y0, other.y0),
            max(self.x1, other.x1),
            max(self.y1, other.y1),
        )

    def clip(self, sheet: Box) -> Box:
        """Return the part of the box on a sheet; its corners change places if there is none."""
        return Box(
            max(self.x0, sheet.x0),
            max(self.y0, sheet.y0),
            min(self.x1, sheet.x1),
            min(self.y1, sheet.y1),
        )

    def round(self, digits: int = 1) -> tuple[float, float, float, float]:
        """Return the corners, rounded, as in files."""
        return tuple(round(edge, digits) for edge in self)  # type: ignore[return-value]

    def grow(self, dx: float, dy: float) -> Box:
        """Return the box grown by `dx` on the left and right and by `dy` above and below."""
        return Box(self.x0 - dx, self.y0 - dy, self.x1 + dx, self.y1 + dy)

    def touches(self, other: Box) -> bool:
        """Return whether the two share a point."""
        return not (
            self.x1 < other.x0 or other.x1 < self.x0 or self.y1 < other.y0 or other.y1 < self.y0
        )

    def holds(self, other: Box) -> bool:
        """Return whether the centre of `other` lies inside."""
        x, y = other.centre
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1

    def gap_x(self, other: Box) -> float:
        """Return the horizontal distance; negative if the two overlap."""
        return max(self.x0, other.x0) - min(self.x1, other.x1)

    def gap_y(self, other: Box) -> float:
        """Return the vertical distance; negative if the two overlap."""
        return max(self.y0, other.y0) - min(self.y1, other.y1)


def unite(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around at least one box."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return Box(min(x0), min(y0), max(x1), max(y1))
