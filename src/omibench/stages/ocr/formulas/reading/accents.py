"""Mathematical accents, placed in the rows of their letters."""

from __future__ import annotations

from omibench.stages.ocr.formulas.reading.kinds import is_math_letter
from omibench.stages.ocr.formulas.reading.units import AXIS, InkField, RowUnit
from omibench.stages.ocr.layout.layout import Box

_LOWEST = -0.25
"""Maximum overlap of an accent with the box of its letter, in type sizes."""
_HIGHEST = 0.4
"""Maximum gap between a letter and its accent, in type sizes."""
_OFF_CENTRE = 0.75
"""Maximum offset of a zero-width accent from the middle of its letter, in type sizes."""


def seat_accents(field: InkField) -> None:
    """Give each accent over a mathematical letter the baseline and the width of that letter.

    TeX raises accents over tall letters, and gives the arrow of a vector no width: by its position
    alone, such an accent would be in the row above.

    Args:
        field: Units of a page before any are joined.
    """
    for unit in [u for u in field.units if u.glyphs[0].symbol.kind == "accent"]:
        letter = _find_letter(unit, field)
        if letter is None:
            continue
        field.remove(unit)
        unit.axis = letter.baseline - AXIS * unit.size
        unit.box = unit.box._replace(x0=letter.box.x0, x1=letter.box.x1)
        field.add(unit)


def _find_letter(accent: RowUnit, field: InkField) -> RowUnit | None:
    """Return the letter under an accent, or None if no mathematical letter is there."""
    x, size = accent.box.centre[0], accent.size
    below = Box(x - size, accent.box.y1 + _LOWEST * size, x + size, accent.box.y1 + 1.2 * size)
    letters = [
        u
        for u in field.centred_in(below)
        if _LOWEST * size < u.box.y0 - accent.box.y1 < _HIGHEST * size
        and abs(u.box.centre[0] - x) < _OFF_CENTRE * size
        and is_math_letter(u.glyphs[0])
    ]
    return min(letters, key=lambda u: abs(u.box.centre[0] - x), default=None)
