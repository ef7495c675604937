"""The contents of a page: lines of text and pictures, in PDF points from its top left corner."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
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
    return reduce(Box.union, boxes)


PERSON = "person"
"""The engine of a line written by a person."""


@dataclass(frozen=True, slots=True)
class Line:
    """One run of text on one baseline.

    `indent` is the distance of its left edge from that of its column, and `starts` is whether it is
    the leftmost in its row; both are set with the reading order.
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
    """Whether it is part of a formula that spans several rows."""
    engine: str = "textlayer"
    confidence: float | None = None
    """The confidence of its engine, in [0, 1]; None for text of the PDF itself."""
    math_suspect: bool = False
    """Whether it has a formula that its engine flattened: scripts, fractions and roots are lost."""
    reasons: tuple[str, ...] = ()
    """The reasons for `math_suspect`, if known, each with page and box."""
    unread: tuple[str, ...] = ()
    """Ink next to it that is in no text, formula or figure, each with page and box."""
    ink_read: float | None = None
    """The share of its ink, and of unread ink next to it, that was read; None without any."""
    running: bool = False
    """Whether it is known to be running text, however short."""
    formulas: tuple[Formula, ...] = ()
    """The formulas in its text between dollar signs, in order."""
    left_out: str | None = None
    """The reason why it is not part of the page's text: `handwriting` or `label`."""
    differences: tuple[str, ...] = ()
    """Formulas on which two readers differ, with page and box."""


class PanelBox(NamedTuple):
    """A part of a figure under the figure's caption, with its letter if any."""

    box: Box
    label: str | None = None


@dataclass(slots=True)
class Picture:
    """One figure on a page, with its caption."""

    page: int
    box: Box
    caption: str | None = None
    number: str | None = None
    """The figure number in its caption."""
    panels: tuple[PanelBox, ...] = ()


Item = Line | Picture


def get_lines(items: Iterable[Item]) -> list[Line]:
    """Return the lines among items."""
    return [item for item in items if isinstance(item, Line)]


def get_text(items: Iterable[Item]) -> str:
    """Return the text of the lines among items, with spaces between them."""
    return " ".join(line.text for line in get_lines(items))
