"""Convert photographs to pages: upright, levelled and evenly lit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from omibench.files.intake import open_regular
from omibench.files.intake.picture import READERS
from omibench.stages.ocr.engines.engine import Engine, Pixels, Reading, read_upright
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.layout.printed import find_unprinted_lines
from omibench.stages.ocr.layout.scans import DPI, Scanned, build_lines, measure_skew

if TYPE_CHECKING:
    import pymupdf

MAX_SIDE = 2600
"""The limits of the longer side in pixels: larger photographs are scaled down, smaller ones up."""
MIN_SIDE = 640
_MAX_SKEW = 25.0
_LEVEL = 0.6
_TYPE = 10.0
"""The type size in points that the scale of a photograph gives to its lines."""


class Photograph(NamedTuple):
    """A photograph as a PDF of one page, with a reader that has its lines."""

    pdf: pymupdf.Document
    reader: KnownReader


class KnownReader:
    """Returns the lines of a page that has already been read."""

    def __init__(self, scanned: Scanned) -> None:
        self.scanned = scanned

    def read_page(self, page: pymupdf.Page, number: int) -> Scanned:
        """Return the lines of the only page."""
        return self.scanned


def load_pixels(path: Path) -> Pixels:
    """Return the pixels of a photograph, oriented by its metadata, with 640 to 2,600 on its long
    side."""
    import numpy as np
    from PIL import Image, ImageOps

    with open_regular(path) as content, Image.open(content, formats=READERS) as file:
        image = ImageOps.exif_transpose(file).convert("RGB")
    longest = max(image.size)
    target_side = min(MAX_SIDE, max(MIN_SIDE, longest))
    if target_side != longest:
        size = (
            max(1, round(image.width * target_side / longest)),
            max(1, round(image.height * target_side / longest)),
        )
        image = image.resize(size, Image.Resampling.LANCZOS)
    return np.asarray(image)


def read_photograph(path: Path, engine: Engine) -> Photograph:
    """Turn, level and read a photograph."""
    picture, readings, turn = read_pixels(load_pixels(path), engine)
    heights = [r.height for r in readings for _ in r.text]
    scale = _TYPE / (0.74 * median(heights)) if heights else 595 / max(picture.shape[1], 1)
    lines = without_ink(build_lines(readings, 1, scale, engine.name))
    return Photograph(picture_page(picture, scale), KnownReader(Scanned(lines, engine.name, turn)))


def without_ink(lines: list[Line]) -> list[Line]:
    """Return the lines with those that are not print marked as left out, the others as running
    text."""
    reasons = find_unprinted_lines(lines)
    return [
        replace(line, left_out=reasons.get(id(line)), running=id(line) not in reasons)
        for line in lines
    ]


def read_pixels(picture: Pixels, engine: Engine) -> tuple[Pixels, list[Reading], float]:
    """Return the upright picture, its lines, and the degrees it was turned."""
    picture, readings, turn = read_upright(picture, engine)
    skew = measure_skew(readings)
    if _LEVEL < abs(skew) < _MAX_SKEW:
        picture = _level(picture, skew)
        readings = engine.read(picture)
        return picture, readings, turn - skew
    return picture, readings, float(turn)


def _level(picture: Pixels, skew: float) -> Pixels:
    """Return the deskewed picture, enlarged so that nothing is cut off."""
    import numpy as np
    from PIL import Image

    image = Image.fromarray(picture)
    edge = tuple(int(v) for v in np.median(picture[::7, ::7].reshape(-1, 3), axis=0))
    turned = image.rotate(skew, expand=True, resample=Image.Resampling.BICUBIC, fillcolor=edge)
    return np.asarray(turned)


def picture_page(picture: Pixels | None, scale: float = 72 / DPI) -> pymupdf.Document:
    """Return a PDF of one page with a picture, `scale` points per pixel; an empty page without
    one."""
    import pymupdf

    pdf = pymupdf.open()
    if picture is None:
        pdf.new_page()
        return pdf
    height, width = picture.shape[:2]
    page = pdf.new_page(width=width * scale, height=height * scale)
    pixels = pymupdf.Pixmap(pymupdf.csRGB, width, height, picture.tobytes(), False)
    page.insert_image(page.rect, stream=pixels.tobytes("jpg", jpg_quality=92))
    return pdf
