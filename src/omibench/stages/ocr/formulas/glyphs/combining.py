"""Zero-width accents, which MuPDF moves next to their letters or loses."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from omibench.stages.ocr.formulas.fonts.embedded import EmbeddedFonts
from omibench.stages.ocr.formulas.reading.kinds import is_math_font
from omibench.stages.ocr.layout.layout import Box

if TYPE_CHECKING:
    import pymupdf

    from omibench.stages.ocr.formulas.glyphs.characters import Character, TextRun

_SYMBOLS = "OpenSymbol"
"""LibreOffice's font of mathematical signs."""
_MOST = 500
"""Maximum number of accents of a page that are moved."""
_FIRST = "\u0300"
"""First combining character of Unicode."""
_INK = Box(0.05, 0.5, 0.45, 0.75)
"""Assumed position of an accent's ink if its font gives none, in type sizes."""


class PaintedGlyph(NamedTuple):
    """Glyph as the page paints it; `size`, `x` and `y` are in points."""

    serial: int
    text: str
    font: str
    size: float
    x: float
    y: float
    glyph_id: int


def place_combining(
    page: pymupdf.Page, runs: Sequence[TextRun], glyphs: Sequence[PaintedGlyph]
) -> list[TextRun]:
    """Return the runs with mathematical accents at their painted positions.

    Args:
        page: Page to read.
        runs: Lines of its text layer.
        glyphs: Glyphs that the page paints.

    Returns:
        The runs, each accent after the nearest letter.
    """
    accents = [glyph for glyph in glyphs if _is_combining(glyph.text, glyph.font)]
    if not 0 < len(accents) <= _MOST:
        return list(runs)
    rows = [[c for c in run.characters if not _is_combining(c.text, c.font)] for run in runs]
    places = [(row, c) for row in rows for c in row if not c.text.isspace()]
    if not places:
        return list(runs)
    for accent, box in _find_ink(page, accents):
        x = box.centre[0]
        row, letter = min(
            places, key=lambda p: abs(p[1].box.centre[0] - x) + abs(p[1].y - accent.y)
        )
        character = replace(letter, **accent._asdict(), box=box, code=None, synthetic=False)
        place = row.index(letter)
        row[place : place + 1] = [_without(letter, accent.text), character]
        places = [(r, row[place] if c is letter else c) for r, c in places]
    return [replace(run, characters=tuple(row)) for run, row in zip(runs, rows, strict=True)]


def _without(letter: Character, accent: str) -> Character:
    """Return a letter without an accent that MuPDF composed with it."""
    plain = unicodedata.normalize("NFD", letter.text)
    return replace(letter, text=plain[0]) if plain == plain[0] + accent else letter


def _is_combining(text: str, font: str) -> bool:
    return (
        text >= _FIRST
        and unicodedata.category(text[0]) == "Mn"
        and (is_math_font(font) or _SYMBOLS in font)
    )


def _find_ink(
    page: pymupdf.Page, accents: Sequence[PaintedGlyph]
) -> Iterator[tuple[PaintedGlyph, Box]]:
    fonts = EmbeddedFonts(page)
    for glyph in accents:
        x0, y0, x1, y1 = fonts.facts(glyph.font, glyph.glyph_id).ink or _INK
        size = glyph.size
        yield (
            glyph,
            Box(
                glyph.x + x0 * size,
                glyph.y - y1 * size,
                glyph.x + x1 * size,
                glyph.y - y0 * size,
            ),
        )
