"""Formulas of LibreOffice: objects that it embeds, and the signs of its font OpenSymbol."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from glyphtex.marks import FUNCTIONS, UNITS, Box, Glyph, GlyphSymbol, PageMarks, is_chemical

if TYPE_CHECKING:
    import pymupdf


_FONT = "OpenSymbol"
"""Font of LibreOffice's mathematical signs; a document without it has no embedded formulas."""

# Formulas that a program embeds as objects, each painted within its own frame.
#
# LibreOffice paints each formula of a document inside a clip with the size of the formula.

_MOST = 1_000
"""Maximum number of clips of a page that are examined."""
_MOST_PAIRS = 5_000_000
"""Maximum number of pairs of a frame and a glyph that are compared."""
_HIGHEST = 150.0
"""Maximum height of a formula, in points."""
_WIDEST = 0.9
"""Maximum width of a formula, as a share of the page width."""
_MARGIN = 0.3
"""Maximum distance of a mark's middle beyond the frame, in points."""
_TIGHT = 0.16
"""Maximum gap between the letters of a word, in type sizes."""
_LONGEST_NAME = 3
"""Maximum number of letters of a word that is a product of variables or an abbreviation."""
_MOST_WORDS = 0.5
"""Maximum share of the glyphs of a formula that are words."""
_LEVEL = 0.12
"""Maximum difference between baselines of one row, in type sizes."""


def find_frames(page: pymupdf.Page) -> list[Box]:
    """Return the frames of embedded objects on a page, from the top of the painting order.

    Args:
        page: Page with its rotation removed.
    """
    if not any(_FONT in font[3] for font in page.get_fonts()):
        return []
    width = page.rect.width
    clips = [
        Box(*drawing["scissor"])
        for drawing in page.get_cdrawings(extended=True)
        if drawing["type"] == "clip"
    ]
    return [b for b in clips if 0 < b.height < _HIGHEST and 0 < b.width < _WIDEST * width][:_MOST]


def split_objects(marks: PageMarks) -> tuple[PageMarks, list[PageMarks]]:
    """Split the marks of a page into those outside of embedded formulas, and each formula.

    Args:
        marks: Marks of the page with its frames. If it has too many glyphs and frames, all marks
            count as outside.
    """
    rest = marks
    objects: list[PageMarks] = []
    frames = dict.fromkeys(marks.frames)
    for frame in frames if len(frames) * len(marks.glyphs) <= _MOST_PAIRS else ():
        inside = _find_inside(rest, frame.grow(_MARGIN, _MARGIN))
        if inside is not None and _is_formula(inside.glyphs):
            objects.append(inside)
            rest = _without(rest, inside)
    return rest, objects


def _find_inside(marks: PageMarks, frame: Box) -> PageMarks | None:
    """Return the longest run of glyphs painted in a frame, and the rules painted with them."""
    glyphs = sorted(marks.glyphs, key=lambda g: g.serial)
    places = [
        list(run)
        for held, run in groupby(range(len(glyphs)), key=lambda k: _is_in(glyphs[k], frame))
        if held
    ]
    if not places:
        return None
    run = max(places, key=len)
    first = glyphs[run[0] - 1].serial if run[0] else -1
    last = glyphs[run[-1] + 1].serial if run[-1] + 1 < len(glyphs) else math.inf
    return PageMarks(
        marks.width,
        marks.height,
        tuple(glyphs[k] for k in run),
        tuple(b for b in marks.bars if frame.holds(b.box) and first < b.serial < last),
        tuple(r for r in marks.roots if frame.holds(r.box) and first < r.serial < last),
    )


def _is_in(glyph: Glyph, frame: Box) -> bool:
    """Return whether a glyph is in a frame; the box of an accent without a width may not be."""
    if frame.holds(glyph.box):
        return True
    origin = Box(glyph.x, glyph.y, glyph.x, glyph.y)
    return glyph.symbol.kind == "accent" and frame.holds(origin)


def _is_formula(glyphs: Sequence[Glyph]) -> bool:
    """Return whether the glyphs of an object are mathematics rather than words."""
    if not any(g.italic or _FONT in g.font or g.symbol.kind == "digit" for g in glyphs):
        return False
    words = [
        word
        for word in _list_words(glyphs)
        if len(word) > _LONGEST_NAME and word not in FUNCTIONS | UNITS and not is_chemical(word)
    ]
    return sum(map(len, words)) <= _MOST_WORDS * len(glyphs)


def _list_words(glyphs: Sequence[Glyph]) -> list[str]:
    """Return each run of adjacent letters on one baseline."""
    words = [""]
    for last, glyph in pairwise((*glyphs[:1], *glyphs)):
        is_level = abs(glyph.y - last.y) < _LEVEL * glyph.size
        is_tight = glyph.box.x0 - last.box.x1 < _TIGHT * glyph.size
        if not (is_level and is_tight and glyph.text.isalpha()):
            words.append("")
        words[-1] += glyph.text if glyph.text.isalpha() else " "
    return [letters for word in words if (letters := word.strip())]


def _without(marks: PageMarks, taken: PageMarks) -> PageMarks:
    glyphs = {id(glyph) for glyph in taken.glyphs}
    return replace(
        marks,
        glyphs=tuple(glyph for glyph in marks.glyphs if id(glyph) not in glyphs),
        bars=tuple(bar for bar in marks.bars if bar not in taken.bars),
        roots=tuple(root for root in marks.roots if root not in taken.roots),
    )


# Signs of LibreOffice's OpenSymbol: stretched ones, and accents without a width.

_STRETCHED = frozenset({"large", "open", "close", "root", "piece", "accent"})
_SPACING_ACCENTS = {
    "~": GlyphSymbol(r"\tilde", "accent"),
    "^": GlyphSymbol(r"\hat", "accent"),
}  # fmt: skip
"""Signs that are accents over a letter."""
_NEIGHBOURS = 4
"""Number of letters and digits painted before and after a sign that give its type size."""
_MOST_LIMITS = 16
"""The same for a sum, whose limits are painted next to it."""
_STARTS = 0.35
"""Maximum distance between the left edges of an accent and its letter, in type sizes."""
_HIGHEST_ACCENT = 3.0
"""Maximum height of an accent's box over its letter, in type sizes: long arrows have large type."""
_ACCENT = (0.25, 0.05)
"""Top and bottom of an accent above its letter, in type sizes."""
_LARGE = 1.3
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
    if letter.symbol.kind not in {"letter", "digit"}:
        return sign
    top, from_left = letter.box.y0, letter.box.x0 - box.x0
    is_accent = sign.symbol.kind == "accent" and abs(from_left) < _STARTS * size
    if is_accent and box.y1 < letter.box.y1 and box.y0 > top - _HIGHEST_ACCENT * size:
        x0, x1 = (box if box.width > 0.1 * size else letter.box)[::2]
        placed = Box(x0, top - _ACCENT[0] * size, x1, top - _ACCENT[1] * size)
        return replace(sign, box=placed, size=size)
    is_above = box.y1 < top + 0.15 * size and top - box.y1 < 0.4 * size
    if is_above and -0.15 * size < from_left < 0.3 * size and sign.text in _SPACING_ACCENTS:
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
