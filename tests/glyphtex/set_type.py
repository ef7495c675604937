"""Marks set by hand: letters on a baseline, bars and signs, as a page would paint them."""

from __future__ import annotations

import pymupdf

from glyphtex.marks import Box, Formula, FormulaRegion, Glyph, PageMarks, Rule
from glyphtex.page_marks import find_drawn, gather_marks
from glyphtex.regions import place_regions
from glyphtex.symbols import identify
from glyphtex.text_layer import read_characters
from glyphtex.tree import find_parts, read_formula

WIDTH = 0.5
"""Of every letter, in ems."""
_ITALIC = "CMMI10"
_TALL = {"(": "CMEX10", ")": "CMEX10", "∑": "CMEX10", "{": "CMEX10"}
_NAMES = {"∑": "summationdisplay", "√": "radical"}


class Setting:
    """Marks put down one after the other; y grows downwards, lengths are in points."""

    def __init__(self) -> None:
        self.glyphs: list[Glyph] = []
        self.bars: list[Rule] = []
        self.x = 10.0

    def put(
        self,
        text: str,
        *,
        x: float | None = None,
        y: float = 100.0,
        size: float = 10.0,
        font: str = "",
        gap: float = 0.05,
    ) -> Setting:
        """Letters from `x`, or from where the last ones ended, on the baseline `y`."""
        self.x = self.x if x is None else x
        for character in text:
            if character != " ":
                self._glyph(character, y, size, font or self._font(character))
            self.x += (WIDTH + gap) * size
        return self

    def tall(self, text: str, top: float, bottom: float, *, x: float | None = None) -> Setting:
        """One tall sign of an extension font, from top to bottom."""
        self.x = self.x if x is None else x
        symbol = identify("CMEX10", text, name=_NAMES.get(text))
        box = Box(self.x, top, self.x + 5, bottom)
        self.glyphs.append(Glyph(len(self.glyphs), text, symbol, "CMEX10", 10.0, self.x, top, box))
        self.x += 6
        return self

    def bar(self, x0: float, x1: float, y: float) -> Setting:
        """A rule."""
        self.bars.append(Rule(len(self.bars), x0, x1, y, 0.4))
        return self

    def page(self) -> PageMarks:
        """All marks as those of a page."""
        return PageMarks(600, 800, tuple(self.glyphs), tuple(self.bars))

    def region(self) -> FormulaRegion:
        """All marks as one region."""
        return FormulaRegion(
            Box(0, 0, 600, 800), tuple(self.glyphs), tuple(self.bars), display=True
        )

    def _font(self, character: str) -> str:
        return _ITALIC if character.isalpha() else "CMR10"

    def _glyph(self, character: str, y: float, size: float, font: str) -> None:
        low = 0.25 if character in "()[]{}|/" else 0.0
        high = 0.75 if low else 0.65
        if character in "-−=+":
            low, high = (-0.1, 0.4)
        box = Box(self.x, y - high * size, self.x + WIDTH * size, y + low * size)
        symbol = identify(font, character)
        self.glyphs.append(Glyph(len(self.glyphs), character, symbol, font, size, self.x, y, box))


def read_marks(page: pymupdf.Page) -> PageMarks:
    """The marks that a page paints, without those of prose."""
    drawn = find_drawn(page.get_cdrawings())
    runs = read_characters(page, drawn.list_boxes(page.rect.width)).runs
    return gather_marks(page, runs, drawn, ()).marks


def find_regions(marks: PageMarks) -> list[FormulaRegion]:
    """The formulas of a page."""
    return [place.region for place in place_regions(marks).places]


def read_formulas(marks: PageMarks) -> list[Formula]:
    """The formulas of a page as LaTeX."""
    return [read_formula(place.region, place.parts) for place in place_regions(marks).places]


def read_region(region: FormulaRegion) -> Formula:
    """Marks that are one formula for certain as LaTeX."""
    return read_formula(region, find_parts(region))
