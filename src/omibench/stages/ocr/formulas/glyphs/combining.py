"""Zero-width accents, which MuPDF moves next to their letters or loses."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
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


class _Letter(NamedTuple):
    """Character that an accent may belong to: centre and baseline in points, and its line."""

    x: float
    y: float
    row: list[Character]
    character: Character


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
    letters = [_Letter(c.box.centre[0], c.y, row, c) for row in rows for c in row]
    letters = sorted((p for p in letters if not p.character.text.isspace()), key=lambda p: p.x)
    if not letters:
        return list(runs)
    columns = [letter.x for letter in letters]
    for accent, box in _find_ink(page, accents):
        place = _find_nearest(letters, columns, box.centre[0], accent.y)
        nearest = letters[place]
        letter, row = nearest.character, nearest.row
        character = replace(letter, **accent._asdict(), box=box, code=None, synthetic=False)
        plain = _without(letter, accent.text)
        letters[place] = nearest._replace(character=plain)
        index = row.index(letter)
        row[index : index + 1] = [plain, character]
    return [replace(run, characters=tuple(row)) for run, row in zip(runs, rows, strict=True)]


def _find_nearest(letters: Sequence[_Letter], columns: Sequence[float], x: float, y: float) -> int:
    """Return the index of the letter with the least sum of distances in x and y.

    Args:
        letters: From left to right.
        columns: Their positions.
        x: Position of the accent, in points.
        y: The same.
    """
    middle = bisect_left(columns, x)
    best, least = -1, inf
    for side in (range(middle, len(letters)), range(middle - 1, -1, -1)):
        for index in side:
            across = abs(columns[index] - x)
            if across > least:
                break
            distance = across + abs(letters[index].y - y)
            if distance < least:
                best, least = index, distance
    return best


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
