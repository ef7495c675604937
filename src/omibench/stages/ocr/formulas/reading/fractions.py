"""Bars of fractions with their numerators and denominators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from omibench.stages.ocr.formulas.marks import Rule, unite
from omibench.stages.ocr.formulas.reading.kinds import is_math_font
from omibench.stages.ocr.formulas.reading.units import InkField, RowUnit, join_units
from omibench.stages.ocr.layout.layout import Box

_FIRST_GAP = 0.74
"""Maximum gap from a bar to the nearest ink of the numerator or denominator, in type sizes."""
_NEXT_GAP = 0.16
"""Maximum gap between rows of one numerator, as between a letter and its script, in type sizes."""
_NEIGHBOUR = 0.45
"""Maximum gap to the next glyph of the same words in a row, in type sizes."""
_UNDER = 0.2
"""Maximum distance from a baseline down to its underline, in type sizes."""
_SAME_SIZE = 0.86
"""Minimum share of a type size from which another one is the same."""
_OFF_LINE = 0.65
"""Minimum distance between the baselines of a numerator and another line, in type sizes.

Exponents of a fraction in an exponent have the size of their bases, and are .4 to .6 higher.
"""
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


def _is_on_another_line(unit: RowUnit, taken: Sequence[RowUnit]) -> bool:
    """Return whether a letter is above or below letters of its size, on another line."""
    if unit.has_axis or unit.size < _SAME_SIZE * max((u.size for u in taken), default=0.0):
        return False
    full = [u for u in taken if not u.has_axis and u.size > _SAME_SIZE * unit.size]
    return any(abs(u.baseline - unit.baseline) > _OFF_LINE * unit.size for u in full)


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
        if taken and gap > 0 and (unit.bars or unit.is_tall):  # of the line above or below
            break
        if _is_on_another_line(unit, taken):
            break
        taken.append(unit)
        edge = min(edge, far) if up else max(edge, far)
    return taken
