"""The formulas of a page, each with the characters of the text layer that it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from omibench.stages.ocr.formulas.reading.characters import MAX_CHARACTERS, TextRun
from omibench.stages.ocr.formulas.reading.insertion import PlacedFormula
from omibench.stages.ocr.formulas.reading.page_marks import gather_marks, level_characters
from omibench.stages.ocr.formulas.reading.regions import place_regions
from omibench.stages.ocr.formulas.tree.formula import read_formula

if TYPE_CHECKING:
    import pymupdf


def exceeds_limits(runs: Sequence[TextRun]) -> bool:
    """Whether a page has too many characters for its formulas to be looked for."""
    return sum(len(run.characters) for run in runs) > MAX_CHARACTERS


def read_formulas(page: pymupdf.Page, runs: Sequence[TextRun]) -> list[PlacedFormula]:
    """Every formula of a page.

    Args:
        page: The page, its rotation removed.
        runs: Its text layer, from `read_runs`.

    Returns:
        Formulas from top to bottom; no character is in two of them.
    """
    if exceeds_limits(runs):
        return []
    marks = gather_marks(page, runs, page.get_drawings(), page.get_image_info())
    places = {
        id(glyph): (run, k)
        for glyph, (run, k, _) in zip(marks.glyphs, level_characters(runs), strict=True)
    }
    return [
        PlacedFormula(
            read_formula(place.region),
            frozenset(places[id(glyph)] for glyph in place.region.glyphs),
            place.baseline,
            place.size,
        )
        for place in place_regions(marks)
    ]
