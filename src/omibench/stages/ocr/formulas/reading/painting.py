"""Marks separated by the painting order, where formulas are printed so close that they mix."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from omibench.stages.ocr.formulas.marks import FormulaRegion, Glyph, PageMarks, RootSign, Rule
from omibench.stages.ocr.formulas.reading.kinds import is_math_font
from omibench.stages.ocr.formulas.reading.rules import WIDEST

_Mark = TypeVar("_Mark", Glyph, Rule, RootSign)
_SHORTEST = 2
"""Minimum number of consecutive characters of text that separate two formulas, as in `1.`."""
_LABEL = re.compile(r"\([A-Ha-h1-8]\)")
_NEAR = 1.0
"""Maximum distance between a formula and a rule painted after it, in type sizes."""
_TOUCH = 0.15
"""Maximum gap between the characters of a word, in type sizes."""
_FULL_SIZE = 0.95
"""Minimum size of such characters, as a share of the most frequent size of the page."""


def find_lost_bars(regions: Sequence[FormulaRegion], marks: PageMarks) -> Iterator[int]:
    """Yield the index of each formula after whose marks a rule is painted that is in no formula.

    Args:
        regions: Formulas of a page.
        marks: Marks that the page paints.
    """
    taken = {bar for region in regions for bar in region.bars}
    free = [
        bar for bar in marks.bars if bar not in taken and bar.x1 - bar.x0 < WIDEST * marks.width
    ]
    if not free:
        return
    owners = {id(glyph): k for k, region in enumerate(regions) for glyph in region.glyphs}
    glyphs = in_order(marks.glyphs)
    serials = [glyph.serial for glyph in glyphs]
    for bar in free:
        place = bisect_right(serials, bar.serial) - 1
        while place >= 0 and id(glyphs[place]) not in owners and _is_over(glyphs[place], bar):
            place -= 1
        owner = owners.get(id(glyphs[place])) if place >= 0 else None
        if owner is not None and _is_near(bar, regions[owner], glyphs[place].size):
            yield owner


def _is_over(glyph: Glyph, bar: Rule) -> bool:
    """Return whether a glyph is right above or below a rule."""
    x, y = glyph.box.centre
    return bar.x0 < x < bar.x1 and abs(y - bar.y) < _NEAR * glyph.size


def _is_near(bar: Rule, region: FormulaRegion, size: float) -> bool:
    box = bar.box
    return box.gap_x(region.box) < _NEAR * size and box.gap_y(region.box) < _NEAR * size


def separate(marks: PageMarks, regions: Sequence[FormulaRegion]) -> list[PageMarks]:
    """Separate the marks of a page wherever text is painted between formulas.

    Args:
        marks: Marks that the page paints.
        regions: Formulas of the page as far as known; text is what is in none of them.

    Returns:
        The marks in groups in painting order; each after the first begins with text.
    """
    starts = sorted(_find_starts(marks.glyphs, regions))
    glyphs = _group(marks.glyphs, starts)
    bars, roots = _group(marks.bars, starts), _group(marks.roots, starts)
    return [
        PageMarks(
            marks.width,
            marks.height,
            tuple(glyphs[number]),
            tuple(bars.get(number, ())),
            tuple(roots.get(number, ())),
        )
        for number in sorted(glyphs)
    ]


def _group(members: Iterable[_Mark], starts: Sequence[int]) -> dict[int, list[_Mark]]:
    """Return the marks by the number of starts that are painted before them."""
    groups: dict[int, list[_Mark]] = {}
    for mark in members:
        groups.setdefault(bisect_right(starts, mark.serial), []).append(mark)
    return groups


def in_order(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Return glyphs in the order in which they are painted."""
    return sorted(glyphs, key=lambda glyph: glyph.serial)


def _find_starts(glyphs: Sequence[Glyph], regions: Sequence[FormulaRegion]) -> Iterator[int]:
    """Yield the serial number of the first character of each piece of text."""
    owned = {id(glyph) for region in regions for glyph in region.glyphs}
    sizes = Counter(round(glyph.size, 1) for glyph in glyphs)
    least = _FULL_SIZE * sizes.most_common(1)[0][0] if sizes else 0.0
    ordered = in_order(glyphs)
    is_text = [glyph.size >= least and not is_math_font(glyph.font) for glyph in ordered]
    length = 0
    for place, glyph in enumerate(ordered):
        is_piece = is_text[place] and id(glyph) not in owned
        if is_piece and not length and place and _touches(ordered[place - 1], glyph):
            is_piece = False  # an element after its numbers
        length = length + 1 if is_piece else 0
        if length == _SHORTEST:
            yield ordered[place - _SHORTEST + 1].serial
        elif all(is_text[place : place + 3]) and _is_label(ordered[place : place + 3]):
            yield glyph.serial


def _touches(before: Glyph, glyph: Glyph) -> bool:
    """Return whether a character is right after another one, as in a word."""
    gap = glyph.box.x0 - before.box.x1
    return abs(gap) < _TOUCH * glyph.size and before.box.gap_y(glyph.box) < 0


def _is_label(glyphs: Sequence[Glyph]) -> bool:
    """Return whether three characters are the label of a choice, as `(A)`."""
    return _LABEL.fullmatch("".join(glyph.text for glyph in glyphs)) is not None
