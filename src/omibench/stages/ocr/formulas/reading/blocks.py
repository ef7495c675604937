"""Marks that form one unit over several rows: fractions, roots, limits, tall brackets."""

from __future__ import annotations

import math
from collections.abc import Sequence

from omibench.stages.ocr.formulas.glyphs.painted import SEQUENCE
from omibench.stages.ocr.formulas.marks import PageMarks, RootSign, Rule, unite
from omibench.stages.ocr.formulas.reading.accents import seat_accents
from omibench.stages.ocr.formulas.reading.bars import (
    TALL_BARS,
    join_bar_fences,
    join_bars,
    join_runs,
)
from omibench.stages.ocr.formulas.reading.fractions import (
    BarNeighbours,
    find_neighbours,
    join_fraction,
)
from omibench.stages.ocr.formulas.reading.harpoons import (
    join_congruences,
    join_harpoons,
    join_strokes,
)
from omibench.stages.ocr.formulas.reading.kinds import is_math_letter
from omibench.stages.ocr.formulas.reading.long_arrows import join_long_arrows
from omibench.stages.ocr.formulas.reading.rules import WIDEST
from omibench.stages.ocr.formulas.reading.units import InkField, RowUnit, join_units, unit_of_glyph
from omibench.stages.ocr.layout.layout import Box

MAX_BARS = 300
"""Maximum number of rules of a page that are examined; the shortest come first."""
_LIMITED = frozenset({"lim", "max", "min", "sup", "inf", "limsup", "liminf", "argmax", "argmin"})
_INITIALS = frozenset(word[0] for word in _LIMITED)
_OF_LIMITS = 0.82
"""Maximum size of limits as a share of the operator's, which TeX sets in 10 points for 11."""
_BESIDE_BAR = 0.5
"""Heights of a tall bar within which the type beside it has the size of its row."""
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
    _level_bars(field)
    seat_accents(field)
    _join_pieces(field)
    join_bars(field)
    join_harpoons(field)
    join_congruences(field)
    join_strokes(field)
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
    _join_fences(field)
    return field


def _level_bars(field: InkField) -> None:
    """Give tall bars the type size of what they enclose: LibreOffice enlarges their type."""
    for unit in field.units:
        if unit.is_tall and unit.glyphs[0].text in TALL_BARS:
            beside = unit.box.grow(_BESIDE_BAR * unit.box.height, 0)
            sizes = [u.size for u in field.centred_in(beside) if not u.is_tall]
            unit.size = min(unit.size, max(sizes, default=unit.size))


def _join_pieces(field: InkField) -> None:
    """Join the parts of one bracket, brace or radical sign."""
    pieces = sorted(
        (u for u in field.units if u.glyph and u.glyph.symbol.kind == "piece"),
        key=lambda u: (round(u.box.centre[0]), u.box.y0),
    )
    join_runs(
        field,
        pieces,
        lambda upper, lower: (
            abs(lower.box.centre[0] - upper.box.centre[0]) < 0.5 * lower.size
            and lower.box.y0 - upper.box.y1 < 0.35 * lower.size
        ),
    )


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
    signs += [u for u in field.units if u.is_block and _has_only(u, "piece", "root")]
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


def _join_fences(field: InkField) -> None:
    """Join tall brackets with everything between them, as in matrices and cases."""
    tall = sorted(
        (u for u in field.units if _is_tall_fence(u)), key=lambda u: (u.box.height, u.box.x0)
    )
    for fence in tall:
        if fence not in field.units or not _opens(fence):
            continue
        closing = [
            u
            for u in tall
            if u in field.units
            and u.box.x0 >= fence.box.x1
            and not _opens(u)
            and abs(u.box.y0 - fence.box.y0) < 0.25 * fence.box.height
            and abs(u.box.y1 - fence.box.y1) < 0.25 * fence.box.height
        ]
        end = min((u.box.x1 for u in closing), default=None)
        band = Box(fence.box.x0, fence.box.y0, end or fence.box.x1 + 320, fence.box.y1)
        inside = field.centred_in(band)
        if end is None:
            inside = _until_gap(fence, inside)
        if len({round(u.axis) for u in inside}) > 1 or end is not None:
            axis = fence.box.centre[1]
            size = max((u.size for u in inside if u is not fence), default=fence.size)
            field.replace(inside, join_units(inside, axis, size=size))


def _is_tall_fence(unit: RowUnit) -> bool:
    is_bracket = unit.glyph is not None and unit.glyph.symbol.kind in ("open", "close", "piece")
    is_bracket = is_bracket or _has_only(unit, "piece")
    return is_bracket and unit.box.height > 1.9 * unit.size


def _has_only(unit: RowUnit, *kinds: str) -> bool:
    """Return whether a unit consists of signs of some kinds."""
    return not unit.bars and all(glyph.symbol.kind in kinds for glyph in unit.glyphs)


def _opens(unit: RowUnit) -> bool:
    """Return whether a fence is left of its content."""
    glyph = unit.glyphs[0]
    if glyph.symbol.kind != "piece":
        return glyph.symbol.kind == "open"
    latex = "".join(g.symbol.latex for g in unit.glyphs)
    return any(sign in latex for sign in ("(", "[", "{", "lceil", "lfloor", "langle"))


def _until_gap(fence: RowUnit, units: Sequence[RowUnit]) -> list[RowUnit]:
    taken, end = [fence], fence.box.x1
    for unit in units:
        if unit is fence:
            continue
        if unit.box.x0 - end > 2.6 * unit.size:
            break
        taken.append(unit)
        end = max(end, unit.box.x1)
    return taken
