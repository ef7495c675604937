"""What every engine gives: the lines that it reads in the picture of a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]
    """A picture in RGB, of shape (height, width, 3)."""
else:
    Pixels = Any

Point = tuple[float, float]
SURE = 0.8


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

    def on_side(self, picture: Pixels) -> int:
        """By how many degrees clockwise (0, 90, 270) a picture that lies on its side must turn."""
        ...

    def on_head(self, picture: Pixels) -> bool:
        """Whether a picture with level lines is read far better upside down."""
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
    turn = engine.on_side(picture)
    picture = quarter_turned(picture, turn)
    readings = engine.read(picture)
    if not is_sure(readings) and engine.on_head(picture):
        turn = (turn + 180) % 360
        picture = quarter_turned(picture, 180)
        readings = engine.read(picture)
    return Upright(picture, readings, turn)


def quarter_turned(picture: Pixels, degrees: int) -> Pixels:
    """The picture turned clockwise by a multiple of 90 degrees."""
    import numpy as np

    return np.ascontiguousarray(np.rot90(picture, -degrees // 90)) if degrees else picture


def is_sure(readings: Sequence[Reading]) -> bool:
    """Whether characters are read with a mean confidence of 0.8."""
    total = sum(len(r.text) for r in readings)
    sure = sum(len(r.text) * (1.0 if r.confidence is None else r.confidence) for r in readings)
    return total > 0 and sure >= SURE * total
