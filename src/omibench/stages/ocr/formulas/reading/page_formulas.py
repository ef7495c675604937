"""Formulas of a page, each with its characters in the text layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.stages.ocr.formulas.doubts.left import Leftover
from omibench.stages.ocr.formulas.doubts.page import find_doubts
from omibench.stages.ocr.formulas.doubts.vanished import find_vanished
from omibench.stages.ocr.formulas.glyphs.characters import MAX_CHARACTERS, TextRun
from omibench.stages.ocr.formulas.glyphs.combining import PaintedGlyph
from omibench.stages.ocr.formulas.reading.blocks import MAX_BARS
from omibench.stages.ocr.formulas.reading.insertion import PlacedFormula
from omibench.stages.ocr.formulas.reading.page_marks import MAX_DRAWINGS, gather_marks
from omibench.stages.ocr.formulas.reading.regions import place_regions
from omibench.stages.ocr.formulas.tree.formula import read_formula
from omibench.stages.ocr.layout.layout import Box

if TYPE_CHECKING:
    import pymupdf


MAX_LINES = 2_500
"""Maximum number of lines of a page that is searched: a page of a paper has fewer than 200."""
CROWD_SIDE = 24.0
"""Side of a square in which characters are counted, in points."""
MAX_CROWD = 300
"""Maximum number of characters in such a square. Type of 4 points has about 80."""


def exceeds_limits(runs: Sequence[TextRun]) -> bool:
    """Return whether a page has too many characters or lines to be searched.

    Characters are also counted in each square of the page: the time to read those that overlap
    grows with the square of their number.
    """
    count = sum(len(run.characters) for run in runs)
    if count > MAX_CHARACTERS or len(runs) > MAX_LINES:
        return True
    if count <= MAX_CROWD:
        return False
    crowds = Counter(
        (int(c.x // CROWD_SIDE), int(c.y // CROWD_SIDE)) for run in runs for c in run.characters
    )
    return max(crowds.values()) > MAX_CROWD


class PageFormulas(NamedTuple):
    """Formulas of a page from top to bottom, and unread mathematics.

    `rest` is mathematics in the text of a line, `vanished` the symbols that the text layer lacks,
    `is_partial` whether the page is too large for a complete search.
    """

    formulas: list[PlacedFormula]
    rest: list[Leftover]
    vanished: list[Leftover]
    is_partial: bool


def read_formulas(
    page: pymupdf.Page,
    runs: Sequence[TextRun],
    painted: Sequence[PaintedGlyph] = (),
    drawings: Sequence[dict[str, Any]] | None = None,
    frames: Sequence[Box] | None = None,
) -> PageFormulas:
    """Read the formulas of a page.

    Args:
        page: Page with its rotation removed.
        runs: Text layer from `read_characters`.
        painted: Painted glyphs from `read_characters`.
        drawings: Paths of the page from `get_drawings` or `get_cdrawings`; by default read from the
            page.
        frames: Frames of embedded objects from `find_frames`; by default read from the page.

    Returns:
        The formulas; no character is in two of them.
    """
    if exceeds_limits(runs):
        return PageFormulas([], [], [], is_partial=True)
    if drawings is None:
        drawings = page.get_cdrawings()
    if painted and all(run.is_prose for run in runs):
        painted = find_vanished(painted, runs)
    if not painted and all(run.is_prose for run in runs):
        return PageFormulas([], [], [], is_partial=len(drawings) > MAX_DRAWINGS)
    marks, origins = gather_marks(page, runs, drawings, page.get_image_info(), frames)
    places = {id(glyph): place for glyph, place in zip(marks.glyphs, origins, strict=True)}
    regions = place_regions(marks)
    doubts = find_doubts(regions, marks, find_vanished(painted, runs))
    formulas = [
        PlacedFormula(
            read_formula(place.region, more),
            frozenset(places[id(glyph)] for line in place.region.lines for glyph in line.glyphs),
            place.baseline,
            place.size,
        )
        for place, more in zip(regions, doubts.formulas, strict=True)
    ]
    is_partial = len(drawings) > MAX_DRAWINGS or len(marks.bars) > MAX_BARS
    return PageFormulas(formulas, doubts.rest, doubts.vanished, is_partial)
