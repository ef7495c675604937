"""Units of a page in rows from left to right, scripts attached to what they stand beside."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from omibench.stages.ocr.formulas.reading.kinds import is_math_font
from omibench.stages.ocr.formulas.reading.units import RowUnit

Row = list[RowUnit]
_SMALLER = 0.86
"""Sizes of a script in those of its base, at most."""
_SMALLER_AS_NEXT = 0.95
"""The same of what stands behind a script: type of the line's own size is none."""
_LEVEL = 0.12
"""Type sizes by which baselines of one row may differ."""
_PUNCTUATION = frozenset(",;:?")
_DEEPEST = 50
_MOST_ROWS = 12
"""Rows beside a block that are looked at."""
_SPACE = 0.2
"""Type sizes from which on a gap is one between words."""
_COLUMN_GAP = 1.3
"""Type sizes from which on a gap parts a row: columns, choices and numbers of equations."""


def form_rows(units: Iterable[RowUnit]) -> list[Row]:
    """Rows of units; a row ends at a wide gap.

    Args:
        units: The units of a page; their `scripts` are filled here.

    Returns:
        Rows, each from left to right.
    """
    remaining = attach_scripts(list(units))
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
    """Put blocks into the rows on whose axis they stand, those without one into new rows."""
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
            rows.append([left.pop(0)])
        waiting = left


def _choose_row(block: RowUnit, rows: Sequence[Row]) -> Row | None:
    best: tuple[float, Row] | None = None
    for row in rows:
        size = max(u.size for u in row)
        off = abs(row[0].axis - block.axis)
        if off > 0.24 * max(size, block.size):
            continue
        gap = min(u.whole_box.gap_x(block.whole_box) for u in row)
        if gap < _COLUMN_GAP * size and (best is None or off + 0.01 * max(gap, 0) < best[0]):
            best = (off + 0.01 * max(gap, 0), row)
    return best[1] if best else None


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
    """Give every script to the unit that it stands beside; the other units are returned."""
    order = sorted(units, key=lambda u: u.box.x0)
    ends = sorted(units, key=lambda u: u.box.x1)
    end_values = [u.box.x1 for u in ends]
    starts = [u.box.x0 for u in order]
    base_of: dict[RowUnit, RowUnit] = {}
    largest = max((u.size for u in units), default=0.0)
    # A script stands no farther above or below its base than this: most units are not looked at.
    reach = 2 * largest + max((u.box.height for u in units), default=0.0)
    for unit in order:
        low = bisect_left(end_values, unit.box.x0 - 0.66 * largest)
        high = bisect_left(end_values, unit.box.x0 + 0.66 * largest)
        if unit.is_tall and not unit.is_block:
            continue
        distances = [
            (distance, k)
            for k, base in enumerate(ends[low:high], low)
            if abs(base.axis - unit.axis) < reach
            and base is not unit
            and (distance := _distance(base, unit, base_of)) is not None
        ]
        if distances:
            _attach(unit, ends[min(distances)[1]], base_of)
            continue
        low = bisect_left(starts, unit.box.x1 - 0.1 * unit.size)
        high = bisect_left(starts, unit.box.x1 + 0.25 * largest)
        right = [
            u
            for u in order[low:high]
            if abs(u.axis - unit.axis) < reach and u is not unit and _is_left_script(u, unit)
        ]
        if right:
            _attach(unit, min(right, key=lambda u: abs(u.box.x0 - unit.box.x1)), base_of)
    for unit in reversed(order):
        if unit not in base_of and not unit.has_axis:
            _follow_left_script(unit, order, starts, base_of)
    for unit, base in list(base_of.items()):
        is_apart = unit.box.x0 - base.box.x1 > _SPACE * base.size
        if is_apart and _is_digit(unit) and not is_math_font(base.glyphs[-1].font):
            _move_to_following(unit, base, order, starts, base_of)
    for unit, base in base_of.items():
        base.scripts.append(unit)
    return [u for u in order if u not in base_of]


def _is_digit(unit: RowUnit) -> bool:
    return not unit.is_block and unit.glyphs[0].symbol.kind == "digit"


def _move_to_following(
    unit: RowUnit,
    base: RowUnit,
    order: Sequence[RowUnit],
    starts: Sequence[float],
    base_of: dict[RowUnit, RowUnit],
) -> None:
    """Give digits behind a space, such as those of ^{235}U, to the letter that follows them."""
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
    """Note the base of a script; that of a script of a script is the base of both."""
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
    """Attach the earlier digits of a script that stands left of its base, as in ^{14}C."""
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


def _distance(base: RowUnit, unit: RowUnit, base_of: dict[RowUnit, RowUnit]) -> float | None:
    """How far a script is from what stands left of it; None where it is none of it."""
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
        return abs(gap) / size if near else None
    shift = unit.baseline - base.baseline
    near = -0.9 * size < shift < 0.75 * size and abs(shift) >= 0.05 * size
    return (abs(gap) + 0.2 * abs(shift)) / size if near else None


def _distance_of_next(base: RowUnit, unit: RowUnit, gap: float) -> float | None:
    """The same for what stands behind a script, on its level or on that of the other script."""
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
        and unit.size < 0.8 * size
        and -0.1 * size < gap < 0.2 * size
        and (-0.8 * size < shift < -0.25 * size or 0.08 * size < shift < 0.5 * size)
    )
