"""Mathematical accents, placed in the rows of their letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from glyphtex.boxes import Box, unite
from glyphtex.units import AXIS, InkField, RowUnit, is_math_letter, join_units

_LOWEST = -0.25
"""Maximum overlap of an accent with the box of its letter, in type sizes."""
_HIGHEST = 0.4
"""Maximum gap between a letter and its accent, in type sizes."""
_OFF_CENTRE = 0.75
"""Maximum offset of a zero-width accent from the middle of its letter, in type sizes."""


def seat_accents(field: InkField) -> None:
    """Give each accent over a mathematical letter the baseline and the width of that letter.

    TeX raises accents over tall letters, and gives the arrow of a vector no width: by its position
    alone, such an accent would be in the row above.

    Args:
        field: Units of a page before any are joined.
    """
    for unit in [u for u in field.units if u.glyphs[0].symbol.kind == "accent"]:
        letter = _find_letter(unit, field)
        if letter is None:
            continue
        field.remove(unit)
        unit.axis = letter.baseline - AXIS * unit.size
        unit.box = unit.box._replace(x0=letter.box.x0, x1=letter.box.x1)
        field.add(unit)


def _find_letter(accent: RowUnit, field: InkField) -> RowUnit | None:
    """Return the letter under an accent, or None if no mathematical letter is there."""
    x, size = accent.box.centre[0], accent.size
    below = Box(x - size, accent.box.y1 + _LOWEST * size, x + size, accent.box.y1 + 1.2 * size)
    letters = [
        u
        for u in field.centred_in(below)
        if _LOWEST * size < u.box.y0 - accent.box.y1 < _HIGHEST * size
        and abs(u.box.centre[0] - x) < _OFF_CENTRE * size
        and is_math_letter(u.glyphs[0])
    ]
    return min(letters, key=lambda u: abs(u.box.centre[0] - x), default=None)


# Vertical bars taller than a line: their pieces, and what is between two of them.

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


def join_pieces(field: InkField) -> None:
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


# Brackets of several rows.


def join_fences(field: InkField) -> None:
    """Join tall brackets with everything between them, as in matrices and cases."""
    tall = sorted(
        (u for u in field.units if _is_tall_bracket(u)), key=lambda u: (u.box.height, u.box.x0)
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


def _is_tall_bracket(unit: RowUnit) -> bool:
    is_bracket = unit.glyph is not None and unit.glyph.symbol.kind in ("open", "close", "piece")
    is_bracket = is_bracket or has_only(unit, "piece")
    return is_bracket and unit.box.height > 1.9 * unit.size


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


def has_only(unit: RowUnit, *kinds: str) -> bool:
    """Return whether a unit consists of signs of some kinds."""
    return not unit.bars and all(glyph.symbol.kind in kinds for glyph in unit.glyphs)


# Signs that are set as two, one above the other: equilibrium arrows, congruence, a stroke.

_UPPER = frozenset({"\\rightharpoonup", "\\leftharpoonup"})
_LOWER = frozenset({"\\leftharpoondown", "\\rightharpoondown"})
_BELOW = 0.7
"""Maximum distance between the two baselines, in type sizes."""
_OVERLAID = 0.15
"""Maximum difference between the ends of the two signs of a congruence, in type sizes."""


def join_harpoons(field: InkField) -> None:
    """Attach each lower harpoon, with the dashes that lengthen it, to the upper one.

    The arrow gets the baseline in the middle of its two halves, which is that of its row.
    """
    for upper in [u for u in field.units if u.latex in _UPPER]:
        around = upper.box.grow(1.5 * upper.size, 0)
        inside = field.centred_in(around._replace(y1=around.y1 + _BELOW * upper.size))
        near = [u for u in inside if u.baseline > upper.baseline]
        for lower in [u for u in near if u.latex in _LOWER]:
            dashes = [u for u in near if u.latex == "-" and _is_level(u, lower)]
            shift = (lower.baseline - upper.baseline) / 2
            above = [u for u in inside if u.latex == "-" and _is_level(u, upper)]
            for unit in [*above, upper]:
                unit.axis += shift
            for unit in [lower, *dashes]:
                field.remove(unit)
                upper.scripts.append(unit)
            break


def join_congruences(field: InkField) -> None:
    """Attach each tilde over an equals sign to it, as Computer Modern sets `\\cong`."""
    for tilde in [u for u in field.units if u.latex == "\\sim"]:
        below = tilde.box._replace(y0=tilde.box.y1, y1=tilde.box.y1 + _BELOW * tilde.size)
        for equals in field.centred_in(below):
            ends = (equals.box.x0 - tilde.box.x0, equals.box.x1 - tilde.box.x1)
            if equals.latex == "=" and max(map(abs, ends)) < _OVERLAID * tilde.size:
                field.remove(tilde)
                equals.scripts.append(tilde)
                break


def _is_level(unit: RowUnit, lower: RowUnit) -> bool:
    return abs(unit.baseline - lower.baseline) < 0.1 * lower.size


# Arrows over several letters, which TeX assembles from dashes and an arrowhead.

_HEADS = frozenset({"\\to", "\\leftarrow"})
_GAP = 0.35
"""Maximum gap between the arrow and the letters below it, in type sizes."""
_MOST_DASHES = 40


def join_long_arrows(field: InkField) -> None:
    """Join each arrow of dashes with the letters within its width."""
    for head in [u for u in field.units if u.latex in _HEADS]:
        arrow = [head, *_dashes(head, field)]
        if len(arrow) == 1:
            continue
        box = unite(u.box for u in arrow)
        below = Box(box.x0 - 1, head.box.y1, box.x1 + 1, head.box.y1 + 1.4 * head.size)
        letters = [
            u
            for u in field.centred_in(below)
            if not u.is_block and -0.1 * u.size < u.box.y0 - head.box.y1 < _GAP * u.size
        ]
        if not letters:
            continue
        first, last = letters[0].box, letters[-1].box
        if abs(first.x0 - box.x0) < _GAP * head.size and abs(last.x1 - box.x1) < _GAP * head.size:
            parts = [*letters, *arrow]
            field.replace(parts, join_units(parts, letters[0].axis))


def _dashes(head: RowUnit, field: InkField) -> list[RowUnit]:
    """Return minus signs level with an arrow's head that overlap it or each other."""
    reach = _MOST_DASHES * head.size / 4
    around = Box(head.box.x0 - reach, head.box.y0 - 1, head.box.x1 + reach, head.box.y1 + 1)
    near = [u for u in field.centred_in(around) if u.latex == "-"]
    chain: list[RowUnit] = []
    box = head.box
    for dash in sorted(near, key=lambda u: abs(u.box.centre[0] - head.box.centre[0])):
        if dash.box.gap_x(box) < 0 and abs(dash.baseline - head.baseline) < 0.05 * head.size:
            chain.append(dash)
            box = box.union(dash.box)
    return chain
