"""Line drawings as PNG, for generators that need no plotting library."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

INK, PAPER, FAINT = 0, 255, 200
"""Grey values."""
LETTER = 18
"""Height of letters in pixels."""


class Canvas:
    """A white picture to draw on; all lengths are in pixels from its top left corner."""

    def __init__(self, width: int, height: int) -> None:
        from PIL import Image, ImageDraw

        self._image = Image.new("L", (width, height), PAPER)
        self._draw = ImageDraw.Draw(self._image)

    def line(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Draw a line two pixels wide."""
        self._draw.line((x0, y0, x1, y1), INK, 2)

    def box(self, x0: float, y0: float, x1: float, y1: float, *, fill: int = PAPER) -> None:
        """Draw a rectangle with an outline."""
        self._draw.rectangle((x0, y0, x1, y1), fill, INK, 2)

    def dot(self, x: float, y: float) -> None:
        """Draw a filled circle."""
        self._draw.ellipse((x - 5, y - 5, x + 5, y + 5), INK)

    def write(self, x: float, y: float, text: str, *, anchor: str = "mm") -> None:
        """Write a text at a point; `anchor` as in Pillow, by default its middle."""
        self._draw.text((x, y), text, INK, _load_font(), anchor)

    def to_png(self) -> bytes:
        """Return the bytes of the picture."""
        file = io.BytesIO()
        self._image.save(file, "PNG")
        return file.getvalue()


@cache
def _load_font() -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(LETTER)
