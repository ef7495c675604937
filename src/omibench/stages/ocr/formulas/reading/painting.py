"""Marks separated by the painting order, where formulas are printed so close that they mix."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from omibench.stages.ocr.formulas.marks import FormulaRegion, Glyph, PageMarks, RootSign, Rule
from omibench.stages.ocr.formulas.reading.kinds import is_math_font

_Mark = TypeVar("_Mark", Glyph, Rule, RootSign)
_SHORTEST = 2
"""Minimum number of consecutive characters of text that separate two formulas, as in `1.`."""
_FULL_SIZE = 0.95
"""Minimum size of such characters, as a share of the most frequent size of the page."""


def count_torn(regions: Sequence[FormulaRegion], glyphs: Sequence[Glyph]) -> int:
    """Count the formulas whose marks are not painted consecutively.

    Args:
        regions: Formulas of a page.
        glyphs: Glyphs of the page.
    """
    places = {id(glyph): place for place, glyph in enumerate(_in_order(glyphs))}
    own = [sorted(places[id(glyph)] for glyph in region.glyphs) for region in regions]
    return sum(bool(ps) and ps[-1] - ps[0] + 1 != len(ps) for ps in own)


def separate(marks: PageMarks, regions: Sequence[FormulaRegion]) -> list[PageMarks]:
    """Separate the marks of a page wherever text is painted between formulas.

    Args:
        marks: Marks that the page paints.
        regions: Formulas of the page as far as known; text is what is in none of them.

    Returns:
        The marks in groups in painting order; each begins with text.
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


def _in_order(glyphs: Sequence[Glyph]) -> list[Glyph]:
    return sorted(glyphs, key=lambda glyph: glyph.serial)


def _find_starts(glyphs: Sequence[Glyph], regions: Sequence[FormulaRegion]) -> Iterator[int]:
    """Yield the serial number of the first character of each piece of text."""
    owned = {id(glyph) for region in regions for glyph in region.glyphs}
    sizes = Counter(round(glyph.size, 1) for glyph in glyphs)
    least = _FULL_SIZE * sizes.most_common(1)[0][0] if sizes else 0.0
    start, count = 0, 0
    for glyph in _in_order(glyphs):
        is_text = id(glyph) not in owned and glyph.size >= least and not is_math_font(glyph.font)
        if is_text and not count:
            start = glyph.serial
        count = count + 1 if is_text else 0
        if count == _SHORTEST:
            yield start
