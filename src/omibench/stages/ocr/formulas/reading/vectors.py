"""Arrows over letters, which MathJax sets as arrows of a line and not as accents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol

_ARROW = "→"
_VECTOR = GlyphSymbol("\\vec", "accent")
_WIDEST = 1.3
"""Type sizes of an arrow over one letter, at most."""
_GAP = 0.35
"""Type sizes between a letter and the arrow over it, at most."""
_OFF_CENTRE = 0.45
"""Type sizes by which the middle of the arrow may lie beside that of its letter."""


def find_vectors(glyphs: Sequence[Glyph]) -> tuple[Glyph, ...]:
    """The glyphs, arrows over a letter as accents.

    Args:
        glyphs: All glyphs of a page.
    """
    letters = [g for g in glyphs if g.symbol.kind == "letter"]
    dashes = [g for g in glyphs if g.symbol.latex == "-"]
    return tuple(
        replace(glyph, symbol=_VECTOR)
        if glyph.text == _ARROW
        and any(_is_over(glyph, letter) for letter in letters)
        and not any(_is_lengthened(glyph, dash) for dash in dashes)
        else glyph
        for glyph in glyphs
    )


def _is_lengthened(arrow: Glyph, dash: Glyph) -> bool:
    """Whether a dash goes on from an arrow, which then stands over several letters."""
    is_level = abs(arrow.y - dash.y) < 0.05 * arrow.size
    return is_level and arrow.box.gap_x(dash.box) < 0 and dash.box.x0 < arrow.box.x0


def _is_over(arrow: Glyph, letter: Glyph) -> bool:
    size = letter.size
    gap = letter.box.y0 - arrow.box.y1
    return (
        -0.1 * size < gap < _GAP * size
        and arrow.box.width < _WIDEST * size
        and abs(arrow.box.centre[0] - letter.box.centre[0]) < _OFF_CENTRE * size
    )
