"""The OCR engine `page-size`: it reads one line from every page, the page's size in pixels."""

from __future__ import annotations

from omibench.stages.ocr.engines.engine import Pixels, Reading
from omibench.stages.ocr.engines.registry import engine


@engine("page-size")
class PageSize:
    """Return True, since nothing has to be installed."""

    name = "page-size"

    def upright(self, picture: Pixels) -> tuple[Pixels, int]:
        """Return the picture unchanged."""
        return picture, 0

    def read(self, picture: Pixels) -> list[Reading]:
        """Return one line over the whole page."""
        height, width = picture.shape[:2]
        quad = ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))
        return [Reading(f"{width} x {height}", quad, confidence=1.0)]
