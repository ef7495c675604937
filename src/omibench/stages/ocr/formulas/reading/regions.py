"""Regions of a page's marks that are formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from omibench.stages.ocr.formulas.breaks.certainty import is_certain
from omibench.stages.ocr.formulas.breaks.passages import Passage, find_passages
from omibench.stages.ocr.formulas.doubts.order import TORN, find_torn
from omibench.stages.ocr.formulas.marks import FormulaRegion, NextLine, PageMarks, unite
from omibench.stages.ocr.formulas.reading.aligned import join_aligned
from omibench.stages.ocr.formulas.reading.blocks import find_units
from omibench.stages.ocr.formulas.reading.growth import RowReader
from omibench.stages.ocr.formulas.reading.kinds import is_math_font
from omibench.stages.ocr.formulas.reading.objects import as_unit, split_objects
from omibench.stages.ocr.formulas.reading.operands import BREAK
from omibench.stages.ocr.formulas.reading.painting import (
    find_lost_bars,
    in_order,
    separate,
)
from omibench.stages.ocr.formulas.reading.rows import Row, form_rows
from omibench.stages.ocr.formulas.reading.scripts import attach_scripts
from omibench.stages.ocr.formulas.reading.units import RowUnit

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
    mixed = _count_mixed(places, marks)
    if mixed:
        groups = separate(rest, _list_lines(places))
        apart = _place_regions(marks, groups, embedded)
        if _count_mixed(apart, marks) < mixed:
            return apart
    return places


def _count_mixed(places: Sequence[PlacedRegion], marks: PageMarks) -> int:
    """Count the formulas that lack marks painted with theirs, or have those of others."""
    lines = _list_lines(places)
    torn = [doubt for _, doubt in find_torn(lines, in_order(marks.glyphs)) if doubt == TORN]
    return len(torn) + len(list(find_lost_bars(lines, marks)))


def _list_lines(places: Sequence[PlacedRegion]) -> list[FormulaRegion]:
    return [line for place in places for line in place.region.lines]


def _place_regions(
    marks: PageMarks, groups: Sequence[PageMarks], embedded: Sequence[RowUnit]
) -> list[PlacedRegion]:
    """Return the formulas of a page whose units are formed in each group of marks."""
    units = [attach_scripts(list(find_units(group).units)) for group in groups]
    rows = form_rows([*units, embedded])
    marks = _without_bars(marks, rows)
    greek = has_greek_prose(marks)
    places: list[PlacedRegion] = []
    for passage in find_passages(rows, marks.glyphs):
        places += _read_passage(passage, marks, has_greek_prose=greek)
    return join_aligned(sorted(places, key=lambda p: (p.region.box.y0, p.region.box.x0)))


def _read_passage(
    passage: Passage, marks: PageMarks, *, has_greek_prose: bool
) -> list[PlacedRegion]:
    """Return the formulas of a passage; it is split where no formula crosses for certain."""
    row = RowReader(passage.units, has_greek_prose=has_greek_prose, breaks=passage.breaks)
    intervals = row.find_intervals()
    for place in passage.breaks:
        if not is_certain(row, passage, intervals, place):
            above, below = (
                _read_passage(part, marks, has_greek_prose=has_greek_prose)
                for part in passage.split(place)
            )
            return [*above, *below]
    is_alone = len(intervals) == 1 and intervals[0] == (0, len(row.units))
    return [_place_region(row, start, end, marks, is_alone) for start, end in intervals]


def _place_region(
    row: RowReader, start: int, end: int, marks: PageMarks, is_alone: bool
) -> PlacedRegion:
    """Return an interval of a row as a region, with its parts in the lines that it crosses."""
    edges = [0, *row.breaks, len(row.units)]
    lines = [row.units[a:b] for a, b in pairwise(edges) if a < end and start < b]
    cuts = [start, *(b for b in row.breaks if start < b < end), end]
    parts = [row.units[a:b] for a, b in pairwise(cuts)]
    baselines = [_find_base(line).baseline for line in lines]
    first, *rest = (make_region(part, marks, display=is_alone) for part in parts)
    size = max((u.size for u in lines[0] if not u.has_axis), default=_find_base(lines[0]).size)
    following: list[NextLine] = []
    x = parts[0][-1].whole_box.x1
    for region, part, baseline in zip(rest, parts[1:], baselines[1:], strict=True):
        dx = x + BREAK * size - part[0].whole_box.x0
        following.append(NextLine(region, dx, baselines[0] - baseline))
        x = part[-1].whole_box.x1 + dx
    region = replace(first, following=tuple(following))
    return PlacedRegion(region, baselines[0], size, row, start, end)


def _find_base(line: Sequence[RowUnit]) -> RowUnit:
    """Return the unit that has the baseline of a line."""
    return next((unit for unit in line if not unit.has_axis), line[0])


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
    box = unite(unit.box for unit in units)
    bars = {bar: None for unit in units for bar in unit.bars}
    size = max(unit.size for unit in units)
    around = box.grow(1.0, max(_LEAST_RULE_GAP, _RULE_GAP * size))
    is_object = any(unit.is_object for unit in units)
    for bar in () if is_object else marks.bars:
        is_within = box.x0 - _OVERHANG * size < bar.x0 and bar.x1 < box.x1 + _OVERHANG * size
        if is_within and around.holds(bar.box):
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
