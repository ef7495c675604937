"""Figures and doubtful formulas cut out of rendered pages; no image file is decoded separately."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from glyphtex.marks import Box, Formula, FormulaRegion, ShiftedBox, list_shifted, unite
from omibench.schemas.problem import BBox, DoubtfulFormula, Figure, Panel, Problem
from omibench.stages.ocr.layout.layout import Line, Picture

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


# Crops of doubtful formulas for inspection by a person or a model.

FORMULA_MARGIN = 3.0
"""The margin around a formula, in points."""
MOST = 500
"""The maximum number of cropped formulas of a paper; further ones are listed without a crop."""


def list_doubtful(lines: Sequence[Line]) -> list[tuple[int, Formula]]:
    """Return the distinct doubtful formulas in the text of lines, with their pages.

    A split line, such as a row of choices, has only the formulas of its part.
    """
    formulas = {
        id(formula): (line.page, formula)
        for line in lines
        for formula in line.formulas
        if formula.doubts and f"${formula.latex}$" in line.text
    }
    return list(formulas.values())


def _crop_region(page: pymupdf.Page, region: FormulaRegion, dpi: int) -> bytes:
    """Return a formula as the bytes of a PNG, the parts of a broken one in one line."""
    if not region.following:
        return crop_box(page, region.box.grow(FORMULA_MARGIN, FORMULA_MARGIN), dpi)[0]
    return crop_parts(page, list_shifted(region, FORMULA_MARGIN), dpi)


def crop_formulas(
    pdf: pymupdf.Document, lines: Sequence[Line], folder: Path, prefix: str, dpi: int
) -> dict[int, DoubtfulFormula]:
    """Write each doubtful formula of lines as `p<page>-<k>.png` into `folder`.

    Args:
        pdf: PDF of the paper.
        lines: Lines to search for formulas.
        folder: Output folder, created if there is a formula.
        prefix: Path of the folder in the file that lists the crops.
        dpi: Resolution in pixels per inch.

    Returns:
        The rows of `doubtful_formulas` by id(formula). The box of a broken formula is that of its
        part in the first line.
    """
    rows: dict[int, DoubtfulFormula] = {}
    for k, (number, formula) in enumerate(list_doubtful(lines)[:MOST], 1):
        data = _crop_region(pdf[number - 1], formula.region, dpi)
        name = f"p{number:03d}-{k}.png"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        rows[id(formula)] = DoubtfulFormula(
            page=number,
            bbox=formula.region.box.round(),
            latex=formula.latex,
            file=f"{prefix}/{name}",
            sha256=hashlib.sha256(data).hexdigest(),
            doubts=list(formula.doubts),
        )
    return rows


def drop_crops(folder: Path, prefix: str, problems: Iterable[Problem]) -> None:
    """Remove the crops of formulas that are no longer in doubt, since a correction settled them.

    Args:
        folder: Folder of the paper's files.
        prefix: Path of the crops in it.
        problems: Problems with their corrections.
    """
    kept = {formula.file for problem in problems for formula in problem.doubtful_formulas}
    for crop in (folder / prefix).glob("*.png"):
        if f"{prefix}/{crop.name}" not in kept:
            crop.unlink()
