"""Signs that a formula was read wrongly, and mathematics that no formula holds."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import groupby, islice, pairwise, product
from math import inf
from typing import NamedTuple

from glyphtex.marks import (
    STATES,
    WITH_ARGUMENT,
    Box,
    FormulaRegion,
    Glyph,
    Levels,
    PageMarks,
    Rule,
    is_hyphen,
    is_math_letter,
    is_sign_font,
    is_variable,
    unite,
)
from glyphtex.regions import (
    PlacedRegion,
    RowsBelow,
    find_lost_bars,
    find_torn,
    is_next_row,
)
from glyphtex.row_reader import SIGNS, SPACE, THIN, TIGHT, RowReader
from glyphtex.text_layer import Character, PaintedGlyph, TextRun

# Mathematics on a page that is not in any formula.

SYMBOL = "a mathematical symbol next to the formula is not part of it"
SMALL = "a smaller symbol next to the formula is not part of it"
_KINDS = frozenset(("operator", "relation", "arrow", "large", "root", "piece", "accent", "prime"))
_BULLETS = frozenset("/←⇐↵•●○■□▪▫◦★☆*∗†‡§¶✓✔►▶➢➤❖◆◇·⋅∙-−–—°∘º.,:;'’%")
_FLAT = frozenset("△∠∫∮∑∏√∂∇∈∉⊂⊆∪∩∀∃")
"""Signs that are mathematics in every font."""
_LEGIBLE = frozenset("=+<>")
"""Signs that text also has between plain numbers and words."""
_MINUS = frozenset("-−–")
_DOTS = frozenset("·⋅")
_SIZED = frozenset(("letter", "digit"))
"""Symbols whose type size is that of their row."""
_SMALLER = 0.86
_BESIDE = 1.2
"""Maximum distance from a formula, in type sizes, for a symbol to be part of it."""
_CLOSE = 0.35
"""The same for a symbol of smaller type."""


class Leftover(NamedTuple):
    """Mathematics outside of all formulas."""

    box: Box
    text: str


class Page(NamedTuple):
    """Formulas of a page, a region for each line, and the marks that no formula holds."""

    regions: Sequence[FormulaRegion]
    marks: PageMarks
    glyphs: list[Glyph]
    """Free glyphs in painting order."""
    bars: list[Rule]
    """Free rules that are short enough for a formula."""


def make_page(regions: Sequence[FormulaRegion], marks: PageMarks) -> Page:
    """Return a page with the marks that are in none of its formulas."""
    owned = {id(glyph) for region in regions for glyph in region.glyphs}
    taken = {bar for region in regions for bar in region.bars}
    bars = [b for b in marks.bars if b not in taken and b.x1 - b.x0 < _WIDEST * marks.width]
    return Page(regions, marks, [g for g in marks.glyphs if id(g) not in owned], bars)


def find_left(page: Page) -> Iterator[tuple[int, str] | Leftover]:
    """Yield the mathematics of a page that is not in any formula.

    Yields:
        Index of a formula and a doubt about it, or mathematics that is near no formula.
    """
    regions, free = index_regions(page.regions), page.glyphs
    for place, glyph in enumerate(free):
        before = free[place - 1] if place else None
        if is_mathematical(glyph) or _multiplies(before, glyph):
            near = find_nearest(glyph.box, glyph.size, regions, _BESIDE)
            if near is not None:
                yield near, SYMBOL
            elif glyph.text not in _LEGIBLE or _ends_line(glyph, page.marks.glyphs):
                yield Leftover(glyph.box, glyph.text)
    sizes = [
        max((g.size for g in region.glyphs if g.symbol.kind in _SIZED), default=0.0)
        for region in page.regions
    ]
    most = _SMALLER * max(sizes, default=0.0)
    for glyph in (g for g in free if g.size < most):
        near = find_nearest(glyph.box, glyph.size, regions, _CLOSE)
        if near is not None and glyph.size < _SMALLER * sizes[near]:
            yield near, SMALL
    yield from _find_functions(free)
    for before, glyph in pairwise(free):
        # A smaller sign right after a digit of text, such as an unread exponent.
        is_behind = -0.1 * before.size < glyph.box.x0 - before.box.x1 < 0.12 * before.size
        is_number = glyph.text.isdecimal() or glyph.text in _MINUS
        is_small = glyph.size < _SMALLER * before.size
        is_raised = abs(glyph.y - before.y) > 0.1 * before.size
        if before.text.isdecimal() and is_number and is_behind and is_small and is_raised:
            yield Leftover(before.box.union(glyph.box), before.text + glyph.text)


def _multiplies(before: Glyph | None, glyph: Glyph) -> bool:
    """Return whether a dot of a mathematical font follows a number, as in `6⋅`."""
    return (
        before is not None
        and glyph.text in _DOTS
        and before.symbol.kind == "digit"
        and is_sign_font(glyph.font)
        and abs(before.y - glyph.y) < 0.1 * glyph.size
        and 0 <= glyph.box.x0 - before.box.x1 < _CLOSE * glyph.size
    )


def _ends_line(glyph: Glyph, glyphs: Sequence[Glyph]) -> bool:
    """Return whether nothing is printed right of a sign in its row."""
    reach = glyph.box.x1 + glyph.size
    return not any(
        glyph.box.x1 <= other.box.centre[0] < reach and abs(other.y - glyph.y) < 0.5 * glyph.size
        for other in glyphs
    )


def is_mathematical(glyph: Glyph) -> bool:
    """Return whether a glyph is a sign of mathematics regardless of its neighbours."""
    if glyph.text in _FLAT:
        return True
    if glyph.text in _BULLETS or not is_sign_font(glyph.font):
        return False
    kind = glyph.symbol.kind
    return kind in _KINDS or (kind == "letter" and is_variable(glyph))


def _find_functions(glyphs: Iterable[Glyph]) -> Iterator[Leftover]:
    """Yield the function names in text that are followed by a number, as in `tan 49°`."""
    word: list[Glyph] = []
    for glyph in glyphs:
        last = word[-1] if word else glyph
        gap, off = glyph.box.x0 - last.box.x1, abs(glyph.y - last.y)
        is_next = off < 0.05 * glyph.size and -0.2 * glyph.size < gap < 0.12 * glyph.size
        if glyph.text.isalpha() and (is_next or not word):
            word.append(glyph)
            continue
        name = "".join(g.text for g in word)
        # `sin` is also Spanish.
        may_follow = glyph.text.isdecimal() or (glyph.text in "([" and not name.startswith("s"))
        is_level = off < 0.1 * glyph.size and gap < 0.6 * glyph.size
        if name in WITH_ARGUMENT and is_level and may_follow:
            yield Leftover(word[0].box.union(glyph.box), name + glyph.text)
        word = [glyph] if glyph.text.isalpha() else []


def index_regions(regions: Sequence[FormulaRegion]) -> Levels[tuple[int, Box]]:
    """Return the number and the box of each formula by their heights."""
    levels: Levels[tuple[int, Box]] = Levels()
    for number, region in enumerate(regions):
        levels.add(number, region.box.y0, region.box.y1, (number, region.box))
    return levels


def find_nearest(
    box: Box, size: float, regions: Levels[tuple[int, Box]], reach: float
) -> int | None:
    """Find the formula in the row of a symbol, at most `reach` type sizes away."""
    beside = (
        (box.gap_x(region), number)
        for number, region in regions.find(box.y0, box.y1)
        if box.gap_y(region) <= -0.2 * box.height
    )
    gap, nearest = min(beside, default=(inf, None))
    return nearest if gap < reach * size else None


# Glyphs that a page paints but its text layer lacks.

VANISHED = "a symbol painted next to the formula is missing from the text layer"
_MOVED = 0.35
"""Maximum displacement of a glyph in the text layer, in type sizes."""
_MOVED_ACCENT = 0.8
"""The same for an accent without a width."""
_CELL = 12.0
"""Side of the squares in which characters are looked up, in points."""
_BESIDE_VANISHED = 0.3


def find_vanished(painted: Iterable[PaintedGlyph], runs: Sequence[TextRun]) -> list[PaintedGlyph]:
    """Find the glyphs without a character in the text layer.

    A glyph that is painted twice, as for bold type, counts once.

    Args:
        painted: Glyphs that the page paints, without spaces and invisible text.
        runs: Lines of the text layer.
    """
    characters = [character for run in runs for character in run.characters]
    exact = {(character.x, character.y) for character in characters}
    unmatched = [g for g in painted if (g.x, g.y) not in exact and not g.text.isspace()]
    if not unmatched:
        return []
    rounded = {(round(x, 1), round(y, 1)) for x, y in exact}
    cells: defaultdict[tuple[int, int], list[Character]] = defaultdict(list)
    for character in characters:
        cells[_find_cell(character)].append(character)

    def is_listed(glyph: PaintedGlyph) -> bool:
        is_accent = unicodedata.category(glyph.text[0]) == "Mn"
        reach = (_MOVED_ACCENT if is_accent else _MOVED) * glyph.size
        column, row = _find_cell(glyph)
        return any(
            c.text == glyph.text and abs(c.x - glyph.x) + abs(c.y - glyph.y) < reach
            for cell in product((column - 1, column, column + 1), (row - 1, row, row + 1))
            for c in cells.get(cell, ())
        )

    return [
        g for g in unmatched if (round(g.x, 1), round(g.y, 1)) not in rounded and not is_listed(g)
    ]


def _find_cell(glyph: PaintedGlyph | Character) -> tuple[int, int]:
    return int(glyph.x // _CELL), int(glyph.y // _CELL)


# Doubts from rules between symbols that are not in any formula.

UNUSED = "a rule next to the formula is not part of it"
_WIDEST = 0.4
"""Maximum length of a formula's rule, as a share of the page width."""
_BESIDE_RULES = 0.8
"""Maximum distance of a rule from its formula, in type sizes."""

_OVER = 0.4
"""Maximum gap between an overline and its letters, in type sizes."""
_OVERHANG = 1.0
"""Maximum excess length of a rule over the text above or below it, in type sizes."""
_MOST_LETTERS = 5
_MOST = 100
"""Maximum number of rules of a page that are examined."""


def find_unused(page: Page) -> Iterator[tuple[int, str]]:
    """Yield the formulas next to a rule that is not in any formula."""
    if not page.bars:
        return
    bars: Levels[tuple[Rule, Box]] = Levels()
    for number, bar in enumerate(page.bars):
        bars.add(number, bar.y - 0.05, bar.y + 0.05, (bar, bar.box.grow(0, 0.05)))
    glyphs: Levels[Glyph] = Levels()
    for number, glyph in enumerate(page.marks.glyphs):
        glyphs.add(number, glyph.box.y0, glyph.box.y1, glyph)
    is_filled = lru_cache(maxsize=None)(partial(_is_filled, glyphs=glyphs))
    for number, region in enumerate(page.regions):
        size = max((glyph.size for glyph in region.glyphs), default=10.0)
        around = region.box.grow(_BESIDE_RULES * size, 0.35 * size)
        if any(
            around.touches(box) and is_filled(bar, size)
            for bar, box in bars.find(around.y0, around.y1)
        ):
            yield number, UNUSED


def find_overlines(page: Page) -> Iterator[Leftover]:
    """Yield the rules right over a few letters of text, which may be overlines."""
    for bar in page.bars[:_MOST]:
        near = [g for g in page.glyphs if _covers(bar, g)]
        below = [g for g in near if 0 < g.box.y0 - bar.y < _OVER * g.size]
        if not 1 <= len(below) <= _MOST_LETTERS:
            continue
        box, most = unite(g.box for g in below), 0.3 * below[0].size
        is_as_wide = abs(box.x0 - bar.x0) < most and abs(box.x1 - bar.x1) < most
        if is_as_wide and not any(0 < bar.y - g.box.y1 < 2 * _OVER * g.size for g in near):
            text = "".join(g.text for g in below)
            yield Leftover(Box(bar.x0, bar.y, bar.x1, box.y1), text)


def _covers(bar: Rule, glyph: Glyph) -> bool:
    return bar.x0 - 0.5 < glyph.box.centre[0] < bar.x1 + 0.5


def _is_filled(bar: Rule, size: float, glyphs: Levels[Glyph]) -> bool:
    """Return whether a rule is no longer than the text right above or below it."""
    most, box = _OVER * size, bar.box
    around = glyphs.find(bar.y - most, bar.y + most)
    near = [g.box for g in around if _covers(bar, g) and g.box.gap_y(box) < most]
    return bool(near) and bar.x1 - bar.x0 < unite(near).width + _OVERHANG * size


# Doubts from the positions of a page's formulas relative to each other.

SPLIT = "another formula in the same row may be part of it"
OVERLAP = "the formula overlaps another one"
INSIDE = "a symbol inside the formula is not part of it"
LONE_SIGN = "the formula is a sign without a letter or a number"
_BESIDE_NEIGHBOURS = 0.6
"""Minimum gap between two separate formulas, in type sizes."""
_COMMON = 0.3
"""Minimum overlap of two formulas in one row, as a share of the lower one's height."""
_OVERLAP = 0.12
"""Minimum overlap of two overlapping formulas, as a share of the smaller one's area."""
_INK = 0.1
"""Points: a narrower glyph, such as a variant selector, paints nothing."""
_SIGNS = frozenset(("operator", "relation", "arrow", "large", "root", "piece", "accent"))


def find_neighbours(page: Page) -> Iterator[tuple[int, str]]:
    """Yield the formulas that are too close to another formula or contain other text."""
    regions = page.regions
    free = [g for g in page.glyphs if g.box.width > _INK]
    free.sort(key=lambda glyph: glyph.box.centre[1])
    levels = [glyph.box.centre[1] for glyph in free]
    for number, region in enumerate(regions):
        if all(glyph.symbol.kind in _SIGNS for glyph in region.glyphs):
            yield number, LONE_SIGN
        box = region.box
        low, high = bisect_right(levels, box.y0 + 0.5), bisect_left(levels, box.y1 - 0.5)
        if any(box.x0 < glyph.box.centre[0] < box.x1 for glyph in free[low:high]):
            yield number, INSIDE
    order = sorted(range(len(regions)), key=lambda k: regions[k].box.y0)
    for place, i in enumerate(order):
        for j in islice(order, place + 1, None):
            a, b = regions[i], regions[j]
            if b.box.y0 > a.box.y1:
                break
            if a.is_object and b.is_object:
                continue
            if _share(a.box, b.box) > _OVERLAP:
                doubt = OVERLAP
            elif _are_beside(a, b, free, levels):
                doubt = SPLIT
            else:
                continue
            yield i, doubt
            yield j, doubt


def _share(a: Box, b: Box) -> float:
    """Return how much of the smaller of two boxes is in the other."""
    width, height = max(0.0, -a.gap_x(b)), max(0.0, -a.gap_y(b))
    return width * height / max(1.0, min(a.width * a.height, b.width * b.height))


def _are_beside(
    a: FormulaRegion, b: FormulaRegion, free: Sequence[Glyph], levels: Sequence[float]
) -> bool:
    """Return whether two formulas in one row are separated by a thin space at most.

    Args:
        a: One formula.
        b: The other one.
        free: Glyphs outside of all formulas, from top to bottom.
        levels: Heights of their middles.
    """
    left, right = sorted((a.box, b.box), key=lambda box: box.x0)
    if -left.gap_y(right) < _COMMON * min(left.height, right.height):
        return False
    size = max(g.size for region in (a, b) for g in region.glyphs)
    if left.gap_x(right) > _BESIDE_NEIGHBOURS * size:
        return False
    top, foot = max(left.y0, right.y0) - 1, max(left.y1, right.y1) + 1
    between = Box(left.x1 - 0.1 * size, top, right.x0 + 0.1 * size, foot)
    low, high = bisect_left(levels, top), bisect_right(levels, foot)
    return not any(between.holds(glyph.box) for glyph in free[low:high])


# Doubts from text printed right next to a formula in its row.

OPERATOR = "an operator or a relation next to the formula is not part of it"
BRACKET = "a bracket next to the formula may be part of it"
TOUCHES = "a letter or a number right next to the formula is not part of it"
BEGINS = "the formula begins with a sign that needs something before it"
LIST = "several formulas in one pair of brackets may be one formula"
_POINTERS = frozenset("/:←⇐")
"""Signs that text also uses: a mark can point with an arrow at the answer before it."""
_BINARY = frozenset("×·⋅÷/")
_TOUCHING = 0.1
"""Maximum distance from a formula, in type sizes, for a letter to be part of its word."""
_LABEL = 4
"""Maximum place of the bracket that closes the label of a choice."""
_PROSE_BRACKETS = frozenset("()[]")


def find_beside(row: RowReader, intervals: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield the doubts of the formulas of a row.

    Args:
        row: Row of units.
        intervals: Its formulas as half-open ranges of units, from left to right.

    Yields:
        Index of a formula and the doubt.
    """
    for number, (start, end) in enumerate(intervals):
        if row.units[start].is_object:
            continue
        for k, gap_place in ((start - 1, start), (end, end)):
            if 0 <= k < len(row.units) and row.gaps[gap_place] < SPACE:
                doubt = _doubt_neighbour(row, k, row.gaps[gap_place], start, end)
                if doubt:
                    yield number, doubt
        if _begins_late(row, start):
            yield number, BEGINS
    for number, ((_, end), (start, _)) in enumerate(pairwise(intervals)):
        if row.units[end - 1].is_object or row.units[start].is_object:
            continue
        if _may_be_one(row, end, start):
            yield number, SPLIT
            yield number + 1, SPLIT
        elif _is_list(row, intervals[number], intervals[number + 1]):
            yield number, LIST
            yield number + 1, LIST


def _doubt_neighbour(row: RowReader, k: int, gap: float, start: int, end: int) -> str | None:
    role = row.roles[k]
    if role in ("operator", "relation"):
        is_text = row.sign(k) in _POINTERS or is_hyphen(row.units[k])
        return None if is_text else OPERATOR
    if role in ("open", "close", "bar"):
        is_part = role == "bar" or row.word(start) == "mod" or _belongs(row, k, gap, start, end)
        return BRACKET if is_part else None
    if role == "math" or (
        role == "letter" and gap < TIGHT and is_math_letter(row.units[k].glyphs[0])
    ):
        return SYMBOL
    return TOUCHES if role in ("letter", "digit") and gap < _TOUCHING else None


def _begins_late(row: RowReader, start: int) -> bool:
    """Return whether a formula begins with an operator or in the middle of a number."""
    if row.sign(start) in _BINARY:
        return True
    before = start - 1
    if row.gaps[start] >= THIN:
        return False
    if row.roles[start] == "digit" and row.roles[before] == "point":
        return row.is_digit(before - 1) and row.gaps[before] < THIN
    return row.sign(start) in SIGNS and row.roles[before] in ("digit", "letter", "close")


def _belongs(row: RowReader, k: int, gap: float, start: int, end: int) -> bool:
    """Return whether a bracket next to a formula may belong to it rather than to the prose."""
    if gap >= TIGHT:
        return False
    pair = row.pairs.get(k)
    if (k < start) == (row.roles[k] == "close"):
        # It opens after the formula, or closes before it, as in `f(x)`.
        return not (pair == 0 and k <= _LABEL)
    if pair is not None and (start <= pair < end):
        return True
    return row.sign(k) not in _PROSE_BRACKETS


def _may_be_one(row: RowReader, end: int, start: int) -> bool:
    """Return whether the text between two formulas is too short for a word."""
    between = range(end, start)
    if not between:
        return True
    if any(row.gaps[k] > SPACE for k in range(end, start + 1)):
        return False
    return all(row.roles[k] in ("operator", "relation", "bar", "math", "digit") for k in between)


def _is_list(row: RowReader, first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Return whether two formulas separated by a comma fill a pair of brackets."""
    comma = range(first[1], second[0])
    if len(comma) != 1 or row.sign(comma[0]) not in (",", ";"):
        return False
    return row.pairs.get(first[0] - 1) == second[1]


# Doubts from formulas in separate rows that may be rows of one formula.

ROWS = "a formula in the next row may be part of it"
_ALIGNED = 1.0
"""Maximum difference between aligned relations, in points."""


def find_cut(places: Sequence[PlacedRegion]) -> Iterator[tuple[int, str]]:
    """Yield the formulas that begin with a relation, a modulus or a state of matter, and those in
    directly adjacent rows."""
    for number, place in enumerate(places):
        row, start = place.row, place.start
        is_later_part = row.roles[start] == "relation" or row.is_modulus(start)
        if is_later_part and place.end - start > 1:
            yield number, BEGINS
        if row.sign(start) == "(" and _begins_with_state(place):
            yield number, BEGINS
    waiting = RowsBelow()
    for number, place in enumerate(places):
        waiting.add(number, place)
    for other, below in enumerate(places):
        for number, place in waiting.find(below):
            if is_next_row(place, below, _ALIGNED):
                yield number, ROWS
                yield other, ROWS


def _begins_with_state(place: PlacedRegion) -> bool:
    """Return whether a formula begins with the state of matter of the one before it, as `(aq)`."""
    start, end = place.row.words[place.start + 1] if place.end - place.start > 1 else (0, 0)
    is_closed = end < place.end and place.row.roles[end] == "close"
    return is_closed and place.row.text(start, end) in STATES


# All doubts about the formulas of a page.


class PageDoubts(NamedTuple):
    """Doubts about each formula of a page, and unread symbols that are not near any formula.

    `rest` is mathematics in the text of a line, `vanished` the symbols that the text layer lacks.
    """

    formulas: list[tuple[str, ...]]
    rest: list[Leftover]
    vanished: list[Leftover]


def find_doubts(
    places: Sequence[PlacedRegion], marks: PageMarks, missing: Sequence[PaintedGlyph] = ()
) -> PageDoubts:
    """Find the doubts about the formulas of a page, each once.

    Args:
        places: Formulas of the page.
        marks: Marks that the page paints.
        missing: Glyphs of the page that the text layer lacks.
    """
    pieces = [(number, line) for number, place in enumerate(places) for line in place.region.lines]
    page = make_page([line for _, line in pieces], marks)
    doubts: defaultdict[int, dict[str, None]] = defaultdict(dict)
    rest: list[Leftover] = []
    vanished: list[Leftover] = []

    def add(found: Iterable[tuple[int, str]]) -> None:
        for number, doubt in found:
            doubts[number].setdefault(doubt)

    def add_of_lines(found: Iterable[tuple[int, str] | Leftover]) -> None:
        for each in found:
            if isinstance(each, Leftover):
                rest.append(each)
            else:
                add([(pieces[each[0]][0], each[1])])

    add_of_lines(find_torn(page.regions, marks.glyphs))
    add_of_lines(find_unused(page))
    add_of_lines((number, UNUSED) for number in find_lost_bars(page.regions, marks))
    add(find_cut(places))
    add_of_lines(find_neighbours(page))
    add_of_lines(find_left(page))
    rest += find_overlines(page)
    regions = index_regions(page.regions)
    for glyph in missing:
        box = Box(glyph.x, glyph.y - 0.7 * glyph.size, glyph.x + 0.4 * glyph.size, glyph.y)
        near = find_nearest(box, glyph.size, regions, _BESIDE_VANISHED)
        if near is None:
            vanished.append(Leftover(box, glyph.text))
        else:
            add_of_lines([(near, VANISHED)])
    numbers = sorted(range(len(places)), key=lambda k: (id(places[k].row), places[k].start))
    for _, group in groupby(numbers, key=lambda k: id(places[k].row)):
        members = list(group)
        intervals = [(places[k].start, places[k].end) for k in members]
        add((members[n], doubt) for n, doubt in find_beside(places[members[0]].row, intervals))
    return PageDoubts([tuple(doubts[number]) for number in range(len(places))], rest, vanished)
