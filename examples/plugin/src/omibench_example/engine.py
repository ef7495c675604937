"""OCR engine `page-size`: reads one line off every page, which tells its size in pixels."""

from __future__ import annotations

from omibench.stages.ocr.engines.engine import Pixels, Reading
from omibench.stages.ocr.engines.registry import engine


@engine("page-size")
class PageSize:
    """Needs nothing installed."""

    name = "page-size"

    def upright(self, picture: Pixels) -> tuple[Pixels, int]:
        """The picture as it is."""
        return picture, 0

    def read(self, picture: Pixels) -> list[Reading]:
        """One line over the whole page."""
        height, width = picture.shape[:2]
        quad = ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))
        return [Reading(f"{width} x {height}", quad, confidence=1.0)]
