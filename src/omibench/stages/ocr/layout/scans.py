"""Read a page without text: render it, turn it upright, level it and run an engine."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, Protocol

from omibench.stages.ocr.engines.engine import Engine, Pixels, Point, Reading, read_upright
from omibench.stages.ocr.layout.layout import Box, Line
from omibench.stages.ocr.layout.marks import Region

if TYPE_CHECKING:
    import pymupdf

DPI = 200
_MAX_SIDE = 3400
_LEVEL = 0.15
"""The degrees of skew that are not corrected."""
_TYPE = 0.74
"""The ratio of type size to the height of a line's box, and the part of the box below the
baseline."""
_BELOW = 0.24
_FLATTENED = re.compile(
    r"[∫∑∏√∛]|[A-Za-zα-ωΑ-Ω]\d|(?<![\w.])\d+[-−]\d(?!\d*[\w.,])|\^|[²³⁴⁻¹]|[)\]]\d(?![\d.]*\s*[.)])"
)
"""The forms of scripts, roots and sums in plain lines: `v0`, `10-3`, `)2`."""


class Scanned(NamedTuple):
    """The lines of a page, their reader, and the degrees clockwise it was turned."""

    lines: list[Line]
    engine: str
    turn: float = 0.0
    regions: list[Region] | None = None
    """Its figures, if the engine detects them."""
    codes: tuple[str, ...] = ()
    """Codes of the page beyond its lines and figures."""


class PageReader(Protocol):
    """Reads pages without a text layer."""

    def read_page(self, page: pymupdf.Page, number: int) -> Scanned:
        """Return the lines of a page, after turning it upright and levelling it."""
        ...


class LocalReader:
    """Reads pages with a local engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def read_page(self, page: pymupdf.Page, number: int) -> Scanned:
        """Render the page at 200 dpi and read it; if it reads badly, try it turned."""
        scale = choose_scale(page)
        picture, readings, turn = read_upright(render_page(page, scale), self.engine)
        if turn:
            page.set_rotation(turn)
            page.remove_rotation()
        skew = measure_skew(readings)
        if abs(skew) > _LEVEL:
            turn_content(page, -skew)
            middle = (picture.shape[1] / 2, picture.shape[0] / 2)
            readings = [turned_reading(r, -skew, middle) for r in readings]
        else:
            skew = 0.0
        lines = build_lines(readings, number, 1 / scale, self.engine.name)
        return Scanned(lines, self.engine.name, turn - skew)


def choose_scale(page: pymupdf.Page) -> float:
    """Return the pixels per point: 200 dpi, or less if a side would exceed 3,400 pixels."""
    return float(min(DPI / 72, _MAX_SIDE / max(page.rect.width, page.rect.height, 1.0)))


def render_page(page: pymupdf.Page, scale: float) -> Pixels:
    """Return the pixels of a page in RGB."""
    import numpy as np
    import pymupdf

    pixels = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB)
    return np.frombuffer(pixels.samples, np.uint8).reshape(pixels.height, pixels.width, 3)


def measure_skew(readings: Sequence[Reading]) -> float:
    """Return the degrees clockwise by which lines slope to the right: the median of the long
    ones."""
    angles = [
        math.degrees(math.atan2(r.quad[1][1] - r.quad[0][1], r.quad[1][0] - r.quad[0][0]))
        for r in readings
        if r.width > 6 * r.height
    ]
    return float(median(angles)) if angles else 0.0


def turned_reading(reading: Reading, degrees: float, middle: Point) -> Reading:
    """Return a reading turned clockwise about a point of the picture."""
    a, b, c, d = (turned_point(point, degrees, middle) for point in reading.quad)
    return reading._replace(quad=(a, b, c, d))


def turned_point(point: Point, degrees: float, middle: Point) -> Point:
    """Return a point turned clockwise about another; y grows downwards."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    x, y = point[0] - middle[0], point[1] - middle[1]
    return middle[0] + x * cos - y * sin, middle[1] + x * sin + y * cos


def turn_content(page: pymupdf.Page, degrees: float) -> None:
    """Turn the contents of a page clockwise about its middle, without resampling."""
    import pymupdf

    document = page.parent
    page.clean_contents()
    contents = page.get_contents()
    if not contents:
        return
    middle = ((page.rect.x0 + page.rect.x1) / 2, (page.rect.y0 + page.rect.y1) / 2)
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    x, y = middle
    rotation = pymupdf.Matrix(cos, sin, -sin, cos, x - x * cos + y * sin, y - x * sin - y * cos)
    onto = page.transformation_matrix
    matrix = onto * rotation * ~onto
    head = " ".join(f"{value:.6f}" for value in matrix)
    stream = document.xref_stream(contents[0]) or b""
    document.update_stream(contents[0], b"q %s cm\n" % head.encode() + stream + b"\nQ\n")


def evenly_set(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Return the lines of all pages, with one type size for similar sizes of an engine.

    The type size estimated from boxes varies between lines and pages.
    """
    sizes = [line.size for lines in pages for line in lines if _was_read(line) for _ in line.text]
    usual = round(float(median(sizes)), 1) if sizes else 0.0
    return [
        [
            replace(line, size=usual) if _was_read(line) and _is_alike(line.size, usual) else line
            for line in lines
        ]
        for lines in pages
    ]


def _was_read(line: Line) -> bool:
    return line.engine != "textlayer"


def _is_alike(size: float, usual: float) -> bool:
    return 0.72 * usual < size < 1.35 * usual


def build_lines(readings: Sequence[Reading], page: int, scale: float, engine: str) -> list[Line]:
    """Convert readings to lines of a page; `scale` is points per pixel.

    Boxes jitter by a pixel or two, so sizes near the most frequent one are set to it.
    """
    heights = [r.height * scale for r in readings for _ in r.text if not _on_side(r)]
    usual = _TYPE * median(heights) if heights else 10.0
    return [_line(r, page, scale, engine, usual) for r in readings]


def _line(reading: Reading, page: int, scale: float, engine: str, usual: float) -> Line:
    xs, ys = [x * scale for x, _ in reading.quad], [y * scale for _, y in reading.quad]
    box = Box(min(xs), min(ys), max(xs), max(ys))
    height = reading.height * scale
    size = _TYPE * height
    tall = size > 1.45 * usual
    if _is_alike(size, usual):
        size = usual
    return Line(
        page=page,
        box=box,
        text=" ".join(reading.text.split()),
        size=round(size, 1),
        baseline=box.y1 - _BELOW * height,
        upright=not _on_side(reading),
        engine=engine,
        confidence=None if reading.confidence is None else round(reading.confidence, 4),
        math_suspect=not reading.whole and (tall or _FLATTENED.search(reading.text) is not None),
    )


def _on_side(reading: Reading) -> bool:
    xs, ys = [x for x, _ in reading.quad], [y for _, y in reading.quad]
    return len(reading.text) > 1 and max(ys) - min(ys) > 1.5 * (max(xs) - min(xs))
