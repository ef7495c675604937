"""The interface of engines: the lines they read in the picture of a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]
    """An RGB picture of shape (height, width, 3)."""
else:
    Pixels = Any

Point = tuple[float, float]


class Reading(NamedTuple):
    """One line read by an engine, in pixels of the picture.

    `quad` has its corners in reading orientation: top left, top right, bottom right, bottom left.
    `confidence` lies in [0, 1]; None if unknown. `whole` means that the engine writes formulas as
    LaTeX instead of flattening them; `handwritten` lines are left out of the text.
    """

    text: str
    quad: tuple[Point, Point, Point, Point]
    confidence: float | None = None
    whole: bool = False
    handwritten: bool = False

    @property
    def width(self) -> float:
        """The length of the line in the direction of reading."""
        return math.dist(self.quad[0], self.quad[1])

    @property
    def height(self) -> float:
        """The height of the line across the direction of reading."""
        return math.dist(self.quad[0], self.quad[3])


class Engine(Protocol):
    """An engine that reads images locally."""

    @property
    def name(self) -> str:
        """The name of the engine in parameters and on each line of a page."""
        ...

    def upright(self, picture: Pixels) -> tuple[Pixels, int]:
        """Turn the picture upright by quarters; return it and the degrees clockwise."""
        ...

    def read(self, picture: Pixels) -> list[Reading]:
        """Return every line of text in an upright picture, in no particular order."""
        ...


def quarter_turned(picture: Pixels, degrees: int) -> Pixels:
    """Return the picture turned clockwise by a multiple of 90 degrees."""
    import numpy as np

    return np.ascontiguousarray(np.rot90(picture, -degrees // 90)) if degrees else picture
