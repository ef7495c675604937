"""Regions of a page's marks that are formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from omibench.stages.ocr.formulas.marks import FormulaRegion, PageMarks
from omibench.stages.ocr.formulas.reading.aligned import join_aligned
from omibench.stages.ocr.formulas.reading.blocks import find_units
from omibench.stages.ocr.formulas.reading.growth import RowReader
from omibench.stages.ocr.formulas.reading.kinds import is_math_font
from omibench.stages.ocr.formulas.reading.objects import as_unit, split_objects
from omibench.stages.ocr.formulas.reading.painting import count_torn, separate
from omibench.stages.ocr.formulas.reading.rows import Row, form_rows
from omibench.stages.ocr.formulas.reading.scripts import attach_scripts
from omibench.stages.ocr.formulas.reading.units import RowUnit
from omibench.stages.ocr.layout.layout import Box

_GREEK_PROSE = 0.2
"""Share of a page's letters from which Greek ones are prose."""
_OVERHANG = 0.5
"""Maximum length of a rule beyond the end of its formula, in type sizes."""
_LEAST_RULE_GAP = 1.5
"""Points between a formula and a rule over or under it, at least."""
_RULE_GAP = 0.25
"""The same in type sizes: three times the rule and half of it, which is .04 to .07 thick."""


class PlacedRegion(NamedTuple):
    """Formula with the baseline and the type size of its row, in points.

    `start` and `end` are the range of its units in `row`.
    """

    region: FormulaRegion
    baseline: float
    size: float
    row: RowReader
    start: int
    end: int


def find_regions(marks: PageMarks) -> list[FormulaRegion]:
    """Return the formulas of a page.

    Args:
        marks: Marks that the page paints.

    Returns:
        A region for each formula, from top to bottom; no mark is in two.
    """
    return [place.region for place in place_regions(marks)]


def place_regions(marks: PageMarks) -> list[PlacedRegion]:
    """Return the formulas of a page with their places in their rows, from top to bottom.

    Formulas that mix the marks of others are read again, with the marks of each piece of the
    painting order by themselves.
    """
    rest, objects = split_objects(marks)
    embedded = [as_unit(each, attach_scripts(list(find_units(each).units))) for each in objects]
    places = _place_regions(marks, [rest], embedded)
    torn = _count_torn(places, marks)
    if torn:
        groups = separate(rest, [place.region for place in places])
        apart = _place_regions(marks, groups, embedded)
        if _count_torn(apart, marks) < torn:
            return apart
    return places


def _count_torn(places: Sequence[PlacedRegion], marks: PageMarks) -> int:
    return count_torn([place.region for place in places], marks.glyphs)


def _place_regions(
    marks: PageMarks, groups: Sequence[PageMarks], embedded: Sequence[RowUnit]
) -> list[PlacedRegion]:
    """Return the formulas of a page whose units are formed in each group of marks."""
    units = [attach_scripts(list(find_units(group).units)) for group in groups]
    rows = form_rows([*units, embedded])
    marks = _without_bars(marks, rows)
    greek = has_greek_prose(marks)
    places: list[PlacedRegion] = []
    for row in rows:
        reader = RowReader(row, has_greek_prose=greek)
        intervals = reader.find_intervals()
        base = next((u for u in row if not u.has_axis), row[0])
        size = max((u.size for u in row if not u.has_axis), default=base.size)
        for start, end in intervals:
            display = len(intervals) == 1 and end - start == len(row)
            region = make_region(row[start:end], marks, display=display)
            places.append(PlacedRegion(region, base.baseline, size, reader, start, end))
    return join_aligned(sorted(places, key=lambda p: (p.region.box.y0, p.region.box.x0)))


def _without_bars(marks: PageMarks, rows: Sequence[Row]) -> PageMarks:
    """Return the marks without bars that belong to a unit, such as a root in the row below."""
    if not marks.bars:
        return marks
    taken = {bar for row in rows for unit in row for part in unit.walk() for bar in part.bars}
    return replace(marks, bars=tuple(bar for bar in marks.bars if bar not in taken))


def has_greek_prose(marks: PageMarks) -> bool:
    """Return whether Greek letters of a page are words rather than mathematics."""
    letters = [g for g in marks.glyphs if g.text.isalpha() and not is_math_font(g.font)]
    greek = sum("\u0370" <= g.text <= "\u03ff" for g in letters)
    return greek > _GREEK_PROSE * max(1, len(letters))


def make_region(row: Row | Sequence[RowUnit], marks: PageMarks, *, display: bool) -> FormulaRegion:
    """Return units of one formula as a region."""
    units = [part for unit in row for part in unit.walk()]
    box = units[0].box
    for unit in units[1:]:
        box = box.union(unit.box)
    bars = {bar: None for unit in units for bar in unit.bars}
    size = max(unit.size for unit in units)
    around = box.grow(1.0, max(_LEAST_RULE_GAP, _RULE_GAP * size))
    is_object = any(unit.is_object for unit in units)
    for bar in () if is_object else marks.bars:
        is_within = box.x0 - _OVERHANG * size < bar.x0 and bar.x1 < box.x1 + _OVERHANG * size
        if is_within and around.holds(Box(bar.x0, bar.y, bar.x1, bar.y)):
            bars.setdefault(bar)
    return FormulaRegion(
        box=box,
        glyphs=tuple(glyph for unit in units for glyph in unit.glyphs),
        bars=tuple(bars),
        roots=tuple(root for unit in units for root in unit.roots),
        pictures=tuple(p for p in marks.pictures if box.holds(p.box)),
        display=display,
        is_object=is_object,
    )
