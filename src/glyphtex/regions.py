"""Doubts from the painting order: programs paint the marks of a formula consecutively."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, TypeVar

from glyphtex.libreoffice import split_objects
from glyphtex.marks import (
    FormulaRegion,
    Glyph,
    Levels,
    NextLine,
    PageMarks,
    RootSign,
    Rule,
    is_math_font,
    unite,
)
from glyphtex.page_marks import WIDEST
from glyphtex.row_reader import BREAK, RowReader
from glyphtex.rows import Passage, find_passages, form_rows, is_certain
from glyphtex.tree import build_formula, find_page_parts, find_parts
from glyphtex.tree.parts import Part
from glyphtex.tree.scripts import attach_scripts

TORN = "other text is painted between the marks of the formula"
TAKEN = "one of its marks may have been read as part of another formula"


def find_torn(
    regions: Sequence[FormulaRegion], glyphs: Sequence[Glyph]
) -> Iterator[tuple[int, str]]:
    """Yield the formulas whose marks are not painted consecutively.

    Args:
        regions: Formulas of a page.
        glyphs: Glyphs of the page in painting order.

    Yields:
        Index of a formula and the doubt.
    """
    owners = {id(glyph): k for k, region in enumerate(regions) for glyph in region.glyphs}
    order = [owners.get(id(glyph)) for glyph in glyphs]
    places: dict[int, list[int]] = {}
    for place, owner in enumerate(order):
        if owner is not None:
            places.setdefault(owner, []).append(place)
    for owner, own in places.items():
        if own[-1] - own[0] + 1 == len(own):
            continue
        yield owner, TORN
        others = {order[place] for place in range(own[0], own[-1])} - {owner, None}
        for other in others:
            if other is not None:
                yield other, TAKEN


# Marks separated by the painting order, where formulas are printed so close that they mix.

_Mark = TypeVar("_Mark", Glyph, Rule, RootSign)
_SHORTEST = 2
"""Minimum number of consecutive characters of text that separate two formulas, as in `1.`."""
_LABEL = re.compile(r"\([A-Ha-h1-8]\)")
_NEAR = 1.0
"""Maximum distance between a formula and a rule painted after it, in type sizes."""
_FULL_SIZE = 0.95
"""Minimum size of such characters, as a share of the most frequent size of the page."""


def find_lost_bars(regions: Sequence[FormulaRegion], marks: PageMarks) -> Iterator[int]:
    """Yield the index of each formula after whose marks a rule is painted that is in no formula.

    Args:
        regions: Formulas of a page.
        marks: Marks that the page paints.
    """
    taken = {bar for region in regions for bar in region.bars}
    free = [bar for bar in _list_narrow(marks.bars, marks) if bar not in taken]
    if not free:
        return
    owners = {id(glyph): k for k, region in enumerate(regions) for glyph in region.glyphs}
    glyphs = in_order(marks.glyphs)
    serials = [glyph.serial for glyph in glyphs]
    for bar in free:
        place = bisect_right(serials, bar.serial) - 1
        while place >= 0 and id(glyphs[place]) not in owners:
            size, (x, y) = glyphs[place].size, glyphs[place].box.centre
            if not (bar.x0 < x < bar.x1 and abs(y - bar.y) < _NEAR * size):
                break  # not right above or below the rule
            place -= 1
        owner = owners.get(id(glyphs[place])) if place >= 0 else None
        if owner is not None:
            box, most = regions[owner].box, _NEAR * glyphs[place].size
            if bar.box.gap_x(box) < most and bar.box.gap_y(box) < most:
                yield owner


def _list_narrow(bars: Iterable[Rule], marks: PageMarks) -> tuple[Rule, ...]:
    """Return the rules that are short enough for a formula."""
    return tuple(bar for bar in bars if bar.x1 - bar.x0 < WIDEST * marks.width)


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
        length = length + 1 if is_piece else 0
        label = "".join(g.text for g in ordered[place : place + 3])
        if length == _SHORTEST:
            yield ordered[place - _SHORTEST + 1].serial
        elif all(is_text[place : place + 3]) and _LABEL.fullmatch(label):
            yield glyph.serial


# Rows that are aligned at their relations, joined into one formula.

_OVERLAP = 0.5
"""Maximum overlap of the boxes of two rows of one formula, in type sizes."""
_NEXT_ROW = 1.1
"""Maximum gap between the boxes of two rows of one formula, in type sizes."""
_SHORT = 2.0
"""Minimum width before relations that are aligned on purpose, in type sizes."""
LONG = 8.0
"""Width before relations up to which rows may be one formula, in type sizes."""
_CLOSE = 0.75
"""Maximum gap between such rows, in type sizes; separate displays are farther apart."""
_EXACTLY = 0.3
"""Maximum difference between relations that are aligned for certain, in points."""


def join_aligned(places: Sequence[PlacedRegion]) -> list[PlacedRegion]:
    """Join formulas that are alone in adjacent rows and have their relations at one place.

    Args:
        places: Formulas of a page from top to bottom.

    Returns:
        The same, joined ones in the place of the first.
    """
    joined: list[PlacedRegion] = []
    last_rows = RowsBelow()
    for place in places:
        for k, above in last_rows.find(place):
            if is_next_row(above, place, _EXACTLY, _SHORT):
                joined[k] = _join(joined[k], place)
                last_rows.remove(k, above)
                last_rows.add(k, place)
                break
        else:
            last_rows.add(len(joined), place)
            joined.append(place)
    return joined


class RowsBelow:
    """Formulas alone in their rows, looked up by where the next row of each would begin."""

    def __init__(self) -> None:
        self._levels: Levels[tuple[int, PlacedRegion]] = Levels()

    def add(self, number: int, place: PlacedRegion) -> None:
        """Add a formula with a number."""
        if place.region.display:
            self._levels.add(number, *_range_below(place), (number, place))

    def remove(self, number: int, place: PlacedRegion) -> None:
        """Remove a formula."""
        self._levels.remove(number, *_range_below(place))

    def find(self, below: PlacedRegion) -> list[tuple[int, PlacedRegion]]:
        """Return the formulas, and their numbers, whose next row another one may be."""
        y = below.region.box.y0
        return self._levels.find(y, y) if below.region.display else []


def _range_below(place: PlacedRegion) -> tuple[float, float]:
    """Return the range of the upper edges of a formula's next row."""
    foot = place.region.box.y1
    return foot - _OVERLAP * place.size, foot + _NEXT_ROW * place.size


def is_next_row(
    place: PlacedRegion, below: PlacedRegion, aligned: float, widest: float = LONG
) -> bool:
    """Return whether two formulas in separate rows have aligned relations.

    Args:
        place: The upper formula.
        below: The lower one.
        aligned: Maximum difference between the relations, in points.
        widest: Maximum width before the relations, in type sizes; rows farther apart than lines
            of one formula have less.
    """
    if not (place.region.display and below.region.display):
        return False
    a, b = place.region.box, below.region.box
    if not (-_OVERLAP * place.size < b.y0 - a.y1 < _NEXT_ROW * place.size and b.y0 > a.y0):
        return False
    upper, lower = _find_relation(place), _find_relation(below)
    if upper is None or lower is None or abs(upper - lower) > aligned:
        return False
    if b.y0 - a.y1 > _CLOSE * place.size:
        widest = min(widest, _SHORT)
    return max(upper - a.x0, lower - b.x0) < widest * place.size


def _find_relation(place: PlacedRegion) -> float | None:
    """Return the left edge of the first relation of a formula."""
    places = (k for k in range(place.start, place.end) if place.row.roles[k] == "relation")
    first = next(places, None)
    return None if first is None else place.row.units[first].box.x0


def _join(place: PlacedRegion, below: PlacedRegion) -> PlacedRegion:
    a, b = place.region, below.region
    region = replace(
        a,
        box=a.box.union(b.box),
        glyphs=(*a.glyphs, *b.glyphs),
        bars=tuple(dict.fromkeys((*a.bars, *b.bars))),
        roots=(*a.roots, *b.roots),
        pictures=tuple(dict.fromkeys((*a.pictures, *b.pictures))),
    )
    return place._replace(region=region, parts=(*place.parts, *below.parts))


# Regions of a page's marks that are formulas.

_GREEK_PROSE = 0.2
"""Share of a page's letters from which Greek ones are prose."""


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
    parts: tuple[Part, ...]
    """All parts of the formula, scripts among them, moved into its first line."""


class PageRegions(NamedTuple):
    """Formulas of a page, and whether all of its rules were examined for them."""

    places: list[PlacedRegion]
    is_complete: bool


def place_regions(marks: PageMarks) -> PageRegions:
    """Return the formulas of a page with their places in their rows, from top to bottom.

    Formulas that mix the marks of others are read again, with the marks of each piece of the
    painting order by themselves.
    """
    rest, objects = split_objects(marks)
    embedded = [part for each in objects if (part := _make_object(each))]
    found = _place_regions(marks, [rest], embedded)
    mixed = _count_mixed(found.places, marks)
    if mixed:
        groups = separate(rest, _list_lines(found.places))
        apart = _place_regions(marks, groups, embedded)
        if _count_mixed(apart.places, marks) < mixed:
            return apart
    return found


def _make_object(marks: PageMarks) -> Part | None:
    """Return an embedded formula as one part on the baseline of its row, if it has marks."""
    parts = find_parts(marks, is_embedded=True)
    if not parts:
        return None
    whole = build_formula(parts, is_embedded=True)
    whole = whole.change(axis=whole.middle, bars=marks.bars)
    whole.is_object = True
    return whole


def _count_mixed(places: Sequence[PlacedRegion], marks: PageMarks) -> int:
    """Count the formulas that lack marks painted with theirs, or have those of others."""
    lines = _list_lines(places)
    torn = [doubt for _, doubt in find_torn(lines, in_order(marks.glyphs)) if doubt == TORN]
    return len(torn) + len(list(find_lost_bars(lines, marks)))


def _list_lines(places: Sequence[PlacedRegion]) -> list[FormulaRegion]:
    return [line for place in places for line in place.region.lines]


def _place_regions(
    marks: PageMarks, groups: Sequence[PageMarks], embedded: Sequence[Part]
) -> PageRegions:
    """Return the formulas of a page whose units are formed in each group of marks."""
    narrow = [replace(group, bars=_list_narrow(group.bars, marks)) for group in groups]
    found = [find_page_parts(group) for group in narrow]
    rows = form_rows([*(attach_scripts(each.parts) for each in found), embedded])
    greek = has_greek_prose(marks)
    places: list[PlacedRegion] = []
    for passage in find_passages(rows, marks.glyphs):
        places += _read_passage(passage, marks, has_greek_prose=greek)
    ordered = sorted(places, key=lambda p: (p.region.box.y0, p.region.box.x0))
    return PageRegions(join_aligned(ordered), all(each.is_complete for each in found))


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
    size = max((u.size for u in lines[0] if u.axis is None), default=_find_base(lines[0]).size)
    following: list[NextLine] = []
    placed = [part for unit in parts[0] for part in unit.walk()]
    x = parts[0][-1].whole_box.x1
    for region, part, baseline in zip(rest, parts[1:], baselines[1:], strict=True):
        dx = x + BREAK * size - part[0].whole_box.x0
        dy = baselines[0] - baseline
        following.append(NextLine(region, dx, dy))
        placed += [piece.shift(dx, dy) for unit in part for piece in unit.walk()]
        x = part[-1].whole_box.x1 + dx
    region = replace(first, following=tuple(following))
    return PlacedRegion(region, baselines[0], size, row, start, end, tuple(placed))


def _find_base(line: Sequence[Part]) -> Part:
    """Return the unit that has the baseline of a line."""
    return next((unit for unit in line if unit.axis is None), line[0])


def has_greek_prose(marks: PageMarks) -> bool:
    """Return whether Greek letters of a page are words rather than mathematics."""
    letters = [g for g in marks.glyphs if g.text.isalpha() and not is_math_font(g.font)]
    greek = sum("\u0370" <= g.text <= "\u03ff" for g in letters)
    return greek > _GREEK_PROSE * max(1, len(letters))


def make_region(row: Sequence[Part], marks: PageMarks, *, display: bool) -> FormulaRegion:
    """Return units of one formula as a region."""
    units = [part for unit in row for part in unit.walk()]
    box = unite(unit.box for unit in units)
    return FormulaRegion(
        box=box,
        glyphs=tuple(glyph for unit in units for glyph in unit.glyphs),
        bars=tuple(bar for unit in units for bar in unit.bars),
        roots=tuple(root for unit in units for root in unit.roots),
        pictures=tuple(p for p in marks.pictures if box.holds(p.box)),
        display=display,
        is_object=any(unit.is_object for unit in units),
    )
