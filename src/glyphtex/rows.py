"""Rows of a page: units on one baseline, and lines that a formula may cross as one row.

TeX and Typst break a formula after a relation or an operator (The TeXbook, chapter 18), Word before
it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from glyphtex.marks import (
    FUNCTIONS,
    WITH_ARGUMENT,
    Box,
    Glyph,
    is_hyphen,
    is_math_letter,
    role_of,
    unite,
)
from glyphtex.row_reader import THIN, Interval, RowReader
from glyphtex.tree.parts import Part

_LEVEL = 0.12
"""Maximum difference between baselines, or left edges, that are the same, in type sizes."""
_OFF_AXIS = 0.24
"""Maximum distance between the axes of a block and of its row, in type sizes."""
_MOST_ROWS = 12
"""Maximum number of rows next to a block that are examined."""
_ROW_GAP = 1.3
"""Minimum gap that splits a row, in type sizes: columns, choices and equation numbers."""


def form_rows(groups: Iterable[Sequence[Part]]) -> list[list[Part]]:
    """Return rows of units; a row ends at a wide gap.

    Args:
        groups: Units of a page in any grouping, their scripts attached.

    Returns:
        Rows, each from left to right.
    """
    remaining = sorted((u for group in groups for u in group), key=lambda u: u.box.x0)
    letters = sorted((u for u in remaining if u.axis is None), key=lambda u: u.baseline)
    rows: list[list[Part]] = []
    for unit in letters:
        row = rows[-1] if rows else None
        if row and unit.baseline - row[0].baseline < _LEVEL * max(unit.size, row[0].size):
            row.append(unit)
        else:
            rows.append([unit])
    _place_blocks(rows, [u for u in remaining if u.axis is not None])
    return [part for row in rows for part in _part_at_gaps(sorted(row, key=lambda u: u.box.x0))]


def _place_blocks(rows: list[list[Part]], blocks: Sequence[Part]) -> None:
    """Add blocks to the rows at their axis level, and the others to new rows."""
    levels = [row[0].baseline for row in rows]
    waiting = sorted(blocks, key=lambda u: u.middle)
    heights = [block.middle for block in waiting]
    # A row that has changed can now take blocks at its height; no other row can.
    reach = _OFF_AXIS * max((u.size for row in (*rows, waiting) for u in row), default=0.0) + 0.1

    def list_near(row: Sequence[Part]) -> tuple[int, int]:
        """Return the range of the blocks at the height of a row."""
        y = row[0].middle
        return bisect_left(heights, y - reach), bisect_right(heights, y + reach)

    is_placed = [False] * len(waiting)
    added: list[list[Part]] = []
    added_heights: list[float] = []
    first, (start, end) = 0, (0, len(waiting))
    while first < len(waiting):
        again_start, again_end = len(waiting), 0
        k = start
        while k < end:
            if not is_placed[k]:
                height = heights[k]
                low = bisect_left(levels, height - 2)
                left = bisect_left(added_heights, height - reach)
                right = bisect_right(added_heights, height + reach)
                near = [*rows[low : low + _MOST_ROWS], *added[left:right]]
                row = _choose_row(waiting[k], near)
                if row is not None:
                    row.append(waiting[k])
                    is_placed[k] = True
                    near_start, near_end = list_near(row)
                    end = max(end, near_end)
                    again_start, again_end = min(again_start, near_start), k
            k += 1
        if again_start < again_end:
            start, end = again_start, again_end
            continue
        while first < len(waiting) and is_placed[first]:
            first += 1
        if first < len(waiting):
            is_placed[first] = True
            added.append([waiting[first]])
            added_heights.append(heights[first])
            start, end = list_near(added[-1])
    rows += added


def _choose_row(block: Part, rows: Sequence[list[Part]]) -> list[Part] | None:
    best: tuple[float, list[Part]] | None = None
    for row in rows:
        size = max(u.size for u in row)
        off = abs(row[0].middle - block.middle)
        if off > _OFF_AXIS * max(size, block.size):
            continue
        gap = min(u.whole_box.gap_x(block.whole_box) for u in row)
        distance = off + 0.01 * max(gap, 0)
        if gap < _ROW_GAP * size and (best is None or distance < best[0]):
            best = (distance, row)
    return best[1] if best else None


def _part_at_gaps(row: list[Part]) -> list[list[Part]]:
    parts: list[list[Part]] = []
    end = 0.0
    for unit in row:
        box = unit.whole_box
        if parts and box.x0 - end < _ROW_GAP * unit.size:
            parts[-1].append(unit)
        else:
            parts.append([unit])
            end = box.x1
        end = max(end, box.x1)
    return parts


# Lines that are read as one row, since a formula may cross from one into the next.

_COLUMN_GAP = 0.75
"""Minimum gap between two columns, in type sizes."""
_LATER = 20
"""Minimum number of glyphs painted between the neighbours in two columns."""
_NEAREST, _FARTHEST = 0.75, 2.4
"""Range of the distance between consecutive baselines, in type sizes; tall formulas move lines
apart."""
_SAME_SIZE = 0.92
"""Minimum ratio between the type sizes of two lines of one paragraph."""
_INDENT = 6.0
"""Maximum distance between the left edges of two lines of one paragraph, in type sizes."""
_NEIGHBOURS = 30.0
"""Height above and below a line in which its column's right edge is looked up, in type sizes."""
_ROUND = 0.12
"""Minimum gap after an operator between two operands, in type sizes; a sign has a smaller one."""
_MOST_BREAKS = 8
"""Maximum number of line breaks in a passage."""
_MOST_NEAR = 100
"""Maximum number of parts of lines below a line, or around it, that are compared with it."""
_NEXT_LINE = 1.5
"""Maximum distance between the baselines of two lines without a display, in type sizes."""
_WIDEST_SPACE = 4.0
"""Maximum space between two words of a justified line, in type sizes."""
_SKIPPED = 1
"""Maximum number of glyphs that are listed between the end of a line and the next one."""
_LONGEST_FUNCTION = 6
_LONGEST_BRACKET = 30
"""Maximum number of units between a bracket and the end of its line."""
_NO_BREAK = frozenset(":/|∣‖∥*∗•†‡↑↓")
"""Signs at which no formula is broken: text and lists use them as well."""
_BULLETS = frozenset("·⋅∙∴∵")
"""Further signs with which no line of a formula begins: bullets, and "therefore" in a proof."""


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """Units of a row, or of the ends and beginnings of consecutive lines."""

    units: list[Part]
    breaks: tuple[int, ...] = ()
    """Places where its lines begin, after the first."""
    edges: tuple[float, ...] = ()
    """Right edge of the column at each break, in points."""
    follows_text: bool = False
    """Whether words in the same line or the line above are painted directly before it."""

    def split(self, place: int) -> tuple[Passage, Passage]:
        """Return the parts before and after one of its breaks."""
        k = self.breaks.index(place)
        above = Passage(self.units[:place], self.breaks[:k], self.edges[:k], self.follows_text)
        later = tuple(other - place for other in self.breaks[k + 1 :])
        return above, Passage(self.units[place:], later, self.edges[k + 1 :])


@dataclass(slots=True, eq=False)
class _Line:
    """Part of a row in one column, with the places of its ends in the painting order."""

    units: list[Part]
    first: int
    last: int
    box: Box = field(init=False)
    baseline: float = field(init=False)
    size: float = field(init=False)

    def __post_init__(self) -> None:
        base = next((u for u in self.units if u.axis is None), self.units[0])
        self.baseline, self.size = base.baseline, base.size
        self.box = unite(unit.whole_box for unit in self.units)


def find_passages(rows: Sequence[list[Part]], glyphs: Sequence[Glyph]) -> list[Passage]:
    """Return the rows of a page, those that a formula may cross joined.

    Args:
        rows: Rows from `form_rows`.
        glyphs: Glyphs of the page in the order of the text layer, about that of painting.
    """
    order = {id(glyph): place for place, glyph in enumerate(glyphs)}
    parts = [line for row in rows for line in _part(row, order)]
    lines = sorted(parts, key=lambda line: line.baseline)
    links = _link_lines(lines)
    continuing = {id(line) for line in links.values()}
    return [
        passage
        for line in parts
        if id(line) not in continuing
        for passage in _follow(line, links, lines)
    ]


def _follow(line: _Line, links: Mapping[int, _Line], lines: Sequence[_Line]) -> Iterator[Passage]:
    """Yield the passage that begins with a line, in parts if it is very long."""
    following: _Line | None = line
    while following is not None:
        first = following
        units = list(following.units)
        breaks: list[int] = []
        edges: list[float] = []
        while (below := links.get(id(following))) is not None and len(breaks) < _MOST_BREAKS:
            edges.append(_find_edge(following, lines))
            breaks.append(len(units))
            units += below.units
            following = below
        follows_text = bool(breaks) and _follows_text(first, lines)
        yield Passage(units, tuple(breaks), tuple(edges), follows_text)
        following = below


def _follows_text(line: _Line, lines: Sequence[_Line]) -> bool:
    """Return whether a line continues words on its left, or a line above with the same left edge.

    A display is indented, and farther from the line above.
    """
    size = line.size
    for other in _list_near(line, lines):
        down, gap = line.baseline - other.baseline, line.box.x0 - other.box.x1
        is_left = abs(down) < _LEVEL * size and 0 < gap < _WIDEST_SPACE * size
        is_next = _NEAREST * size < down < _NEXT_LINE * size
        is_flush = is_next and abs(line.box.x0 - other.box.x0) < _LEVEL * size
        if other.last + 1 == line.first and (is_left or is_flush) and _has_word(other):
            return True
    return False


def _has_word(line: _Line) -> bool:
    """Return whether a line has three upright letters in a row."""
    letters = "".join(
        "x" if unit.glyph and unit.glyph.text.isalpha() and not unit.glyph.italic else " "
        for unit in line.units
    )
    return "xxx" in letters


def _part(row: list[Part], order: Mapping[int, int]) -> Iterator[_Line]:
    """Yield the parts of a row in separate columns: text right of a gap is painted later."""
    places = [[order[id(g)] for part in unit.walk() for g in part.glyphs] for unit in row]
    firsts = [min(own, default=-1) for own in places]
    lasts = [max(own, default=0) for own in places]
    start = 0
    for k in range(1, len(row) + 1):
        if k < len(row):
            gap = row[k].whole_box.x0 - row[k - 1].whole_box.x1
            is_apart = gap > _COLUMN_GAP * row[k].size
            if not is_apart or firsts[k] - lasts[k - 1] - 1 <= _LATER:
                continue
        yield _Line(row[start:k], firsts[start], lasts[k - 1])
        start = k


def _link_lines(lines: Sequence[_Line]) -> dict[int, _Line]:
    """Return the lines into which a formula may continue, by the id of the line above."""
    levels = [line.baseline for line in lines]
    links: dict[int, _Line] = {}
    taken: set[int] = set()
    for above in lines:
        low = bisect_left(levels, above.baseline + _NEAREST * above.size)
        high = bisect_right(levels, above.baseline + _FARTHEST * above.size)
        near = (ln for ln in lines[low : min(high, low + _MOST_NEAR)] if id(ln) not in taken)
        below = next((line for line in near if _may_continue(above, line)), None)
        if below is not None:
            links[id(above)] = below
            taken.add(id(below))
    return links


def _may_continue(above: _Line, line: _Line) -> bool:
    """Return whether a formula at the end of one line may continue in another one.

    The lower line follows the upper one in a paragraph, and is painted after it.
    """
    sizes = sorted((line.size, above.size))
    return (
        0 <= line.first - above.last - 1 <= _SKIPPED
        and sizes[0] >= _SAME_SIZE * sizes[1]
        and line.box.x0 < above.box.x1
        and line.box.x0 - above.box.x0 < _INDENT * line.size
        and (_ends_open(above) or _begins_late(line))
    )


def _ends_open(line: _Line) -> bool:
    """Return whether a line ends with something that needs more after it."""
    return _is_sign(line.units[-1]) or _ends_with_function(line) or _ends_in_bracket(line)


def _is_sign(unit: Part) -> bool:
    """Return whether a unit is an operator or a relation of mathematics."""
    if unit.text in _NO_BREAK or is_hyphen(unit):
        return False
    return role_of(unit) in ("operator", "relation")


def _ends_with_function(line: _Line) -> bool:
    """Return whether a line ends with a function after an operator or a relation, as `+ sin`."""
    last = line.units[-_LONGEST_FUNCTION - 1 :]
    texts = ["" if unit.is_block or unit.scripts else unit.glyphs[0].text for unit in last]
    return any(
        "".join(texts[k:]) in WITH_ARGUMENT and _is_sign(last[k - 1]) for k in range(1, len(last))
    )


def _ends_in_bracket(line: _Line) -> bool:
    """Return whether a line ends with a comma inside of a bracket, as `f(x,`."""
    last = line.units[-1].glyph
    if last is None or last.text not in ",;":
        return False
    depth = 0
    for unit in reversed(line.units[-_LONGEST_BRACKET:]):
        role = role_of(unit)
        depth += (role == "close") - (role == "open")
        if depth < 0:
            return True
    return False


def _begins_late(line: _Line) -> bool:
    """Return whether a line begins with a relation, or an operator between two operands."""
    if len(line.units) < 2 or not _is_sign(line.units[0]):
        return False
    first, second = line.units[:2]
    if first.glyphs[0].text in _BULLETS:
        return False
    gap = second.whole_box.x0 - first.whole_box.x1
    return role_of(first) == "relation" or gap > _ROUND * first.size


def _find_edge(line: _Line, lines: Sequence[_Line]) -> float:
    """Return the right edge of a line's column, in points."""
    near = (
        other.box.x1
        for other in _list_near(line, lines)
        if abs(other.baseline - line.baseline) < _NEIGHBOURS * line.size
        and abs(other.box.x0 - line.box.x0) < _INDENT * line.size
    )
    return max(near, default=line.box.x1)


def _list_near(line: _Line, lines: Sequence[_Line]) -> Sequence[_Line]:
    """List the parts of lines around a line, a bounded number."""
    place = bisect_left(lines, line.baseline, key=lambda other: other.baseline)
    return lines[max(0, place - _MOST_NEAR) : place + _MOST_NEAR]


# Decide which formulas of a passage are certainly broken over two lines.

_LABEL = re.compile(r"[(\[]?(?:\d{1,2}|[A-Za-z]|[ivx]{2,4})[.)\]]")
"""A number or letter at the beginning of a line that names a problem, a part or a choice."""
_LONGEST_LABEL = 6
_FITS = 0.5
"""Type sizes: a formula's next line would have fitted into a line with that much more space."""


def is_certain(row: RowReader, passage: Passage, intervals: list[Interval], place: int) -> bool:
    """Return whether a formula crosses a line break, and is one formula for certain.

    Args:
        row: Row of several lines.
        passage: The same lines.
        intervals: Formulas of the row.
        place: Where the next line begins.
    """
    crossing = next(((start, end) for start, end in intervals if start < place < end), None)
    edge = passage.edges[passage.breaks.index(place)]
    return (
        crossing is not None
        and (passage.follows_text or _has_prose(row, intervals))
        and not _begins_with_label(row, place)
        and not _begins_with_word(row, crossing, place)
        and _is_too_long(row, crossing, place, edge)
    )


def _has_prose(row: RowReader, intervals: list[Interval]) -> bool:
    """Return whether a row has words or a label: else its lines are the rows of a display."""
    inside = {k for start, end in intervals for k in range(start, end)}
    words = {row.words[k] for k, role in enumerate(row.roles) if role == "letter"}
    is_word = any(end - start > 1 for start, end in words if start not in inside)
    return is_word or _begins_with_label(row, 0)


def _begins_with_label(row: RowReader, place: int) -> bool:
    """Return whether a line begins with a label such as `(a)` or `2.`, followed by a space."""
    text = ""
    for k in range(place, min(place + _LONGEST_LABEL, len(row.units))):
        text += row.sign(k)
        if _LABEL.fullmatch(text) and row.pairs.get(k, place) >= place:
            return k + 1 == len(row.units) or row.gaps[k + 1] > THIN
    return False


def _begins_with_word(row: RowReader, crossing: Interval, place: int) -> bool:
    """Return whether the only operand in a line is a letter in the type of the text, as `a`."""
    if row.roles[place] != "letter" or is_math_letter(row.units[place].glyphs[0]):
        return False
    start, end = row.words[place]
    has_scripts = any(row.units[k].scripts for k in range(start, end))
    return end >= crossing[1] and not has_scripts and row.word(place) not in FUNCTIONS


def _is_too_long(row: RowReader, crossing: Interval, place: int, edge: float) -> bool:
    """Return whether a formula's next line would not have fitted at the end of the line above."""
    line_end = next((b for b in row.breaks if b > place), len(row.units))
    own = row.units[place : min(crossing[1], line_end)]
    above = row.units[place - 1]
    width = own[-1].whole_box.x1 - own[0].whole_box.x0
    return edge - above.whole_box.x1 < width + _FITS * above.size
