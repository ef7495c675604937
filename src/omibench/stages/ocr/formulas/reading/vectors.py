"""Arrows over letters, which MathJax sets as ordinary arrows rather than accents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol

_ARROW = "→"
_VECTOR = GlyphSymbol("\\vec", "accent")
_MOST = 500
"""Maximum number of arrows of a page that are compared with its letters."""
_WIDEST = 1.3
"""Maximum width of an arrow over one letter, in type sizes."""
_GAP = 0.35
"""Maximum gap between a letter and the arrow over it, in type sizes."""
_SAME_LINE = 0.05
"""Maximum difference between two baselines that are the same, in points."""
_BESIDE = 0.35
"""Maximum gap between an arrow of a row and the symbol before it, in type sizes."""
_OFF_CENTRE = 0.45
"""Maximum offset between the middles of the arrow and its letter, in type sizes."""


def find_vectors(glyphs: Sequence[Glyph]) -> tuple[Glyph, ...]:
    """Return the glyphs, with arrows over a letter as accents.

    Args:
        glyphs: All glyphs of a page. With more than 500 arrows, they are returned unchanged.
    """
    if not 0 < sum(glyph.text == _ARROW for glyph in glyphs) <= _MOST:
        return tuple(glyphs)
    letters = [g for g in glyphs if g.symbol.kind == "letter"]
    dashes = [g for g in glyphs if g.symbol.latex == "-"]
    return tuple(
        replace(glyph, symbol=_VECTOR)
        if glyph.text == _ARROW
        and any(_is_over(glyph, letter) for letter in letters)
        and not any(_is_lengthened(glyph, dash) for dash in dashes)
        and not any(_is_in_row(glyph, other) for other in glyphs)
        else glyph
        for glyph in glyphs
    )


def _is_lengthened(arrow: Glyph, dash: Glyph) -> bool:
    """Return whether a dash continues an arrow, which then is over several letters."""
    is_level = abs(arrow.y - dash.y) < 0.05 * arrow.size
    return is_level and arrow.box.gap_x(dash.box) < 0 and dash.box.x0 < arrow.box.x0


def _is_in_row(arrow: Glyph, other: Glyph) -> bool:
    """Return whether an arrow is between two symbols, as in the limit `n → ∞`."""
    is_level = abs(arrow.y - other.y) < _SAME_LINE and other.text != _ARROW
    gap = arrow.box.x0 - other.box.x1
    return is_level and -0.05 * arrow.size < gap < _BESIDE * arrow.size


def _is_over(arrow: Glyph, letter: Glyph) -> bool:
    size = letter.size
    gap = letter.box.y0 - arrow.box.y1
    return (
        -0.1 * size < gap < _GAP * size
        and arrow.box.width < _WIDEST * size
        and abs(arrow.box.centre[0] - letter.box.centre[0]) < _OFF_CENTRE * size
    )
