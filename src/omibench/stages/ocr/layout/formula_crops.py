"""Doubtful formulas cut out of their pages, so that a person or a model can look at them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.schemas.problem import DoubtfulFormula
from omibench.stages.ocr.formulas.marks import Formula
from omibench.stages.ocr.layout.crops import crop_box
from omibench.stages.ocr.layout.layout import Line

if TYPE_CHECKING:
    import pymupdf

MARGIN = 3.0
"""Points around a formula."""
MOST = 500
"""Doubtful formulas of a paper that are cut out; those that follow are named without a crop."""


def list_doubtful(lines: Sequence[Line]) -> list[tuple[int, Formula]]:
    """The doubtful formulas that stand in the text of lines, with their pages, each once.

    A line that was split, as a row of choices is, holds the formulas of its own part alone.
    """
    formulas = {
        id(formula): (line.page, formula)
        for line in lines
        for formula in line.formulas
        if formula.doubts and f"${formula.latex}$" in line.text
    }
    return list(formulas.values())


def crop_formulas(
    pdf: pymupdf.Document, lines: Sequence[Line], folder: Path, prefix: str, dpi: int
) -> dict[int, DoubtfulFormula]:
    """Write each doubtful formula of lines as `p<page>-<k>.png` into `folder`.

    Args:
        pdf: The paper.
        lines: Those whose formulas count.
        folder: Is made where there is a formula.
        prefix: How the file that names the crops reaches the folder.
        dpi: Pixels an inch.

    Returns:
        The rows of `doubtful_formulas` by id(formula).
    """
    rows: dict[int, DoubtfulFormula] = {}
    for k, (number, formula) in enumerate(list_doubtful(lines)[:MOST], 1):
        data, _ = crop_box(pdf[number - 1], formula.region.box.grow(MARGIN, MARGIN), dpi)
        name = f"p{number:03d}-{k}.png"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        box = formula.region.box
        rows[id(formula)] = DoubtfulFormula(
            page=number,
            bbox=(round(box.x0, 1), round(box.y0, 1), round(box.x1, 1), round(box.y1, 1)),
            latex=formula.latex,
            file=f"{prefix}/{name}",
            sha256=hashlib.sha256(data).hexdigest(),
            doubts=list(formula.doubts),
        )
    return rows
