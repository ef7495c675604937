"""What a page holds: lines of text and pictures, in PDF points from its top left corner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from omibench.stages.ocr.formulas.marks import Formula


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
        """The smallest box around both."""
        return Box(
            min(self.x0, other.x0),
            min(self.y0, other.y0),
            max(self.x1, other.x1),
            max(self.y1, other.y1),
        )

    def grow(self, dx: float, dy: float) -> Box:
        """The box with `dx` more on the left and right and `dy` more above and below."""
        return Box(self.x0 - dx, self.y0 - dy, self.x1 + dx, self.y1 + dy)

    def touches(self, other: Box) -> bool:
        """Whether the two share a point."""
        return not (
            self.x1 < other.x0 or other.x1 < self.x0 or self.y1 < other.y0 or other.y1 < self.y0
        )

    def holds(self, other: Box) -> bool:
        """Whether the centre of `other` lies inside."""
        x, y = other.centre
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1

    def gap_x(self, other: Box) -> float:
        """Horizontal distance; negative where the two overlap."""
        return max(self.x0, other.x0) - min(self.x1, other.x1)

    def gap_y(self, other: Box) -> float:
        """Vertical distance; negative where the two overlap."""
        return max(self.y0, other.y0) - min(self.y1, other.y1)


PERSON = "person"
"""The engine of a line that a person wrote."""


@dataclass(frozen=True, slots=True)
class Line:
    """One run of text on one baseline.

    `indent` is the distance of its left edge from the left edge of its column and `starts` tells
    whether nothing stands left of it on its row; both are set with the reading order.
    """

    page: int
    box: Box
    text: str
    size: float
    bold: bool = False
    baseline: float = 0.0
    upright: bool = True
    indent: float = 0.0
    starts: bool = True
    stacked: bool = False
    """Part of a fraction or another formula that takes more than one row."""
    engine: str = "textlayer"
    confidence: float | None = None
    """Of the engine that read it, in [0, 1]; None for what a PDF itself says."""
    math_suspect: bool = False
    """Holds a formula that its engine cannot write out: scripts, fractions and roots are lost."""
    running: bool = False
    """Known to be running text, however short."""
    formulas: tuple[Formula, ...] = ()
    """Those that stand in its text between dollar signs, in their order."""
    left_out: str | None = None
    """Why it is no part of what the page says: `handwriting` or `label`."""
    differences: tuple[str, ...] = ()
    """Formulas that two readers read differently, each with its page and box."""


class PanelBox(NamedTuple):
    """A part of a figure under the figure's caption, with its letter if it has one."""

    box: Box
    label: str | None = None


@dataclass(slots=True)
class Picture:
    """One figure on a page, with the caption that names it."""

    page: int
    box: Box
    caption: str | None = None
    number: str | None = None
    """The number that its caption gives it."""
    panels: tuple[PanelBox, ...] = ()


Item = Line | Picture
