"""Stacked rows: matrices, cases, aligned rows; and the brackets that grow with their content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf

from glyphtex.tree.nodes import Fence, GridKind, GridNode, Node, Row, Sign
from glyphtex.tree.parts import Doubts, Field, Part, bounds, join, split_at_gaps, without
from glyphtex.tree.scripts import SMALLER
from glyphtex.tree.signs import join_dots

_KINDS: dict[tuple[str, str], GridKind] = {
    ("(", ")"): "pmatrix",
    ("[", "]"): "bmatrix",
    ("\\{", "\\}"): "Bmatrix",
    ("|", "|"): "vmatrix",
    ("\\|", "\\|"): "Vmatrix",
}
_ROW_STEP = 0.75
"""Minimum distance between the baselines of two rows, in ems."""
_BINOMIAL_STEP = 1.255
"""Ems between numerator and denominator in display (TeX 1.36); lines of a matrix have 1.2."""
_JOINING = frozenset({"relation", "operator", "punctuation", "arrow", "large"})
"""Kinds of symbols that a condition neither begins with nor follows."""
_VISIBLE = 0.3
"""Minimum gap between the longest case and its condition, in ems."""
_CASE_GAP = 0.9
"""Minimum gap between a case and its condition that need not be aligned, in ems."""
_ALIGNED = 0.06
"""Maximum difference between the beginnings of aligned conditions, in ems."""
_COLUMN_GAP = 0.42
"""Minimum gap between two columns, in ems; a relation has .28 on each side."""

Parts = Sequence[Part]


def find_rows(parts: Parts) -> list[list[Part]]:
    """Split parts into rows, from the top; one row if no part is on a separate line.

    Two rows differ from a base and its scripts: both have symbols of full size, and their marks do
    not overlap vertically.
    """
    size = max(part.size for part in parts)
    full = [p for p in parts if p.size > SMALLER * size or p.axis is not None]
    first, *later = sorted(full, key=lambda p: p.middle)
    rows, box, middles = [[first]], first.box, first.middle
    for part in later:
        is_near = part.middle - middles / len(rows[-1]) < _ROW_STEP * size
        # Those that overlap are one row, such as a sum and a tall part next to it.
        if is_near or box.y1 - part.box.y0 > 0.35 * min(box.height, part.box.height, size):
            rows[-1].append(part)
            box, middles = box.union(part.box), middles + part.middle
        else:
            rows.append([part])
            box, middles = part.box, part.middle
    if len(rows) < 2:
        return [list(parts)]
    for part in without(parts, [p for row in rows for p in row]):
        min(rows, key=lambda row: _measure_distance(part, row)).append(part)
    return rows


def _find_line(row: Parts) -> float:
    return sum(part.middle for part in row) / len(row)


def _measure_distance(part: Part, row: Parts) -> float:
    """Return the distance of a small part from the part of a row left of it, in points."""
    left = [p for p in row if p.box.x0 < part.x]
    near = min(left or row, key=lambda p: abs(p.box.x1 - part.box.x0))
    return abs(near.middle - part.middle) + 0.2 * abs(near.box.x1 - part.box.x0)


def _build_grid(rows: Sequence[Parts], left: str, right: str, size: float, doubts: Doubts) -> Node:
    """Return rows inside brackets as a matrix, a binomial or cases; else a list with a doubt.

    Args:
        rows: Rows from the top.
        left: Opening bracket.
        right: Closing bracket; empty if absent.
        size: Type size of the row of the brackets, in points.
        doubts: Collects doubts.
    """
    if left == "\\{" and not right:
        start, gap = _find_conditions(rows, size)
        aligned = start if gap > _VISIBLE * size else None
        cases = tuple(_build_case(row, aligned, doubts) for row in rows)
        if len({len(row) for row in cases}) > 1 or (start is not None and len(cases[0]) < 2):
            doubts.add("a row of cases has no condition")
        return GridNode(cases, "cases")
    columns = _find_columns(rows)
    cells = tuple(
        tuple(
            _build_cell([part for part in row if x0 - 0.01 <= part.x <= x1 + 0.01], doubts)
            for x0, x1 in columns
        )
        for row in rows
    )
    kind = _KINDS.get((left, right))
    if kind is None:
        doubts.add("brackets that are not those of a matrix enclose several rows")
        return Fence(left, GridNode(cells, "matrix"), right)
    if kind == "pmatrix" and len(rows) == 2 and len(columns) == 1:
        if doubts.is_embedded:
            doubts.add("two rows in parentheses may be a binomial or a column")
        if doubts.is_embedded or _is_binomial(rows, size):
            kind = "binom"
    return GridNode(cells, kind)


def _build_cell(parts: Parts, doubts: Doubts) -> Node:
    return doubts.build(parts).node if parts else Row(())


def _is_binomial(rows: Sequence[Parts], size: float) -> bool:
    """Return whether two rows are a fraction without a bar: smaller or farther apart than lines."""
    inside = max(part.size for row in rows for part in row)
    upper, lower = ([p for p in row if p.size > SMALLER * inside] or row for row in rows)
    step = _find_line(lower) - _find_line(upper)
    return inside < 0.9 * size or step > _BINOMIAL_STEP * inside


def _find_conditions(rows: Sequence[Parts], size: float) -> tuple[float | None, float]:
    """Return where the conditions of cases begin, and the widest gap before one of them.

    They begin at one place in every row, neither after a sign nor within a number.
    """
    starts = [dict(_list_starts(row, size)) for row in rows]
    for x, gap in starts[0].items():
        near = [[o for o in row if abs(o - x) < _ALIGNED * size] for row in starts[1:]]
        if all(near):
            gaps = [row[others[0]] for row, others in zip(starts[1:], near, strict=True)]
            return x, max(gap, *gaps)
    return None, 0.0


def _list_starts(row: Parts, size: float) -> Iterator[tuple[float, float]]:
    """Yield the left edge of each part that a condition can begin with, and the gap before it."""
    end = -inf
    for before, part in pairwise(sorted(row, key=lambda p: p.box.x0)):
        end = max(end, before.box.x1)
        is_within = before.kind == part.kind == "digit" and before.size == part.size
        is_sign = {before.kind, part.kind} & _JOINING
        if part.size > SMALLER * size and not is_within and not is_sign:
            yield part.box.x0, part.box.x0 - end


def _build_case(row: Parts, start: float | None, doubts: Doubts) -> tuple[Node, ...]:
    """Return a case and its condition, separated by a wide space or aligned at `start`."""
    size = max(part.size for part in row)
    case, *condition = split_at_gaps(row, _CASE_GAP, size)
    pieces = [case, [part for piece in condition for part in piece]]
    if start is not None and not condition:
        case = [part for part in row if part.box.x0 < start - _ALIGNED * size]
        pieces = [case, without(row, case)]
    return tuple(doubts.build(piece).node for piece in pieces if piece)


def _find_columns(rows: Sequence[Parts]) -> list[tuple[float, float]]:
    """Return the horizontal extents of columns: unions of entries that overlap."""
    spans: list[tuple[float, float]] = []
    boxes = [
        bounds(piece)
        for row in rows
        for piece in split_at_gaps(row, _COLUMN_GAP, max(part.size for part in row))
    ]
    for box in sorted(boxes, key=lambda box: box.x0):
        if spans and box.x0 < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], box.x1))
        else:
            spans.append((box.x0, box.x1))
    return spans


def build_rows(rows: Sequence[Parts], doubts: Doubts) -> Part:
    """Return rows without brackets: aligned at their relations, or centred."""
    built = [doubts.build(row) for row in rows]
    starts = [
        min((part.box.x0 for part in row if part.kind in {"relation", "arrow"}), default=inf)
        for row in rows
    ]
    if max(starts) < inf and max(starts) - min(starts) < 0.15 * max(part.size for part in built):
        cells = tuple(
            (
                _build_cell([part for part in row if part.x < x], doubts),
                doubts.build([part for part in row if part.x >= x]).node,
            )
            for row, x in zip(rows, starts, strict=True)
        )
        node = GridNode(cells, "aligned")
    else:
        node = GridNode(tuple((part.node,) for part in built), "gathered")
        if not doubts.is_embedded:
            doubts.add("stacked rows have no alignment")
    axis = bounds(built).centre[1]
    return join([part for row in rows for part in row], node, built[0], axis=axis)


# Brackets that grow with their content, and the parts between them.

_TALL = 1.15
"""Minimum height of a grown bracket, in ems."""
_BARS = {"|", "\\|"}
_LONE = {"\\{", "["}
"""Brackets that cases can have on the left alone."""


def place_fences(parts: Parts, doubts: Doubts) -> list[Part]:
    """Enclose the parts between every pair of tall brackets of a row."""
    rest = list(parts)
    size = _find_type_size(parts)
    for _ in range(len(parts)):
        pair = _find_innermost(rest, size)
        if pair is None:
            break
        found = _enclose(rest, *pair, doubts)
        if found is None:
            # Such a bar is one of an evaluation, or of `such that`.
            rest = [part.change(kind="letter") if part in pair else part for part in rest]
        else:
            whole, held = found
            rest = [*without(rest, held), whole]
    return rest


def _find_type_size(parts: Parts) -> float:
    """Return the size of the letters; a program may set a tall bracket in larger type."""
    plain = [p.size for p in parts if p.axis is None or not isinstance(p.node, Sign)]
    return max(plain, default=max((part.size for part in parts), default=1.0))


def _find_innermost(parts: Parts, size: float) -> tuple[Part, Part | None] | None:
    """Find the first closing bracket and the opening one before it; a lone brace opens cases."""
    stacked = _find_around_stacks(parts)
    opened: list[Part] = []
    for part in sorted(parts, key=lambda p: p.box.x0):
        is_bar = part.latex in _BARS
        is_bracket = bool(part.latex) and (is_bar or part.kind in {"open", "close"})
        is_tall = is_bracket and part.box.height > _TALL * size
        if not is_tall and id(part) not in stacked:
            continue
        last = opened[-1] if opened else None
        is_pair = last is not None and _are_level(last, part)
        if last is not None and is_pair and is_bar and last.latex == part.latex:
            return last, part
        if part.kind != "close" or is_bar:
            opened.append(part)
        elif last is not None and is_pair and last.latex not in _BARS:
            return last, part
    lone = [part for part in opened if part.latex in _LONE | _BARS]
    return (lone[-1], None) if lone else None


def _find_around_stacks(parts: Parts) -> set[int]:
    """Return the ids of low parentheses that contain only two small rows, as in a binomial."""
    ids: set[int] = set()
    ordered = sorted(parts, key=lambda p: p.x)
    for place, left in enumerate(ordered):
        if left.latex != "(":
            continue
        inside: list[Part] = []
        for part in ordered[place + 1 :]:
            if part.latex == ")" or part.size > 0.85 * left.size:
                if part.latex == ")" and inside and _are_stacked(inside):
                    ids |= {id(left), id(part)}
                break
            inside.append(part)
    return ids


def _are_stacked(parts: Parts) -> bool:
    return len(find_rows(parts)) > 1 and any(
        upper.box.y1 < lower.box.y0 and upper.box.gap_x(lower.box) < 0
        for upper in parts
        for lower in parts
    )


def _are_level(left: Part, right: Part) -> bool:
    return -left.box.gap_y(right.box) > 0.6 * max(left.box.height, right.box.height)


def _enclose(
    parts: Parts, left: Part, right: Part | None, doubts: Doubts
) -> tuple[Part, list[Part]] | None:
    """Return a pair of brackets with what is between them, and these parts; None if nothing is."""
    end = right.box.x0 if right else inf
    em = _find_type_size(parts)
    ends = [left] if right is None else [left, right]
    inside = [
        part
        for part in without(parts, ends)
        if left.box.x1 - 0.2 * em < part.x < end
        and left.box.y0 - 0.4 * em < part.box.centre[1] < left.box.y1 + 0.4 * em
    ]
    if not inside or (right is None and left.latex in _BARS):
        return None
    closing = right.latex if right else ""
    rows = find_rows(inside)
    if len(rows) > 1:
        node = _build_grid(rows, left.latex, closing, max(em, left.size), doubts)
    else:
        body = doubts.build(inside).node
        if isinstance(body, GridNode) or right is None:
            doubts.add("a bracket is unmatched")
        node = Fence(left.latex, body, closing)
    held = [*ends, *inside]
    axis = left.box.centre[1]
    return join(held, node, left, kind="letter", axis=axis, size=em), held


# Brackets of several rows on a page.

_SEVERAL_ROWS = 1.9
"""Minimum height of brackets and bars that enclose several rows, in type sizes."""
_LEVEL = 0.25
"""Maximum difference between the ends of two brackets of one pair, as a share of their height."""
_WIDEST = 320.0
"""Maximum width between two brackets, in points."""
_CASES_GAP = 2.6
"""Minimum gap that ends the cases after a brace, in type sizes."""


def join_fences(field: Field) -> None:
    """Join tall brackets, and pairs of tall bars, with everything between them.

    Args:
        field: Parts of a page, fractions and roots joined.
    """
    tall = [p for p in field.parts if p.latex and p.box.height > _SEVERAL_ROWS * p.size]
    bars = sorted((p for p in tall if p.latex in _BARS), key=lambda p: p.box.x0)
    while bars:
        level = [bar for bar in bars if _are_as_tall(bars[0], bar)]
        bars = without(bars, level)
        if len(level) % 2 == 0:
            for left, right in zip(level[::2], level[1::2], strict=True):
                inside = field.centred_in(left.box.union(right.box))
                if right.box.x1 - left.box.x0 < _WIDEST and len(inside) > 2:
                    _join_fence(field, inside, left, right)
    closing = [p for p in tall if p.kind == "close"]
    opening = [p for p in tall if p.kind == "open"]
    for left in sorted(opening, key=lambda p: (p.box.height, p.box.x0)):
        ends = [
            p
            for p in closing
            if p in field.parts and p.box.x0 >= left.box.x1 and _are_as_tall(left, p)
        ]
        last = min(ends, key=lambda p: p.box.x1, default=None)
        band = left.box._replace(x1=last.box.x1 if last else left.box.x1 + _WIDEST)
        inside = field.centred_in(band)
        if last is None:
            inside = _until_gap(left, inside)
        if last or (left.latex in _LONE and len({round(p.middle) for p in inside}) > 1):
            _join_fence(field, inside, left, last)


def _join_fence(field: Field, inside: Parts, left: Part, right: Part | None) -> None:
    found = _enclose(join_dots(inside), left, right, field.doubts)
    if found:
        field.replace(inside, found[0])


def _are_as_tall(a: Part, b: Part) -> bool:
    most = _LEVEL * a.box.height
    return abs(a.box.y0 - b.box.y0) < most and abs(a.box.y1 - b.box.y1) < most


def _until_gap(left: Part, parts: Parts) -> list[Part]:
    taken, end = [left], left.box.x1
    for part in without(parts, [left]):
        if part.box.x0 - end > _CASES_GAP * part.size:
            break
        taken.append(part)
        end = max(end, part.box.x1)
    return taken
