"""Signs of LibreOffice's OpenSymbol: stretched ones, and accents without a width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol
from omibench.stages.ocr.layout.layout import Box

_FONT: Final = "OpenSymbol"
_STRETCHED: Final = frozenset({"large", "open", "close", "root", "piece", "accent"})
_SPACING_ACCENTS: Final = {
    "~": GlyphSymbol(r"\tilde", "accent"),
    "^": GlyphSymbol(r"\hat", "accent"),
}  # fmt: skip
"""Signs that are accents over a letter."""
_NEIGHBOURS: Final = 4
"""Number of letters and digits painted before and after a sign that give its type size."""
_MOST_LIMITS: Final = 16
"""The same for a sum, whose limits are painted next to it."""
_STARTS: Final = 0.35
"""Maximum distance between the left edges of an accent and its letter, in type sizes."""
_HIGHEST: Final = 3.0
"""Maximum height of an accent's box over its letter, in type sizes: long arrows have large type."""
_ACCENT: Final = (0.25, 0.05)
"""Top and bottom of an accent above its letter, in type sizes."""
_LARGE: Final = 1.3
"""Height of a sum or an integral, in type sizes of its row."""


def correct_signs(glyphs: Sequence[Glyph]) -> tuple[Glyph, ...]:
    """Give signs of OpenSymbol their visible size and position.

    LibreOffice sets a bracket 15 points high in type of 9.7, and a sum next to letters of 12 points
    in type of 17.5: with these sizes the letters or the bracket would be scripts. Each sign gets
    the size of the adjacent letters. An arrow over a letter has no width and is painted before its
    letter; a tilde over one is the sign `~`.

    Args:
        glyphs: Glyphs of a page; boxes of stretched signs are unchanged.
    """
    if not any(_FONT in glyph.font for glyph in glyphs):
        return tuple(glyphs)
    corrected = list(glyphs)
    places = sorted(range(len(glyphs)), key=lambda place: glyphs[place].serial)
    painted = [glyphs[place] for place in places]
    for number, place in enumerate(places):
        glyph = glyphs[place]
        if _FONT not in glyph.font:
            continue
        if glyph.symbol.kind in _STRETCHED:
            corrected[place] = replace(glyph, size=_find_size(painted, number))
        if number + 1 < len(painted):
            corrected[place] = _place_over(corrected[place], painted[number + 1])
    return tuple(corrected)


def _place_over(sign: Glyph, letter: Glyph) -> Glyph:
    """Return a sign over the letter painted next as an accent of its width."""
    box, size = sign.box, letter.size
    if sign.symbol.kind == "accent" and letter.symbol.kind in {"letter", "digit"}:
        starts = abs(letter.box.x0 - box.x0) < _STARTS * size
        if starts and box.y1 < letter.box.y1 and box.y0 > letter.box.y0 - _HIGHEST * size:
            x0, x1 = (box if box.width > 0.1 * size else letter.box)[::2]
            top = letter.box.y0
            placed = Box(x0, top - _ACCENT[0] * size, x1, top - _ACCENT[1] * size)
            return replace(sign, box=placed, size=size)
    is_above = box.y1 < letter.box.y0 + 0.15 * size and letter.box.y0 - box.y1 < 0.4 * size
    starts = -0.15 * size < letter.box.x0 - box.x0 < 0.3 * size
    if letter.symbol.kind not in {"letter", "digit"} or not is_above or not starts:
        return sign
    if sign.text in _SPACING_ACCENTS:
        return replace(sign, symbol=_SPACING_ACCENTS[sign.text])
    return sign


def _find_size(glyphs: Sequence[Glyph], place: int) -> float:
    """Return the size of the letters around a sign, or its size if there are none.

    The limits of a sum are smaller letters painted next to it: its height shows its row.
    """
    sign = glyphs[place]
    is_large = sign.symbol.kind == "large"
    most = _MOST_LIMITS if is_large else _NEIGHBOURS
    sizes = [
        other.size
        for other in glyphs[max(0, place - most) : place + most + 1]
        if other.symbol.kind in {"letter", "digit"} and _is_near(other, sign)
    ]
    if is_large and sizes:
        return min(sizes, key=lambda size: abs(sign.box.height - _LARGE * size))
    return max(sizes, default=sign.size)


def _is_near(other: Glyph, glyph: Glyph) -> bool:
    reach = 2 * other.size
    return other.box.gap_x(glyph.box) < reach and other.box.gap_y(glyph.box) < 0.5 * other.size
