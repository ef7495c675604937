"""Bars of fractions with their numerators and denominators."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from glyphtex.boxes import Box, unite
from glyphtex.joined_signs import (
    has_only,
    join_bar_fences,
    join_bars,
    join_congruences,
    join_fences,
    join_harpoons,
    join_long_arrows,
    join_pieces,
    seat_accents,
)
from glyphtex.marks import PageMarks, RootSign, Rule
from glyphtex.page_marks import WIDEST
from glyphtex.painted_glyphs import SEQUENCE
from glyphtex.units import (
    InkField,
    RowUnit,
    is_math_font,
    is_math_letter,
    join_units,
    unit_of_glyph,
)

_FIRST_GAP = 0.74
"""Maximum gap from a bar to the nearest ink of the numerator or denominator, in type sizes."""
_NEXT_GAP = 0.16
"""Maximum gap between rows of one numerator, as between a letter and its script, in type sizes."""
_NEIGHBOUR = 0.45
"""Maximum gap to the next glyph of the same words in a row, in type sizes."""
_UNDER = 0.2
"""Maximum distance from a baseline down to its underline, in type sizes."""
_FEWEST = 7
"""Minimum number of letters of an underlined phrase: `1 - cos x` in a line has no more."""
_NEARER = 0.8
"""Share of a unit's distance from a bar at which another bar is nearer."""
_LEVEL = 0.15
"""Maximum distance of a bar from the axis of the symbols beside it, in type sizes."""
_CELL_GAP = 2.2
"""Minimum gap between table cells, in type sizes: the bar is then a rule of the table."""


@dataclass(frozen=True, slots=True)
class BarNeighbours:
    """Return the nearby next unit on each baseline, where a row of words continues."""

    left: dict[RowUnit, RowUnit]
    right: dict[RowUnit, RowUnit]


def find_neighbours(units: Iterable[RowUnit]) -> BarNeighbours:
    """Return the neighbours of each unit on its baseline."""
    left: dict[RowUnit, RowUnit] = {}
    right: dict[RowUnit, RowUnit] = {}
    rows: dict[int, list[tuple[float, float, RowUnit]]] = {}
    for unit in units:
        if not unit.has_axis:
            level = unit.baseline
            rows.setdefault(round(level), []).append((unit.box.x0, level, unit))
    for row_level, row in rows.items():
        both = sorted([*row, *rows.get(row_level + 1, ())], key=itemgetter(0))
        for (_, a_level, a), (x0, b_level, b) in pairwise(both):
            if (
                abs(a_level - b_level) < 0.06 * a.size
                and x0 - a.box.x1 < _NEIGHBOUR * min(a.size, b.size)
                and 0.8 < a.size / b.size < 1.25
            ):
                right.setdefault(a, b)
                left.setdefault(b, a)
    return BarNeighbours(left, right)


def join_fraction(
    field: InkField, bar: Rule, neighbours: BarNeighbours, bars: Sequence[Rule]
) -> bool:
    """Join numerator, bar and denominator; return False if either is missing."""
    reach = 140.0
    inside = [
        u
        for u in field.centred_in(Box(bar.x0, bar.y - reach, bar.x1, bar.y + reach))
        if u.box.x0 > bar.x0 - 0.4 * u.size and u.box.x1 < bar.x1 + 0.4 * u.size
    ]
    inside = [u for u in inside if not _row_goes_on(u, bar, neighbours, bars)]
    inside = [u for u in inside if not _belongs_to_another(u, bar, field, bars)]
    above = _stack([u for u in inside if u.box.centre[1] < bar.y], bar, up=True)
    below = _stack([u for u in inside if u.box.centre[1] >= bar.y], bar, up=False)
    if not above or not below or _is_underline(above, bar):
        return False
    size = max(unit.size for unit in (*above, *below))
    if any(_widest_gap(part) > _CELL_GAP * size for part in (above, below)):
        return False
    width = bar.x1 - bar.x0
    boxes = [unite(u.box for u in part) for part in (above, below)]
    most_off = max(0.35 * size, 0.12 * width)
    if any(abs(box.centre[0] - bar.box.centre[0]) > most_off for box in boxes):
        return False
    if max(box.width for box in boxes) < width - 1.3 * size:
        return False
    parts = [*above, *below]
    field.replace(parts, join_units(parts, bar.y, bars=[bar]))
    return True


def _is_underline(above: Sequence[RowUnit], bar: Rule) -> bool:
    """Return whether a bar is close under words, as under a link; numerators leave more space."""
    letters = [
        u
        for u in above
        if u.glyph and u.glyph.symbol.kind == "letter" and not is_math_font(u.glyph.font)
    ]
    near = [u for u in letters if bar.y - u.baseline < _UNDER * u.size]
    return len(near) >= _FEWEST and len(near) > 0.7 * len(letters)


def _belongs_to_another(unit: RowUnit, bar: Rule, field: InkField, bars: Sequence[Rule]) -> bool:
    """Return whether a unit is between a bar and a nearer one, as in stacked fractions."""
    x, y = unit.box.centre
    distance = abs(y - bar.y)
    return any(
        other.x0 < x < other.x1
        and (other.y - y) * (bar.y - y) < 0
        and abs(other.y - y) < _NEARER * distance
        and not field.has_bar(other)
        and not _is_nested(bar, other, field)
        for other in bars
        if other is not bar
    )


def _is_nested(bar: Rule, other: Rule, field: InkField) -> bool:
    """Return whether a bar is in a part of another's fraction that has symbols beside it."""
    if not (other.x0 <= bar.x0 + 1 and bar.x1 - 1 <= other.x1):
        return False
    level = field.centred_in(Box(other.x0, bar.y - 4, other.x1, bar.y + 4))
    return any(
        abs(u.axis - bar.y) < _LEVEL * u.size and not bar.x0 < u.box.centre[0] < bar.x1
        for u in level
    )


def _widest_gap(units: Sequence[RowUnit]) -> float:
    """Return the widest gap between units from left to right."""
    widest, end = 0.0, units[0].box.x1
    for unit in sorted(units, key=lambda u: u.box.x0):
        widest = max(widest, unit.box.x0 - end)
        end = max(end, unit.box.x1)
    return widest


def _row_goes_on(unit: RowUnit, bar: Rule, neighbours: BarNeighbours, bars: Sequence[Rule]) -> bool:
    """Return whether the words of a unit's row continue beyond the ends of the bar."""
    for step in (neighbours.left, neighbours.right):
        current = unit
        for _ in range(200):
            following = step.get(current)
            if following is None:
                break
            x = following.box.centre[0]
            if not bar.x0 - 0.3 * unit.size < x < bar.x1 + 0.3 * unit.size:
                if not any(abs(b.y - bar.y) < 1.0 and b.x0 < x < b.x1 for b in bars):
                    return True
                break
            current = following
    return False


def _stack(units: Sequence[RowUnit], bar: Rule, *, up: bool) -> list[RowUnit]:
    """Return the units above or below a bar that follow each other without a gap."""
    edge = bar.y
    taken: list[RowUnit] = []
    order = sorted(units, key=lambda u: -u.box.y1 if up else u.box.y0)
    for unit in order:
        near, far = (unit.box.y1, unit.box.y0) if up else (unit.box.y0, unit.box.y1)
        gap = edge - near if up else near - edge
        if gap > (_NEXT_GAP if taken else _FIRST_GAP) * max(unit.size, 6.0):
            break
        taken.append(unit)
        edge = min(edge, far) if up else max(edge, far)
    return taken


# Marks that form one unit over several rows: fractions, roots, limits, tall brackets.

MAX_BARS = 300
"""Maximum number of rules of a page that are examined; the shortest come first."""
_LIMITED = frozenset({"lim", "max", "min", "sup", "inf", "limsup", "liminf", "argmax", "argmin"})
_INITIALS = frozenset(word[0] for word in _LIMITED)
_OF_LIMITS = 0.82
"""Maximum size of limits as a share of the operator's, which TeX sets in 10 points for 11."""
_BELOW_OVERLINE = 14.0
"""Depth below a bar in which its letters are, in points."""
_MOST_OVERLINED = 12
_OVERLINE_GAP = 0.36
"""Maximum gap between an overline and the highest of its letters, in type sizes."""
_EXACTLY = 0.1
"""Maximum difference between an underline and its letters on either side, in type sizes."""
_UNDERLINE_GAP = 0.3
"""Maximum gap between letters and a rule under them, in type sizes."""


def find_units(marks: PageMarks) -> InkField:
    """Return the units of a page: its glyphs, joined where they form several rows.

    Args:
        marks: Marks that the page paints.

    Returns:
        Units, scripts not attached yet.
    """
    field = InkField(unit_of_glyph(glyph) for glyph in marks.glyphs)
    seat_accents(field)
    join_pieces(field)
    join_bars(field)
    join_harpoons(field)
    join_congruences(field)
    join_long_arrows(field)
    _join_limits(field)
    bars = sorted(marks.bars, key=lambda bar: bar.x1 - bar.x0)[:MAX_BARS]
    bars = [bar for bar in bars if bar.x1 - bar.x0 < WIDEST * marks.width]
    neighbours = find_neighbours(field.units) if bars else BarNeighbours({}, {})
    rooted = _pair_roots(field, marks, bars)
    plain = [bar for bar in bars if bar not in rooted]
    for bar in bars:
        sign = rooted.get(bar)
        if sign is not None:
            _join_root(field, bar, sign)
        elif not join_fraction(field, bar, neighbours, plain) and not _join_overline(field, bar):
            _join_underline(field, bar)
    for drawn in marks.roots:
        if drawn not in rooted.values():
            _join_root(field, None, drawn)
    join_bar_fences(field)
    join_fences(field)
    return field


def _join_limits(field: InkField) -> None:
    """Join sums, products and the like with their limits."""
    for unit in [u for u in field.units if u.glyph and u.glyph.symbol.kind == "large"]:
        _join_above_below(field, [unit], unit.box, unit.box.centre[1], 0.62)
    firsts = [u for u in field.units if u.text in _INITIALS]
    neighbours = find_neighbours(field.units) if firsts else BarNeighbours({}, {})
    for unit in firsts:
        word = _word_from(unit, neighbours)
        if "".join(u.text for u in word) in _LIMITED:
            box = word[0].box.union(word[-1].box)
            _join_above_below(field, word, box, unit.axis, 0.85)


def _word_from(unit: RowUnit, neighbours: BarNeighbours) -> list[RowUnit]:
    """Return the letters of a word that begins with this letter, if it is the first one."""

    def touch(a: RowUnit, b: RowUnit) -> bool:
        return (a.text + b.text).isalpha() and b.box.x0 - a.box.x1 < 0.15 * a.size

    before = neighbours.left.get(unit)
    if before and touch(before, unit):
        return []
    word = [unit]
    while len(word) < 8 and (after := neighbours.right.get(word[-1])) and touch(word[-1], after):
        word.append(after)
    return word


def _join_above_below(
    field: InkField,
    base: Sequence[RowUnit],
    box: Box,
    axis: float,
    smaller: float,
) -> None:
    """Join an operator with its limits; those of words, such as `lim`, are below it."""
    size = max(unit.size for unit in base)
    reach = Box(box.x0 - 3 * size, box.y0 - 1.3 * size, box.x1 + 3 * size, box.y1 + 1.3 * size)
    around = [
        u
        for u in field.centred_in(reach)
        if u not in base and u.size <= max(smaller, _OF_LIMITS) * size and not u.is_block
    ]
    parts: list[RowUnit] = []
    for above in (True, False) if len(base) == 1 else (False,):
        side = [
            u
            for u in around
            if -0.1 * size < (box.y0 - u.box.y1 if above else u.box.y0 - box.y1) < 0.6 * size
        ]
        for row in _split_rows(side):
            limit = unite(u.box for u in row)
            if abs(limit.centre[0] - box.centre[0]) < 0.45 * size:
                # With scripts of the limit itself.
                parts += row + [
                    u
                    for u in around
                    if u not in row
                    and u not in parts
                    and limit.x0 <= u.box.centre[0] <= limit.x1 + 0.3 * size
                    and any(
                        max(u.box.gap_x(v.box), u.box.gap_y(v.box)) < 0.1 * size and u.size < v.size
                        for v in row
                    )
                ]
    if parts:
        whole = [*base, *dict.fromkeys(parts)]
        field.replace(whole, join_units(whole, axis, size=size))


def _split_rows(units: Sequence[RowUnit]) -> list[list[RowUnit]]:
    """Split units by baseline and at wide gaps."""
    levels: list[list[RowUnit]] = []
    for unit in sorted(units, key=lambda u: u.baseline):
        if levels and unit.baseline - levels[-1][-1].baseline < 0.3 * unit.size:
            levels[-1].append(unit)
        else:
            levels.append([unit])
    rows: list[list[RowUnit]] = []
    for level in levels:
        end = -math.inf
        for unit in sorted(level, key=lambda u: u.box.x0):
            if unit.box.x0 - end < 0.7 * unit.size:
                rows[-1].append(unit)
            else:
                rows.append([unit])
            end = max(end, unit.box.x1)
    return rows


def _pair_roots(
    field: InkField, marks: PageMarks, bars: Sequence[Rule]
) -> dict[Rule, RowUnit | RootSign]:
    """Return the radical sign of each bar that begins at the top right of one."""
    signs: list[RowUnit | RootSign] = [
        u for u in field.units if u.glyph and u.glyph.symbol.kind == "root"
    ]
    signs += marks.roots
    signs += [u for u in field.units if u.is_block and has_only(u, "piece", "root")]
    pairs: dict[Rule, RowUnit | RootSign] = {}
    for sign in signs:
        box = sign.box
        size = _size_of_sign(sign)
        near = [
            (abs(bar.x0 - box.x1) + abs(bar.y - box.y0), k)
            for k, bar in enumerate(bars)
            if abs(bar.x0 - box.x1) < 0.3 * size
            and abs(bar.y - box.y0) < 0.3 * size
            and bar not in pairs
        ]
        if near:
            pairs[bars[min(near)[1]]] = sign
    return pairs


def _size_of_sign(sign: RowUnit | RootSign) -> float:
    return sign.size if isinstance(sign, RowUnit) else min(12.0, sign.box.height)


def _join_root(field: InkField, bar: Rule | None, sign: RowUnit | RootSign) -> None:
    box, size = sign.box, _size_of_sign(sign)
    left = box.x1 if isinstance(sign, RowUnit) else box.x0 + min(0.35 * box.width, 0.6 * box.height)
    right, top = (bar.x1, bar.y) if bar else (box.x1, box.y0)
    inside = Box(left - 0.1 * size, top - 0.1 * size, right + 0.15 * size, box.y1 + 0.3 * size)
    radicand = [
        u
        for u in field.centred_in(inside)
        if u is not sign
        and not (
            bar and u.glyph and u.glyph.symbol.kind == "punctuation" and u.box.x0 > right - 0.5
        )
    ]
    index_box = Box(
        box.x0 - 0.9 * size, box.y0 - 0.5 * size, box.x0 + 0.75 * min(box.width, size), box.y1
    )
    index = [
        u
        for u in field.centred_in(index_box)
        if u is not sign and u.size < 0.8 * size and u.box.y1 < box.y1 - 0.25 * box.height
    ]
    inked = [u for u in radicand if u.is_block or u.glyphs[0].symbol.kind != "space"]
    largest = max(inked, key=lambda u: (u.size, -u.box.x0), default=None)
    axis = largest.axis if largest else box.centre[1]
    bars = [bar] if bar else []
    parts = [*radicand, *index]
    if isinstance(sign, RowUnit):
        parts = [sign, *parts]
        size_of_type = largest.size if largest else None
        field.replace(parts, join_units(parts, axis, bars=bars, size=size_of_type))
    elif parts:
        field.replace(parts, join_units(parts, axis, bars=bars, roots=[sign]))


def _join_overline(field: InkField, bar: Rule) -> bool:
    """Join a bar over a few symbols with them, unless it underlines the text above it."""
    below = field.centred_in(Box(bar.x0 - 1, bar.y, bar.x1 + 1, bar.y + _BELOW_OVERLINE))
    below = [u for u in below if not u.is_block and u.box.y0 > bar.y - 0.05 * u.size]
    if not 1 <= len(below) <= _MOST_OVERLINED:
        return False
    size = max(u.size for u in below)
    base = max(u.baseline for u in below if u.size > 0.86 * size)
    below = [u for u in below if u.size < 0.86 * size or base - u.baseline < 0.15 * size]
    box = unite(u.box for u in below)
    if box.y0 - bar.y > _OVERLINE_GAP * size:
        return False
    above = field.centred_in(Box(bar.x0 - 1, bar.y - 1.2 * size, bar.x1 + 1, bar.y))
    near = [u for u in above if abs(bar.y - u.box.y1) < _UNDERLINE_GAP * size]
    if near and (_is_painted_next(bar, near) or not _is_painted_next(bar, below)):
        return False
    if max(abs(bar.x0 - box.x0), abs(bar.x1 - box.x1)) >= 0.35 * size:
        return False
    field.replace(below, join_units(below, base - 0.25 * size, bars=[bar]))
    return True


def _join_underline(field: InkField, bar: Rule) -> None:
    """Join a bar under a few mathematical letters with them: it is exactly as wide."""
    above = field.centred_in(Box(bar.x0 - 1, bar.y - _BELOW_OVERLINE, bar.x1 + 1, bar.y))
    if not 1 <= len(above) <= _MOST_OVERLINED or not _is_painted_next(bar, above):
        return
    size = max(u.size for u in above)
    letters = [g for u in above for g in u.glyphs if g.symbol.kind == "letter"]
    is_mathematics = bool(letters) and all(is_math_letter(g) for g in letters)
    box = unite(u.box for u in above)
    gap = bar.y - box.y1
    is_as_wide = max(abs(bar.x0 - box.x0), abs(bar.x1 - box.x1)) < _EXACTLY * size
    if is_mathematics and is_as_wide and 0 <= gap < _UNDERLINE_GAP * size:
        axis = max(above, key=lambda u: u.size).axis
        field.replace(above, join_units(above, axis, bars=[bar]))


def _is_painted_next(bar: Rule, units: Sequence[RowUnit]) -> bool:
    """Return whether a rule is painted right before or after one of the symbols."""
    number = bar.serial // SEQUENCE
    return any(abs(g.serial // SEQUENCE - number) <= 1 for u in units for g in u.glyphs)
