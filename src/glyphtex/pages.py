"""Front of the reader: a page of a PDF, its text layer and its formulas."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from glyphtex.formula_doubts import Leftover, find_doubts, find_vanished
from glyphtex.libreoffice import find_frames
from glyphtex.marks import Box, Formula
from glyphtex.page_marks import DrawnMarks, find_drawn, gather_marks
from glyphtex.regions import place_regions
from glyphtex.text_layer import MAX_CHARACTERS, PaintedGlyph, TextRun, read_characters
from glyphtex.tree import MAX_BARS, read_formula

if TYPE_CHECKING:
    import pymupdf


_MOST_NAMED = 12
"""Maximum number of symbols that a message lists."""
MAX_LINES = 2_500
"""Maximum number of lines of a page that is searched: a page of a paper has fewer than 200."""
CROWD_SIDE = 24.0
"""Side of a square in which characters are counted, in points."""
MAX_CROWD = 300
"""Maximum number of characters in such a square. Type of 4 points has about 80."""
Place = tuple[int, int]
"""Run of a character and its position in it."""


@dataclass(frozen=True, slots=True)
class PlacedFormula:
    """Formula, its characters, and the position of its row."""

    formula: Formula
    characters: frozenset[Place]
    baseline: float
    size: float

    @property
    def box(self) -> Box:
        return self.formula.region.box


class PageFormulas(NamedTuple):
    """Formulas of a page from top to bottom, and unread mathematics.

    `rest` is mathematics in the text of a line, `vanished` the symbols that the text layer lacks,
    `is_partial` whether the page is too large for a complete search.
    """

    formulas: list[PlacedFormula]
    rest: list[Leftover]
    vanished: list[Leftover]
    is_partial: bool


class TextLayer(NamedTuple):
    """The lines of a page's text layer, and the formulas in them."""

    runs: Sequence[TextRun]
    formulas: PageFormulas


class PageReading(NamedTuple):
    """The formulas of a page from top to bottom.

    `is_partial` is whether the page has more characters, lines, drawings or rules than are
    searched: formulas may be missing. `unread` are messages about mathematics outside of all
    formulas.
    """

    formulas: list[Formula]
    is_partial: bool
    unread: list[str]


def read_page(page: pymupdf.Page) -> list[Formula]:
    """Read the formulas of a page as LaTeX.

    Args:
        page: A page of a PDF with a text layer; a rotated one is turned upright, which changes it.

    Returns:
        The formulas from top to bottom, each with `latex` (without dollar signs), `box` (x0, y0,
        x1, y1 in points from the top left corner, y downwards), `boxes` (one per line, if it is
        broken over lines) and `doubts` (why the reading may be wrong; empty if it is certain).
    """
    return search_page(page).formulas


def search_page(page: pymupdf.Page) -> PageReading:
    """Read the formulas of a page, and what of its mathematics was not read; see `read_page`."""
    if page.rotation:
        page.remove_rotation()
    with pause_collection():
        found = read_text_layer(page).formulas
    unread = [
        f"{message}: {' '.join(ink.text for ink in inks[:_MOST_NAMED])}"
        for message, inks in (
            ("mathematics in no formula", found.rest),
            ("glyphs that the text layer lacks", found.vanished),
        )
        if inks
    ]
    formulas = sorted((placed.formula for placed in found.formulas), key=lambda f: f.box[1::-1])
    return PageReading(formulas, found.is_partial, unread)


def read_text_layer(page: pymupdf.Page) -> TextLayer:
    """Read the text layer of a page whose rotation is removed, and the formulas in it."""
    drawn, frames = find_drawn(page.get_cdrawings()), find_frames(page)
    runs, painted = read_characters(page, [*drawn.list_boxes(page.rect.width), *frames])
    return TextLayer(runs, read_formulas(page, runs, painted, drawn, frames))


@contextmanager
def pause_collection() -> Iterator[None]:
    """Pause the search for reference cycles.

    A page is read into hundreds of thousands of small objects without cycles, which all live until
    its end. Searching them for cycles takes a fifth of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def read_formulas(
    page: pymupdf.Page,
    runs: Sequence[TextRun],
    painted: Sequence[PaintedGlyph],
    drawn: DrawnMarks,
    frames: Sequence[Box],
) -> PageFormulas:
    """Read the formulas of a page.

    Args:
        page: Page with its rotation removed.
        runs: Text layer from `read_characters`.
        painted: Painted glyphs from `read_characters`.
        drawn: Rules and radical signs of the page.
        frames: Frames of embedded objects.

    Returns:
        The formulas; no character is in two of them.
    """
    if exceeds_limits(runs):
        return PageFormulas([], [], [], is_partial=True)
    vanished = find_vanished(painted, runs)
    if not vanished and all(run.is_prose for run in runs):
        return PageFormulas([], [], [], drawn.is_partial)
    marks, origins = gather_marks(page, runs, drawn, frames)
    places = {id(glyph): place for glyph, place in zip(marks.glyphs, origins, strict=True)}
    regions, is_complete = place_regions(marks)
    doubts = find_doubts(regions, marks, vanished)
    formulas = [
        PlacedFormula(
            read_formula(place.region, place.parts, more),
            frozenset(places[id(glyph)] for line in place.region.lines for glyph in line.glyphs),
            place.baseline,
            place.size,
        )
        for place, more in zip(regions, doubts.formulas, strict=True)
    ]
    is_partial = drawn.is_partial or len(marks.bars) > MAX_BARS or not is_complete
    return PageFormulas(formulas, doubts.rest, doubts.vanished, is_partial)


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
