"""Signs of LibreOffice's OpenSymbol: stretched ones, and accents without a width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol

_FONT: Final = "OpenSymbol"
_STRETCHED: Final = frozenset({"large", "open", "close", "root", "piece", "accent"})
_SPACING_ACCENTS: Final = {
    "~": GlyphSymbol(r"\tilde", "accent"),
    "^": GlyphSymbol(r"\hat", "accent"),
}  # fmt: skip
"""Signs that are accents over a letter."""
_NEIGHBOURS: Final = 4
"""Number of letters and digits painted before and after a sign that give its type size."""


def correct_signs(glyphs: Sequence[Glyph]) -> tuple[Glyph, ...]:
    """Give signs of OpenSymbol their visible size and position.

    LibreOffice sets a bracket 15 points high in type of 9.7, and a sum next to letters of 12 points
    in type of 17.5: with these sizes the letters or the bracket would be scripts. Each sign gets
    the size of the adjacent letters. An arrow over a letter has no width and is painted before its
    letter; a tilde over one is the sign `~`.

    Args:
        glyphs: Glyphs in painting order; boxes of stretched signs are unchanged.
    """
    corrected = list(glyphs)
    for place, glyph in enumerate(glyphs):
        if _FONT not in glyph.font:
            continue
        if glyph.symbol.kind in _STRETCHED:
            corrected[place] = replace(glyph, size=_find_size(glyphs, place))
        if place + 1 < len(glyphs):
            corrected[place] = _place_over(corrected[place], glyphs[place + 1])
    return tuple(corrected)


def _place_over(sign: Glyph, letter: Glyph) -> Glyph:
    """Return a sign over the letter painted next as an accent of its width."""
    box, size = sign.box, letter.size
    is_above = box.y1 < letter.box.y0 + 0.15 * size and letter.box.y0 - box.y1 < 0.4 * size
    starts = -0.15 * size < letter.box.x0 - box.x0 < 0.3 * size
    if letter.symbol.kind not in {"letter", "digit"} or not is_above or not starts:
        return sign
    if sign.symbol.kind == "accent" and box.width < 0.1 * size:
        return replace(sign, box=box._replace(x0=letter.box.x0, x1=letter.box.x1))
    if sign.text in _SPACING_ACCENTS:
        return replace(sign, symbol=_SPACING_ACCENTS[sign.text])
    return sign


def _find_size(glyphs: Sequence[Glyph], place: int) -> float:
    """Return the largest size among the letters around a glyph, or its size if there are none."""
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
