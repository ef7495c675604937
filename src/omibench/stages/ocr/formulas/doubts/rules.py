"""Doubts from rules between symbols that are not in any formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omibench.stages.ocr.formulas.doubts.left import Leftover
from omibench.stages.ocr.formulas.marks import FormulaRegion, Glyph, PageMarks, Rule
from omibench.stages.ocr.layout.layout import Box

UNUSED = "a rule next to the formula is not part of it"
_WIDEST = 0.4
"""Maximum length of a formula's rule, as a share of the page width."""
_BESIDE = 0.8
"""Maximum distance of a rule from its formula, in type sizes."""

_OVER = 0.4
"""Maximum gap between an overline and its letters, in type sizes."""
_OVERHANG = 1.0
"""Maximum excess length of a rule over the text above or below it, in type sizes."""
_MOST_LETTERS = 5
_MOST = 100
"""Maximum number of rules of a page that are examined."""


def find_unused(regions: Sequence[FormulaRegion], marks: PageMarks) -> Iterator[tuple[int, str]]:
    """Yield the formulas next to a rule that is not in any formula."""
    free = list_free(regions, marks)
    if not free:
        return
    for number, region in enumerate(regions):
        size = max((glyph.size for glyph in region.glyphs), default=10.0)
        around = region.box.grow(_BESIDE * size, 0.35 * size)
        if any(_is_near(bar, around) and _is_filled(bar, marks.glyphs, size) for bar in free):
            yield number, UNUSED


def list_free(regions: Sequence[FormulaRegion], marks: PageMarks) -> list[Rule]:
    """List the short rules of a page that are not in any formula."""
    taken = {bar for region in regions for bar in region.bars}
    return [
        bar for bar in marks.bars if bar not in taken and bar.x1 - bar.x0 < _WIDEST * marks.width
    ]


def find_overlines(free: Sequence[Rule], glyphs: Sequence[Glyph]) -> list[Leftover]:
    """Find the rules right over a few letters of text, which may be overlines.

    Args:
        free: Rules that are not in any formula.
        glyphs: Glyphs that are not in any formula.
    """
    found = []
    for bar in free[:_MOST]:
        below = [g for g in glyphs if _covers(bar, g) and 0 < g.box.y0 - bar.y < _OVER * g.size]
        above = [g for g in glyphs if _covers(bar, g) and 0 < bar.y - g.box.y1 < 2 * _OVER * g.size]
        if not 1 <= len(below) <= _MOST_LETTERS or above:
            continue
        x0, x1 = min(g.box.x0 for g in below), max(g.box.x1 for g in below)
        size = below[0].size
        if abs(x0 - bar.x0) < 0.3 * size and abs(x1 - bar.x1) < 0.3 * size:
            box = Box(bar.x0, bar.y, bar.x1, max(g.box.y1 for g in below))
            found.append(Leftover(box, "".join(g.text for g in below)))
    return found


def _covers(bar: Rule, glyph: Glyph) -> bool:
    return bar.x0 - 0.5 < glyph.box.centre[0] < bar.x1 + 0.5


def _is_filled(bar: Rule, glyphs: Sequence[Glyph], size: float) -> bool:
    """Return whether a rule is no longer than the text right above or below it."""
    near = [
        glyph for glyph in glyphs if _covers(bar, glyph) and glyph.box.gap_y(bar.box) < _OVER * size
    ]
    if not near:
        return False
    width = max(g.box.x1 for g in near) - min(g.box.x0 for g in near)
    return bar.x1 - bar.x0 < width + _OVERHANG * size


def _is_near(bar: Rule, around: Box) -> bool:
    return around.touches(Box(bar.x0, bar.y - 0.05, bar.x1, bar.y + 0.05))
