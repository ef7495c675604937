"""Units of a page in rows from left to right, scripts attached to their bases."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

from omibench.stages.ocr.formulas.reading.kinds import is_math_font
from omibench.stages.ocr.formulas.reading.units import RowUnit

Row = list[RowUnit]
_SMALLER = 0.86
"""Maximum size of a script, as a share of its base's."""
_SMALLER_AS_NEXT = 0.95
"""The same relative to the unit after a script: type of the line's size is never a script."""
_SMALLER_BEFORE = 0.8
"""The same for scripts before their base."""
_REACH = 3.0
"""Maximum height of scripts above and below a base, in type sizes."""
_BAND = 12
"""Height of the bands in which bases are looked up, in points."""
_MOST_BANDS = 200
_LEVEL = 0.12
"""Maximum difference between baselines of one row, in type sizes."""
_PUNCTUATION = frozenset(",;:?")
_APART = 2.0
"""Weight of the height between a script and a tall base, which may be one of the next row."""
_ON_SIGN = 0.2
"""What is added to the distance of a script from an operator: most stand beside letters."""
_DEEPEST = 50
_STACKED = 0.2
"""Maximum offset between the left edges of two scripts of one letter, in type sizes."""
_MOST_ROWS = 12
"""Maximum number of rows next to a block that are examined."""
_SPACE = 0.2
"""Minimum gap between words, in type sizes."""
_COLUMN_GAP = 1.3
"""Minimum gap that splits a row, in type sizes: columns, choices and equation numbers."""
_TALL = 1.3
"""Minimum height of a block taller than a line, in type sizes."""
_INSIDE = 0.5
"""Weight of the gap between a bracket and its content if several rows are near."""
_OFF_AXIS = 0.36
"""Maximum distance of a block's axis from that of an adjacent row, as a share of its height."""
_BESIDE = 0.4
"""Maximum gap between a block and such a row, in type sizes."""


def form_rows(groups: Iterable[Sequence[RowUnit]]) -> list[Row]:
    """Return rows of units; a row ends at a wide gap.

    Args:
        groups: Units of a page in any grouping, their scripts attached.

    Returns:
        Rows, each from left to right.
    """
    remaining = sorted((u for group in groups for u in group), key=lambda u: u.box.x0)
    letters = sorted((u for u in remaining if not u.has_axis), key=lambda u: u.baseline)
    rows: list[Row] = []
    for unit in letters:
        row = rows[-1] if rows else None
        if row and unit.baseline - row[0].baseline < _LEVEL * max(unit.size, row[0].size):
            row.append(unit)
        else:
            rows.append([unit])
    _place_blocks(rows, [u for u in remaining if u.has_axis])
    return [part for row in rows for part in _part(sorted(row, key=lambda u: u.box.x0))]


def _place_blocks(rows: list[Row], blocks: Sequence[RowUnit]) -> None:
    """Add blocks to the rows at their axis level, and the others to new rows."""
    levels = [row[0].baseline for row in rows]
    count = len(rows)
    waiting = sorted(blocks, key=lambda u: u.axis)
    while waiting:
        left: list[RowUnit] = []
        for block in waiting:
            low = bisect_left(levels, block.axis - 2, 0, count)
            row = _choose_row(block, [*rows[low : min(low + _MOST_ROWS, count)], *rows[count:]])
            if row is None:
                left.append(block)
            else:
                row.append(block)
        if len(left) == len(waiting):
            block = left.pop(0)
            row = _choose_row_beside(block, rows)
            if row is None:
                rows.append([block])
            else:
                row.append(block)
        waiting = left


def _choose_row(block: RowUnit, rows: Sequence[Row]) -> Row | None:
    best: tuple[float, Row] | None = None
    for row in rows:
        size = max(u.size for u in row)
        off = abs(row[0].axis - block.axis)
        if off > 0.24 * max(size, block.size):
            continue
        gap = min(u.whole_box.gap_x(block.whole_box) for u in row)
        distance = off + 0.01 * max(gap, 0) + _INSIDE * _gap_inside(block, row, size)
        if gap < _COLUMN_GAP * size and (best is None or distance < best[0]):
            best = (distance, row)
    return best[1] if best else None


def _gap_inside(block: RowUnit, row: Row, size: float) -> float:
    """Return the points between a bracket and its content, at most two type sizes; else 0."""
    kind = block.glyphs[0].symbol.kind if block.glyph else ""
    if kind not in ("open", "close"):
        return 0.0
    middle = block.box.centre[0]
    gaps = (
        u.whole_box.x0 - block.box.x1 if kind == "open" else block.box.x0 - u.whole_box.x1
        for u in row
        if (u.box.centre[0] > middle) == (kind == "open")
    )
    return min(2 * size, max(0.0, min(gaps, default=2 * size)))


def _choose_row_beside(block: RowUnit, rows: Sequence[Row]) -> Row | None:
    """Choose the row whose type ends right next to a tall block, slightly off the block's axis."""
    for row in rows:
        size = max(u.size for u in row)
        off = abs(row[0].axis - block.axis)
        if block.box.height < _TALL * size or off > min(_OFF_AXIS * block.box.height, size):
            continue
        gap = min(abs(u.whole_box.gap_x(block.whole_box)) for u in row)
        if gap < _BESIDE * size:
            return row
    return None


def _part(row: Row) -> list[Row]:
    parts: list[Row] = []
    end = 0.0
    for unit in row:
        box = unit.whole_box
        if parts and box.x0 - end < _COLUMN_GAP * unit.size:
            parts[-1].append(unit)
        else:
            parts.append([unit])
            end = box.x1
        end = max(end, box.x1)
    return parts


def attach_scripts(units: Sequence[RowUnit]) -> list[RowUnit]:
    """Attach every script to its base; return the other units."""
    order = sorted(units, key=lambda u: u.box.x0)
    starts = [u.box.x0 for u in order]
    base_of: dict[RowUnit, RowUnit] = {}
    bands = _Bands(units)
    for unit in order:
        if unit.is_tall and not unit.is_block:
            continue
        largest = bands.find_largest(unit)
        if unit.size >= _SMALLER_AS_NEXT * largest:
            continue
        base = bands.find_base(unit, largest, base_of)
        if base is not None:
            _attach(unit, base, base_of)
            continue
        if unit.size >= _SMALLER_BEFORE * largest:
            continue
        low = bisect_left(starts, unit.box.x1 - 0.1 * unit.size)
        high = bisect_left(starts, unit.box.x1 + 0.25 * largest)
        right = [u for u in order[low:high] if u is not unit and _is_left_script(u, unit)]
        if right:
            _attach(unit, min(right, key=lambda u: abs(u.box.x0 - unit.box.x1)), base_of)
    before = [u.size for u, base in base_of.items() if base.box.x0 > u.box.x0]
    if before:
        largest = 1.2 * max(before)
        for unit in reversed(order):
            if unit.size < largest and unit not in base_of and not unit.has_axis:
                _follow_left_script(unit, order, starts, base_of)
    _stack_left_scripts(order, starts, base_of)
    for unit, base in list(base_of.items()):
        is_apart = unit.box.x0 - base.box.x1 > _SPACE * base.size
        if is_apart and _is_digit(unit) and not is_math_font(base.glyphs[-1].font):
            _move_to_following(unit, base, order, starts, base_of)
    for unit, base in base_of.items():
        base.scripts.append(unit)
    return [u for u in order if u not in base_of]


class _Bands:
    """Units by the horizontal bands of the page that their scripts can be in."""

    def __init__(self, units: Sequence[RowUnit]) -> None:
        self._bands: defaultdict[int, list[tuple[float, int, RowUnit]]] = defaultdict(list)
        for k, unit in enumerate(sorted(units, key=lambda u: u.box.x1)):
            reach = _REACH * unit.size
            low = int(min(unit.box.y0, unit.axis) - reach) // _BAND
            high = int(max(unit.box.y1, unit.axis) + reach) // _BAND
            entry = (unit.box.x1, k, unit)
            for band in range(low, min(high, low + _MOST_BANDS) + 1):
                self._bands[band].append(entry)
        self._largest = {
            band: max(unit.size for _, _, unit in entries) for band, entries in self._bands.items()
        }

    def find_largest(self, unit: RowUnit) -> float:
        """Return the largest type size near a unit."""
        return max(self._largest.get(band, 0.0) for band in self._bands_of(unit))

    def find_base(
        self, unit: RowUnit, largest: float, base_of: dict[RowUnit, RowUnit]
    ) -> RowUnit | None:
        """Return the base of a script to its left."""
        best: tuple[float, int] | None = None
        found: RowUnit | None = None
        x0, reach = unit.box.x0, 0.66 * largest
        for band in self._bands_of(unit):
            entries = self._bands.get(band, [])
            low = bisect_left(entries, (x0 - reach,))
            high = bisect_left(entries, (x0 + reach,))
            for _, k, base in entries[low:high]:
                if base is unit:
                    continue
                distance = _distance(base, unit, base_of)
                if distance is not None and (best is None or (distance, k) < best):
                    best, found = (distance, k), base
        return found

    def _bands_of(self, unit: RowUnit) -> range:
        """Return the bands of a unit: one for a glyph, those of its whole box for a block."""
        middle = int(unit.axis) // _BAND
        if not unit.is_block:
            return range(middle, middle + 1)
        low, high = int(unit.box.y0) // _BAND, int(unit.box.y1) // _BAND
        return range(min(low, middle), min(max(high, middle), low + _MOST_BANDS) + 1)


def _is_digit(unit: RowUnit) -> bool:
    return not unit.is_block and unit.glyphs[0].symbol.kind == "digit"


def _move_to_following(
    unit: RowUnit,
    base: RowUnit,
    order: Sequence[RowUnit],
    starts: Sequence[float],
    base_of: dict[RowUnit, RowUnit],
) -> None:
    """Attach digits after a space, such as those of ^{235}U, to the letter that follows them."""
    run = [unit]
    for following in order[bisect_left(starts, unit.box.x1 - 0.1 * unit.size) :]:
        last = run[-1]
        gap = following.box.x0 - last.box.x1
        if gap > 0.2 * base.size or len(run) > _MOST_ROWS:
            return
        if abs(following.baseline - unit.baseline) < 0.05 * unit.size:
            run.append(following)
        elif following not in base_of and _is_left_script(following, last):
            base_of.update(dict.fromkeys(run, following))
            return


def _attach(unit: RowUnit, base: RowUnit, base_of: dict[RowUnit, RowUnit]) -> None:
    """Set the base of a script; a script of a script has the same base."""
    for _ in range(_DEEPEST):
        root = base_of.get(base)
        if root is None or root is unit:
            break
        base = root
    if base is not unit and unit.size <= _SMALLER * base.size:
        base_of[unit] = base


def _follow_left_script(
    unit: RowUnit,
    order: Sequence[RowUnit],
    starts: Sequence[float],
    base_of: dict[RowUnit, RowUnit],
) -> None:
    """Attach the earlier digits of a script left of its base, as in ^{14}C."""
    low = bisect_left(starts, unit.box.x1 - 0.1 * unit.size)
    high = bisect_left(starts, unit.box.x1 + 0.2 * unit.size)
    for following in order[low:high]:
        base = base_of.get(following)
        if (
            base is not None
            and base is not unit
            and base.box.x0 > following.box.x0
            and abs(following.baseline - unit.baseline) < 0.05 * unit.size
            and 0.9 < following.size / unit.size < 1.1
        ):
            base_of[unit] = base
            return


def _stack_left_scripts(
    order: Sequence[RowUnit], starts: Sequence[float], base_of: dict[RowUnit, RowUnit]
) -> None:
    """Attach the shorter of two left scripts that begin above each other, as in ^{235}_{92}U."""
    first: dict[RowUnit, RowUnit] = {}
    for unit, base in base_of.items():
        if unit.box.x1 < base.box.x0 + 0.2 * base.size and base.box.x0 > unit.box.x0:
            first[base] = min(first.get(base, unit), unit, key=lambda u: u.box.x0)
    for base, unit in first.items():
        start, end, other = unit.box.x0, None, None
        low = bisect_left(starts, start - _STACKED * unit.size)
        high = bisect_left(starts, base.box.x0)
        for u in order[low:high]:
            is_level = other is None or abs(u.baseline - other.baseline) < 0.05 * u.size
            begins = end is None and abs(u.box.x0 - start) < _STACKED * u.size
            if (
                u not in base_of
                and u is not base
                and not u.has_axis
                and is_level
                and (begins or (end is not None and u.box.x0 - end < 0.2 * u.size))
                and 0.9 < u.size / unit.size < 1.1
                and abs(u.baseline - unit.baseline) > 0.5 * u.size
                and _is_level_of_script(u.baseline - base.baseline, base.size)
            ):
                base_of[u], other, end = base, u, u.box.x1


def _distance(base: RowUnit, unit: RowUnit, base_of: dict[RowUnit, RowUnit]) -> float | None:
    """Return the distance of a script from the unit left of it; None if it is not its script."""
    gap = unit.box.x0 - base.box.x1
    if base in base_of and 0.8 < unit.size / base.size < 1.25:
        is_small = unit.size < _SMALLER_AS_NEXT * base_of[base].size
        return _distance_of_next(base, unit, gap) if is_small else None
    size = base.size
    if base.glyphs[0].text in _PUNCTUATION:
        return None
    is_large = base.glyphs[0].symbol.kind == "large" and base.is_tall
    farthest = 0.65 if is_large else 0.28
    if unit.size > _SMALLER * size or not -0.45 * size < gap < farthest * size:
        return None
    if unit.is_block and abs(unit.axis - base.axis) < (0.3 if base.has_axis else 0.22) * size:
        return None
    if base.has_axis:
        off, middle = unit.box.gap_y(base.box), abs(unit.axis - base.axis)
        near = off < 0.3 * size and middle > 0.25 * min(size, base.box.height)
        return (abs(gap) + _APART * max(off, 0.0)) / size if near else None
    shift = unit.baseline - base.baseline
    near = -0.9 * size < shift < 0.75 * size and abs(shift) >= 0.05 * size
    is_sign = base.glyphs[0].symbol.kind in ("operator", "relation")
    return (abs(gap) + 0.2 * abs(shift)) / size + _ON_SIGN * is_sign if near else None


def _distance_of_next(base: RowUnit, unit: RowUnit, gap: float) -> float | None:
    """Return the same for the unit after a script, on its level or that of the other script."""
    shift = abs(base.baseline - unit.baseline) / unit.size
    if shift < 0.1:
        return abs(gap) / unit.size if -0.4 < gap / unit.size < 0.7 else None
    near = -0.5 < gap / unit.size < 0.35 and 0.4 < shift < 2.2
    return abs(gap) / unit.size + 0.1 if near else None


def _is_left_script(base: RowUnit, unit: RowUnit) -> bool:
    size = base.size
    gap = base.box.x0 - unit.box.x1
    shift = unit.baseline - base.baseline
    return (
        not base.is_block
        and unit.size < _SMALLER_BEFORE * size
        and -0.1 * size < gap < 0.2 * size
        and _is_level_of_script(shift, size)
    )


def _is_level_of_script(shift: float, size: float) -> bool:
    """Return whether a script can be this far below the baseline of its base."""
    return -0.8 * size < shift < -0.25 * size or 0.08 * size < shift < 0.5 * size
