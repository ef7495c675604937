"""Crops of doubtful formulas for inspection by a person or a model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.schemas.problem import DoubtfulFormula, Problem
from omibench.stages.ocr.formulas.marks import Formula, FormulaRegion, list_shifted
from omibench.stages.ocr.layout.crops import crop_box, crop_parts
from omibench.stages.ocr.layout.layout import Line

if TYPE_CHECKING:
    import pymupdf

MARGIN = 3.0
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
        return crop_box(page, region.box.grow(MARGIN, MARGIN), dpi)[0]
    return crop_parts(page, list_shifted(region, MARGIN), dpi)


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
