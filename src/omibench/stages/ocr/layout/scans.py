"""Pages without text and photographs: rendered, turned upright, levelled and read by an engine."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from glyphtex.marks import Box
from omibench.files.pictures import READERS
from omibench.files.reading import open_regular
from omibench.stages.ocr.engines.engine import Engine, Pixels, Point, Reading
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.layout.regions import Region

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


PageReader = Callable[["pymupdf.Page", int], Scanned]
"""Returns the lines of a page with a number, after turning it upright and levelling it."""


def read_locally(engine: Engine, page: pymupdf.Page, number: int) -> Scanned:
    """Render a page at 200 dpi, read it with a local engine, and turn it as it was read."""
    scale = choose_scale(page)
    picture, turn = engine.upright(render_page(page, scale))
    readings = engine.read(picture)
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
    return Scanned(build_lines(readings, number, 1 / scale, engine.name), engine.name, turn - skew)


def choose_scale(page: pymupdf.Page) -> float:
    """Return the pixels per point: 200 dpi, or less if a side would exceed 3,400 pixels."""
    return float(min(DPI / 72, _MAX_SIDE / max(page.rect.width, page.rect.height, 1.0)))


def render_page(page: pymupdf.Page, scale: float) -> Pixels:
    """Return the pixels of a page in RGB."""
    import numpy as np
    import pymupdf

    pixels = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB)
    return np.frombuffer(pixels.samples, np.uint8).reshape(pixels.height, pixels.width, 3)


def draw_jpeg(page: pymupdf.Page, dpi: float, most: int, quality: int) -> bytes:
    """Return a page as a JPEG at `dpi`, or less if a side would exceed `most` pixels."""
    import pymupdf

    scale = min(dpi / 72, most / max(page.rect.width, page.rect.height, 1.0))
    pixels = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False)
    return bytes(pixels.tobytes("jpeg", jpg_quality=quality))


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
        left_out="handwriting" if reading.handwritten else None,
        engine=engine,
        confidence=None if reading.confidence is None else round(reading.confidence, 4),
        math_suspect=not reading.whole and (tall or _FLATTENED.search(reading.text) is not None),
    )


def _on_side(reading: Reading) -> bool:
    xs, ys = [x for x, _ in reading.quad], [y for _, y in reading.quad]
    return len(reading.text) > 1 and max(ys) - min(ys) > 1.5 * (max(xs) - min(xs))


# Select the printed lines of a photograph, without handwriting and labels of figures.

_SURE = 0.87
"""The confidence below which a line counts as handwriting, since engines are trained on print."""
_SURE_OF_WORDS = 0.76
_SURE_OF_CHOICES = 0.6
_SLACK = 0.08
_LARGE = 1.55
_LONG = 8
_WORD = re.compile(r"[^\W\d_]{3}|[\u3400-\u9fff]{2}")
_HAN = re.compile(r"[\u3400-\u9fff]")
_MEASURE = re.compile(
    r"[^\w(=]*\d+(?:\.\d+)?\s*(?:mm|cm|dm|km|m|kg|g|s|厘米|分米|毫米|千米|米|厘|分|秒|吨|元)?[²³]?[\W_]*"
)
_CHOICE = re.compile(r"[(]?[A-H][.、:)]|[(]\d{1,2}[)]|\d{1,2}[.、](?!\d)|[①-⑳]")
_UNITS = re.compile(r"[(]?(?:平方|立方)?(?:厘米|分米|毫米|千米|米)[23]?[)]?")
_SUM = r"[\d\s.,:a-z()\[\]<>/%²³^#△□]"
_CALCULATION = re.compile(rf"{_SUM}*[\d)\]a-z]?\s*[=+\-×x*÷≈]{_SUM}*(?:[=+\-×x*÷≈]{_SUM}*)*", re.I)
_RESULT = re.compile(r"^\s*=|=\s*\.?\d")
_REPLY = re.compile(r"[答解][,:;!.。：，；！]?")
_SHORT = 5


def find_unprinted_lines(lines: Sequence[Line]) -> dict[int, str]:
    """Return id(line) and reason of lines of a photograph that are not printed text.

    `handwriting` marks uncertain lines, calculations and replies; `label` marks short isolated
    lines, such as letters and measures of figures. If no long line is read with confidence, all
    lines stay.
    """
    texts = {id(line): unicodedata.normalize("NFKC", line.text) for line in lines}
    words = [
        line
        for line in lines
        if len(line.text) >= _LONG
        and _WORD.search(texts[id(line)])
        and not _REPLY.match(texts[id(line)])
    ]
    if not words:
        return {}
    confidences = sorted(ln.confidence or 1.0 for ln in words for _ in ln.text)
    usual = confidences[len(confidences) * 2 // 3]
    height = median(ln.box.height for ln in words for _ in ln.text)
    sure = min(_SURE, usual - _SLACK)
    reasons: dict[int, str] = {}
    for line in lines:
        reason = _reason(line, texts[id(line)], words, sure, height)
        if reason:
            reasons[id(line)] = reason
    return reasons


def _reason(line: Line, text: str, words: Sequence[Line], sure: float, height: float) -> str | None:
    confidence = 1.0 if line.confidence is None else line.confidence
    worked = _CALCULATION.fullmatch(_UNITS.sub("", text)) is not None
    worded = _WORD.search(text) is not None and not worked
    mixed = "=" in text and 2 * len(_HAN.findall(text)) < len(text)
    fewest = min(sure, _SURE_OF_WORDS) if worded and not mixed else sure
    if _CHOICE.match(text) and len(text) > 3:
        fewest = min(fewest, _SURE_OF_CHOICES)
    if confidence < fewest or (_REPLY.match(text) and confidence < 0.97):
        return "handwriting"
    if _MEASURE.fullmatch(text) and not _shares_row(line, words):
        return "label"
    if worded and _HAN.search(text):
        return None
    row = _shares_row(line, words)
    if line.box.height > _LARGE * height and not row:
        return "handwriting"
    if worked and (_RESULT.search(text) or not row) and not _CHOICE.match(text):
        return "handwriting"
    return "label" if len(text) <= _SHORT and not row and not _CHOICE.match(text) else None


def _shares_row(line: Line, words: Sequence[Line]) -> bool:
    """Return whether a line of words is on the same row."""
    return any(
        word_line is not line
        and -line.box.gap_y(word_line.box) > 0.5 * min(line.box.height, word_line.box.height)
        for word_line in words
    )


# Convert photographs to pages: upright, levelled and evenly lit.

MAX_SIDE = 2600
"""The limits of the longer side in pixels: larger photographs are scaled down, smaller ones up."""
MIN_SIDE = 640
_MAX_SKEW = 25.0
_LEVEL_PHOTOGRAPHS = 0.6
_TYPE_PHOTOGRAPHS = 10.0
"""The type size in points that the scale of a photograph gives to its lines."""


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


def read_photograph(path: Path, engine: Engine) -> tuple[pymupdf.Document, Scanned]:
    """Turn, level and read a photograph; return it as a PDF of one page, with its lines."""
    picture, turn = engine.upright(load_pixels(path))
    readings = engine.read(picture)
    skew = measure_skew(readings)
    if _LEVEL_PHOTOGRAPHS < abs(skew) < _MAX_SKEW:
        picture = _level(picture, skew)
        readings = engine.read(picture)
    else:
        skew = 0.0
    heights = [r.height for r in readings for _ in r.text]
    scale = _TYPE_PHOTOGRAPHS / (_TYPE * median(heights)) if heights else 595 / picture.shape[1]
    lines = build_lines(readings, 1, scale, engine.name)
    reasons = find_unprinted_lines(lines)
    lines = [
        replace(line, left_out=reasons.get(id(line)), running=id(line) not in reasons)
        for line in lines
    ]
    return picture_page(picture, scale), Scanned(lines, engine.name, turn - skew)


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
