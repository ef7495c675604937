"""Pictures of pages to read, and an engine that knows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pymupdf

from omibench.stages.ocr.engines.engine import Reading, quarter_turned

LINES = (
    "1. A ball falls from a tower of height 20 m. How long does it fall?",
    "(A) one second",
    "(B) two seconds",
    "2. How far does a train go in half an hour at full speed?",
)


def page_picture(dpi: int = 100, lines: tuple[str, ...] = LINES) -> Any:
    """A page of four lines in RGB, of shape (height, width, 3)."""
    pdf = pymupdf.open()
    page = pdf.new_page(width=420, height=300)
    for k, text in enumerate(lines):
        page.insert_text((30, 60 + 40 * k), text, fontsize=12)
    pixels = page.get_pixmap(dpi=dpi)
    return np.frombuffer(pixels.samples, np.uint8).reshape(pixels.height, pixels.width, 3)


def reading(text: str, x: float, y: float, height: float = 20, **more: Any) -> Reading:
    """A level reading at (x, y), ten pixels a character."""
    x1, y1 = x + 10 * len(text), y + height
    return Reading(text, ((x, y), (x1, y), (x1, y1), (x, y1)), more.pop("confidence", 0.99), **more)


def save_scan(folder: Path) -> Path:
    """Write a page that is a picture of nothing much."""
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 60, 80))
        pixels.clear_with(230)
        page.insert_image(page.rect, pixmap=pixels)
        pdf.save(folder / "scan.pdf")
    return folder / "scan.pdf"


class Scripted:
    """An engine that reads the same whatever it is shown; it notes how pictures stood."""

    name = "scripted"

    def __init__(self, *readings: Reading, side: int = 0) -> None:
        self.readings, self.side = list(readings), side
        self.shown: list[tuple[int, ...]] = []

    def upright(self, picture: Any) -> tuple[Any, int]:
        return quarter_turned(picture, self.side), self.side

    def read(self, picture: Any) -> list[Reading]:
        self.shown.append(picture.shape)
        return self.readings
