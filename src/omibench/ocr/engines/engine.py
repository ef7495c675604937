"""What every engine gives: the lines that it reads in the picture of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]
    """A picture in RGB, of shape (height, width, 3)."""
else:
    Pixels = Any

Point = tuple[float, float]


class Reading(NamedTuple):
    """One line as an engine reads it, in pixels of the picture.

    `quad` are its corners as one reads it: top left, top right, bottom right, bottom left.
    `confidence` lies in [0, 1]; None where the engine gives none. `whole` tells that the engine
    writes formulas out, in LaTeX, so that none is flattened.
    """

    text: str
    quad: tuple[Point, Point, Point, Point]
    confidence: float | None = None
    whole: bool = False

    @property
    def width(self) -> float:
        """Length of the line in the direction of reading."""
        (x0, y0), (x1, y1), *_ = self.quad
        return ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5

    @property
    def height(self) -> float:
        """Height of the line across the direction of reading."""
        (x0, y0), *_, (x3, y3) = self.quad
        return ((x3 - x0) ** 2 + (y3 - y0) ** 2) ** 0.5


class Engine(Protocol):
    """Reads pixels on this machine."""

    @property
    def name(self) -> str:
        """The name by which params and every line of a page call it."""
        ...

    def read(self, picture: Pixels) -> list[Reading]:
        """Every line of text in a picture that stands upright, in no particular order."""
        ...

    def turned(self, picture: Pixels) -> int:
        """By how many degrees clockwise (0, 90, 180, 270) a picture must be turned to be read."""
        ...
