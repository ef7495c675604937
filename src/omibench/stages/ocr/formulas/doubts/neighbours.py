"""Doubts from the positions of a page's formulas relative to each other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import combinations

from omibench.stages.ocr.formulas.marks import FormulaRegion, Glyph
from omibench.stages.ocr.layout.layout import Box

SPLIT = "another formula in the same row may be part of it"
OVERLAP = "the formula overlaps another one"
INSIDE = "a symbol inside the formula is not part of it"
SIGNS = "the formula is a sign without a letter or a number"
_BESIDE = 0.6
"""Minimum gap between two separate formulas, in type sizes."""
_COMMON = 0.3
"""Minimum overlap of two formulas in one row, as a share of the lower one's height."""
_OVERLAP = 0.12
"""Minimum overlap of two overlapping formulas, as a share of the smaller one's area."""
_INK = 0.1
"""Points: a narrower glyph, such as a variant selector, paints nothing."""
_SIGNS = frozenset(("operator", "relation", "arrow", "large", "root", "piece", "accent"))


def find_neighbours(
    regions: Sequence[FormulaRegion], glyphs: Sequence[Glyph]
) -> Iterator[tuple[int, str]]:
    """Yield the formulas that are too close to another formula or contain other text.

    Args:
        regions: Formulas of the page.
        glyphs: Glyphs of the page.
    """
    owned = {id(glyph) for region in regions for glyph in region.glyphs}
    free = [g for g in glyphs if id(g) not in owned and g.box.width > _INK]
    free.sort(key=lambda glyph: glyph.box.centre[1])
    levels = [glyph.box.centre[1] for glyph in free]
    order = sorted(range(len(regions)), key=lambda k: regions[k].box.y0)
    for number, region in enumerate(regions):
        if all(glyph.symbol.kind in _SIGNS for glyph in region.glyphs):
            yield number, SIGNS
        low, high = bisect_left(levels, region.box.y0), bisect_left(levels, region.box.y1)
        if any(_holds(region.box, glyph) for glyph in free[low:high]):
            yield number, INSIDE
    for i, j in combinations(order, 2):
        a, b = regions[i], regions[j]
        if b.box.y0 > a.box.y1:
            continue
        if a.is_object and b.is_object:
            continue
        if _share(a.box, b.box) > _OVERLAP:
            yield i, OVERLAP
            yield j, OVERLAP
        elif _are_beside(a, b, free):
            yield i, SPLIT
            yield j, SPLIT


def _holds(box: Box, glyph: Glyph) -> bool:
    x, y = glyph.box.centre
    return box.x0 < x < box.x1 and box.y0 + 0.5 < y < box.y1 - 0.5


def _share(a: Box, b: Box) -> float:
    width, height = -a.gap_x(b), -a.gap_y(b)
    if width <= 0 or height <= 0:
        return 0.0
    return width * height / max(1.0, min(a.width * a.height, b.width * b.height))


def _are_beside(a: FormulaRegion, b: FormulaRegion, free: Sequence[Glyph]) -> bool:
    """Return whether two formulas in one row are separated by a thin space at most."""
    size = max(g.size for region in (a, b) for g in region.glyphs)
    left, right = sorted((a.box, b.box), key=lambda box: box.x0)
    if left.gap_x(right) > _BESIDE * size:
        return False
    if -left.gap_y(right) < _COMMON * min(left.height, right.height):
        return False
    between = Box(
        left.x1 - 0.1 * size,
        max(left.y0, right.y0) - 1,
        right.x0 + 0.1 * size,
        max(left.y1, right.y1) + 1,
    )
    return not any(between.holds(glyph.box) for glyph in free)
