"""What every engine gives: the lines that it reads in the picture of a page."""

from __future__ import annotations

import math
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
        return math.dist(self.quad[0], self.quad[1])

    @property
    def height(self) -> float:
        """Height of the line across the direction of reading."""
        return math.dist(self.quad[0], self.quad[3])


class Engine(Protocol):
    """Reads pixels on this machine."""

    @property
    def name(self) -> str:
        """The name by which params and every line of a page call it."""
        ...

    def upright(self, picture: Pixels) -> tuple[Pixels, int]:
        """The picture turned by quarters as one reads it, and by how many degrees clockwise."""
        ...

    def read(self, picture: Pixels) -> list[Reading]:
        """Every line of text in a picture that stands upright, in no particular order."""
        ...


class Upright(NamedTuple):
    """A picture as it stands upright, what is read there, and the degrees it was turned by."""

    picture: Pixels
    readings: list[Reading]
    turn: int


def read_upright(picture: Pixels, engine: Engine) -> Upright:
    """Turn a picture by quarters until it can be read, and read it."""
    picture, turn = engine.upright(picture)
    return Upright(picture, engine.read(picture), turn)


def quarter_turned(picture: Pixels, degrees: int) -> Pixels:
    """The picture turned clockwise by a multiple of 90 degrees."""
    import numpy as np

    return np.ascontiguousarray(np.rot90(picture, -degrees // 90)) if degrees else picture
