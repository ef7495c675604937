"""Vertical bars taller than a line: their pieces, and what is between two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from omibench.stages.ocr.formulas.reading.units import InkField, RowUnit, join_units

TALL_BARS: Final = frozenset("|∣‖∥")
_REPEATED: Final = TALL_BARS | {"√"}
_NAMES: Final = frozenset(("|", "\\|"))
_SAME_PLACE = 0.1
"""Maximum distance between the middles of two pieces of one bar, in type sizes."""
_TALL = 1.9
"""Minimum height of a bar that encloses several rows, in type sizes."""
_LEVEL = 0.25
"""Maximum difference between the ends of two bars of one pair, as a share of their height."""
_WIDEST = 320.0
"""Maximum width between two bars of one pair, in points."""


def join_bars(field: InkField) -> None:
    """Join the pieces of each bar and root sign: TeX repeats the sign until it is tall enough.

    Args:
        field: Units of a page.
    """
    bars = sorted(
        (u for u in field.units if u.text in _REPEATED),
        key=lambda u: (round(u.box.x0, 1), u.box.y0),
    )
    join_runs(field, bars, _continues)


def join_runs(
    field: InkField, pieces: Iterable[RowUnit], continues: Callable[[RowUnit, RowUnit], bool]
) -> None:
    """Join each run of pieces, from the top, in which every one continues the one before it."""
    run: list[RowUnit] = []
    for piece in [*pieces, None]:
        if run and piece and continues(run[-1], piece):
            run.append(piece)
            continue
        if len(run) > 1:
            field.replace(run, join_units(run, (run[0].box.y0 + run[-1].box.y1) / 2))
        run = [piece] if piece else []


def join_bar_fences(field: InkField) -> None:
    """Join two tall bars of one height with everything between them, as in a determinant.

    Args:
        field: Units of a page, fractions and roots joined.
    """
    bars = sorted((u for u in field.units if _is_tall(u)), key=lambda u: u.box.x0)
    while bars:
        first = bars[0]
        level = [bar for bar in bars if _are_level(first, bar)]
        bars = [bar for bar in bars if bar not in level]
        if len(level) % 2 == 0:
            for left, right in zip(level[::2], level[1::2], strict=True):
                _join_pair(field, left, right)


def _continues(upper: RowUnit, lower: RowUnit) -> bool:
    """Return whether a piece of a bar touches the piece above it."""
    is_same = upper.glyphs[0].text == lower.glyphs[0].text
    off = abs(upper.box.centre[0] - lower.box.centre[0])
    return (
        is_same and off < _SAME_PLACE * upper.size and upper.box.y0 < lower.box.y0 <= upper.box.y1
    )


def _is_tall(unit: RowUnit) -> bool:
    is_bar = bool(unit.glyphs) and all(
        glyph.text in TALL_BARS or glyph.symbol.latex in _NAMES for glyph in unit.glyphs
    )
    return is_bar and not unit.bars and unit.box.height > _TALL * unit.size


def _are_level(a: RowUnit, b: RowUnit) -> bool:
    most = _LEVEL * a.box.height
    return abs(a.box.y0 - b.box.y0) < most and abs(a.box.y1 - b.box.y1) < most


def _join_pair(field: InkField, left: RowUnit, right: RowUnit) -> None:
    box = left.box.union(right.box)
    inside: Sequence[RowUnit] = field.centred_in(box)
    if box.width < _WIDEST and len(inside) > 2:
        size = max(u.size for u in inside if u not in (left, right))
        field.replace(inside, join_units(inside, left.box.centre[1], size=size))
