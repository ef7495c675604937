"""Cut pictures out of a rendered page, so that no image file is decoded separately."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.schemas.problem import BBox, Figure, Panel
from omibench.stages.ocr.formulas.marks import ShiftedBox
from omibench.stages.ocr.layout.layout import Box, Picture, unite

if TYPE_CHECKING:
    import pymupdf

MARGIN = 4.0
MAX_SIDE = 4096


def crop_all(
    pdf: pymupdf.Document, pictures: Sequence[Picture], folder: Path, prefix: str, dpi: int
) -> dict[int, Figure]:
    """Write each picture as `p<page>-<k>.png` into `folder`; returns id(picture) -> Figure.

    They are rendered at `dpi`, or less if a side would exceed 4096 pixels. `prefix` is the path of
    the folder in the file that lists the figures.
    """
    figures: dict[int, Figure] = {}
    for number in sorted({picture.page for picture in pictures}):
        page = pdf[number - 1]
        sheet = page.get_displaylist(annots=0)
        page_pictures = [p for p in pictures if p.page == number]
        for k, picture in enumerate(page_pictures, 1):
            box = picture.box.grow(MARGIN, MARGIN).clip(Box(*page.rect))
            data = _render(sheet, box, dpi)
            name = f"p{number:03d}-{k}.png"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
            figures[id(picture)] = Figure(
                file=f"{prefix}/{name}",
                sha256=hashlib.sha256(data).hexdigest(),
                page=number,
                bbox=box.round(2),
                caption=picture.caption,
                panels=[Panel(label=p.label, bbox=p.box.round(2)) for p in picture.panels],
            )
    return figures


def crop_box(page: pymupdf.Page, box: Box, dpi: int) -> tuple[bytes, BBox]:
    """Return a part of a page as the bytes of a PNG, and its box within the page's bounds.

    The box has to touch the page. It is rendered as in `crop_all`, but without a margin, since a
    person drew it.
    """
    clipped = box.clip(Box(*page.rect))
    return _render(page.get_displaylist(annots=0), clipped, dpi), clipped.round(2)


def crop_parts(page: pymupdf.Page, parts: Sequence[ShiftedBox], dpi: int) -> bytes:
    """Return parts of a page in one picture, as the bytes of a PNG.

    Args:
        page: Page with its rotation removed.
        parts: Boxes and the distances by which their contents are moved.
        dpi: Resolution in pixels per inch, less if a side would exceed 4096 pixels.
    """
    import pymupdf

    whole = unite(_shift(part) for part in parts)
    scale = min(dpi / 72, MAX_SIDE / max(whole.width, whole.height, 1.0))
    size = (round(whole.width * scale) + 1, round(whole.height * scale) + 1)
    canvas = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, *size), False)
    canvas.clear_with(255)
    sheet = page.get_displaylist(annots=0)
    for part in parts:
        matrix, clip = pymupdf.Matrix(scale, scale), pymupdf.Rect(*part.box)
        pixels = sheet.get_pixmap(matrix=matrix, clip=clip, alpha=0)
        place = _shift(part)
        x, y = round((place.x0 - whole.x0) * scale), round((place.y0 - whole.y0) * scale)
        pixels.set_origin(x, y)
        canvas.copy(pixels, pixels.irect)
    return bytes(canvas.tobytes("png"))


def _shift(part: ShiftedBox) -> Box:
    box, dx, dy = part
    return Box(box.x0 + dx, box.y0 + dy, box.x1 + dx, box.y1 + dy)


def _render(sheet: pymupdf.DisplayList, box: Box, dpi: int) -> bytes:
    import pymupdf

    scale = min(dpi / 72, MAX_SIDE / max(box.width, box.height, 1.0))
    pixels = sheet.get_pixmap(matrix=pymupdf.Matrix(scale, scale), clip=pymupdf.Rect(*box), alpha=0)
    return bytes(pixels.tobytes("png"))
