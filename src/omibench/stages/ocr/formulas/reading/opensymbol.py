"""Signs of LibreOffice's OpenSymbol, whose type sizes say how far they are stretched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from omibench.stages.ocr.formulas.marks import Glyph

_FONT: Final = "OpenSymbol"
_STRETCHED: Final = frozenset({"large", "open", "close", "root", "piece", "accent"})
_NEIGHBOURS: Final = 4
"""Letters and digits painted before and after a sign that tell its type size."""


def unify_sizes(glyphs: Sequence[Glyph]) -> tuple[Glyph, ...]:
    """Give stretched brackets, sums and roots the type size of the letters beside them.

    LibreOffice sets a bracket of 15 points' height in type of 9.7, a sum beside letters of 12
    points in type of 17.5: by these sizes the letters would be scripts, or the bracket one.

    Args:
        glyphs: In the order of painting; boxes stay as they are.
    """
    return tuple(
        replace(glyph, size=_find_size(glyphs, place)) if _is_stretched(glyph) else glyph
        for place, glyph in enumerate(glyphs)
    )


def _is_stretched(glyph: Glyph) -> bool:
    return _FONT in glyph.font and glyph.symbol.kind in _STRETCHED


def _find_size(glyphs: Sequence[Glyph], place: int) -> float:
    """The largest size among the letters next to a glyph; its own where there are none."""
    around = glyphs[max(0, place - _NEIGHBOURS) : place + _NEIGHBOURS + 1]
    sizes = [
        other.size
        for other in around
        if other.symbol.kind in {"letter", "digit"} and _is_near(other, glyphs[place])
    ]
    return max(sizes, default=glyphs[place].size)


def _is_near(other: Glyph, glyph: Glyph) -> bool:
    reach = 2 * other.size
    return other.box.gap_x(glyph.box) < reach and other.box.gap_y(glyph.box) < 0.5 * other.size
