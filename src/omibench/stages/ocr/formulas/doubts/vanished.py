"""Glyphs that a page paints but its text layer lacks."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from omibench.stages.ocr.formulas.doubts.left import Leftover, find_nearest
from omibench.stages.ocr.formulas.glyphs.characters import TextRun
from omibench.stages.ocr.formulas.glyphs.combining import PaintedGlyph
from omibench.stages.ocr.formulas.marks import FormulaRegion
from omibench.stages.ocr.layout.layout import Box

VANISHED = "a symbol painted next to the formula is missing from the text layer"
_MOVED = 0.35
"""Maximum displacement of a glyph in the text layer, in type sizes."""
_MOVED_ACCENT = 0.8
"""The same for an accent without a width."""
_CELL = 12.0
"""Side of the squares in which characters are looked up, in points."""
_BESIDE = 0.3


def find_vanished(painted: Iterable[PaintedGlyph], runs: Sequence[TextRun]) -> list[PaintedGlyph]:
    """Find the glyphs without a character in the text layer.

    A glyph that is painted twice, as for bold type, counts once.

    Args:
        painted: Glyphs that the page paints, without spaces and invisible text.
        runs: Lines of the text layer.
    """
    exact = {(character.x, character.y) for run in runs for character in run.characters}
    unmatched = [g for g in painted if (g.x, g.y) not in exact and not g.text.isspace()]
    if not unmatched:
        return []
    cells: defaultdict[tuple[int, int], list[tuple[str, float, float]]] = defaultdict(list)
    for run in runs:
        for character in run.characters:
            cells[_cell(character.x, character.y)].append(
                (character.text, character.x, character.y)
            )
    rounded = {(round(x, 1), round(y, 1)) for x, y in exact}
    return [
        glyph
        for glyph in unmatched
        if (round(glyph.x, 1), round(glyph.y, 1)) not in rounded
        and not any(
            text == glyph.text and abs(x - glyph.x) + abs(y - glyph.y) < _reach(glyph) * glyph.size
            for text, x, y in _around(cells, glyph)
        )
    ]


def doubt_vanished(
    regions: Sequence[FormulaRegion], vanished: Iterable[PaintedGlyph]
) -> Iterator[tuple[int | None, Leftover]]:
    """Yield each vanished glyph with the index of the formula next to it, or None."""
    for glyph in vanished:
        box = Box(glyph.x, glyph.y - 0.7 * glyph.size, glyph.x + 0.4 * glyph.size, glyph.y)
        yield find_nearest(box, glyph.size, regions, _BESIDE), Leftover(box, glyph.text)


def _reach(glyph: PaintedGlyph) -> float:
    return _MOVED_ACCENT if unicodedata.category(glyph.text[0]) == "Mn" else _MOVED


def _cell(x: float, y: float) -> tuple[int, int]:
    return int(x // _CELL), int(y // _CELL)


def _around(
    cells: defaultdict[tuple[int, int], list[tuple[str, float, float]]], glyph: PaintedGlyph
) -> Iterator[tuple[str, float, float]]:
    column, row = _cell(glyph.x, glyph.y)
    for x in (column - 1, column, column + 1):
        for y in (row - 1, row, row + 1):
            yield from cells.get((x, y), ())
