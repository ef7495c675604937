"""Stacked rows: matrices, cases, aligned rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from omibench.stages.ocr.formulas.tree.nodes import (
    Doubts,
    Fence,
    GridKind,
    GridNode,
    Node,
    PlacedPart,
    Row,
    Sign,
    all_marks,
    bounds,
    without,
)
from omibench.stages.ocr.formulas.tree.scripts import SMALLER

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
_ALIGNED = 0.06
"""Maximum difference between the beginnings of aligned conditions, in ems."""
_COLUMN_GAP = 0.42
"""Minimum gap between two columns, in ems; a relation has .28 on each side."""


def find_rows(parts: Sequence[PlacedPart]) -> list[list[PlacedPart]]:
    """Split parts into rows, from the top; one row if no part is on a separate line.

    Two rows differ from a base and its scripts: both have symbols of full size, and their marks do
    not overlap vertically.
    """
    size = max(part.size for part in parts)
    full = [p for p in parts if p.size > SMALLER * size or p.axis is not None]
    rows: list[list[PlacedPart]] = []
    for part in sorted(full, key=lambda p: p.middle):
        last = rows[-1] if rows else None
        if last and part.middle - max(p.middle for p in last) < 0.3 * size:
            last.append(part)
        else:
            rows.append([part])
    rows = _merge_rows(rows, size)
    if len(rows) < 2:
        return [list(parts)]
    for part in parts:
        if all(part is not p for row in rows for p in row):
            _nearest_row(part, rows).append(part)
    return rows


def _merge_rows(rows: list[list[PlacedPart]], size: float) -> list[list[PlacedPart]]:
    """Merge rows that overlap, such as a sum and a tall part next to it."""
    merged: list[list[PlacedPart]] = []
    for row in rows:
        box = bounds(row)
        if merged:
            last = bounds(merged[-1])
            overlap = last.y1 - box.y0
            step = _line(row) - _line(merged[-1])
            if overlap > 0.35 * min(last.height, box.height, size) or step < _ROW_STEP * size:
                merged[-1].extend(row)
                continue
        merged.append(row)
    return merged


def _line(row: Sequence[PlacedPart]) -> float:
    return sum(part.middle for part in row) / len(row)


def _nearest_row(part: PlacedPart, rows: Sequence[list[PlacedPart]]) -> list[PlacedPart]:
    def away(row: Sequence[PlacedPart]) -> float:
        left = [p for p in row if p.box.x0 < part.x]
        near = min(left or row, key=lambda p: abs(p.box.x1 - part.box.x0))
        return abs(near.middle - part.middle) + 0.2 * abs(near.box.x1 - part.box.x0)

    return min(rows, key=away)


def build_grid(
    rows: Sequence[Sequence[PlacedPart]],
    ends: tuple[str, str],
    size: float,
    doubts: Doubts,
) -> Node:
    """Return rows inside brackets as a matrix, a binomial or cases; else a list with a doubt.

    Args:
        rows: Rows from the top.
        ends: The brackets; the right one is empty if absent.
        size: Type size of the row of the brackets, in points.
        doubts: Collects doubts.
    """
    left, right = ends
    if left == "\\{" and not right:
        start, gap = _find_conditions(rows, size)
        cases = tuple(_cells(row, start if gap > _VISIBLE * size else None, doubts) for row in rows)
        if len({len(row) for row in cases}) > 1 or (start is not None and len(cases[0]) < 2):
            doubts.add("a row of cases has no condition")
        return GridNode(cases, "cases")
    columns = _columns(rows)
    cells = [_by_column(row, columns, doubts) for row in rows]
    kind = _KINDS.get((left, right))
    is_pair = kind == "pmatrix" and len(rows) == 2 and len(columns) == 1
    if is_pair and doubts.is_embedded:
        doubts.add("two rows in parentheses may be a binomial or a column")
    if is_pair and (doubts.is_embedded or _is_binomial(rows, size)):
        return GridNode(tuple(tuple(row) for row in cells), "binom")
    if kind is None:
        doubts.add("brackets that are not those of a matrix enclose several rows")
        return Fence(left, GridNode(tuple(tuple(row) for row in cells), "matrix"), right)
    if any(len(row) != len(cells[0]) for row in cells):
        doubts.add("the rows of a matrix have different numbers of entries")
    return GridNode(tuple(tuple(row) for row in cells), kind)


def _is_binomial(rows: Sequence[Sequence[PlacedPart]], size: float) -> bool:
    """Return whether two rows are a fraction without a bar: smaller or farther apart than lines."""
    inside = max(part.size for row in rows for part in row)
    upper, lower = ([part for part in row if part.size > SMALLER * inside] for row in rows)
    step = _line(lower or rows[1]) - _line(upper or rows[0])
    return inside < 0.9 * size or step > _BINOMIAL_STEP * inside


def _find_conditions(
    rows: Sequence[Sequence[PlacedPart]], size: float
) -> tuple[float | None, float]:
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


def _list_starts(row: Sequence[PlacedPart], size: float) -> Iterator[tuple[float, float]]:
    """Yield the left edge of each part that a condition can begin with, and the gap before it."""
    ordered = sorted(row, key=lambda p: p.box.x0)
    end = max((p.box.x1 for p in ordered[:1]), default=0.0)
    for before, part in pairwise(ordered):
        is_within = before.kind == part.kind == "digit" and before.size == part.size
        is_sign = {before.kind, part.kind} & _JOINING
        if part.size > SMALLER * size and not is_within and not is_sign:
            yield part.box.x0, part.box.x0 - end
        end = max(end, part.box.x1)


def _cells(row: Sequence[PlacedPart], start: float | None, doubts: Doubts) -> tuple[Node, ...]:
    """Return a case and its condition, separated by a wide space or aligned at `start`."""
    pieces = _split_row(row, 0.9)
    if len(pieces) == 1 and start is not None:
        edge = start - _ALIGNED * max(part.size for part in row)
        pieces = [
            [part for part in row if part.box.x0 < edge],
            [part for part in row if part.box.x0 >= edge],
        ]
    if len(pieces) > 2:
        pieces = [pieces[0], [part for piece in pieces[1:] for part in piece]]
    return tuple(doubts.build(piece).node for piece in pieces)


def _split_row(row: Sequence[PlacedPart], gap: float) -> list[list[PlacedPart]]:
    """Split the parts of a row at spaces of `gap` ems."""
    pieces: list[list[PlacedPart]] = []
    end = 0.0
    for part in sorted(row, key=lambda p: p.box.x0):
        if pieces and part.box.x0 - end < gap * max(p.size for p in row):
            pieces[-1].append(part)
        else:
            pieces.append([part])
        end = max(end, part.box.x1) if len(pieces) > 1 or len(pieces[0]) > 1 else part.box.x1
    return pieces


def _columns(rows: Sequence[Sequence[PlacedPart]]) -> list[tuple[float, float]]:
    """Return the horizontal extents of columns: unions of entries that overlap."""
    spans: list[tuple[float, float]] = []
    pieces = [piece for row in rows for piece in _split_row(row, _COLUMN_GAP)]
    for piece in sorted(pieces, key=lambda p: min(q.box.x0 for q in p)):
        box = bounds(piece)
        if spans and box.x0 < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], box.x1))
        else:
            spans.append((box.x0, box.x1))
    return spans


def _by_column(
    row: Sequence[PlacedPart],
    columns: Sequence[tuple[float, float]],
    doubts: Doubts,
) -> list[Node]:
    cells: list[Node] = []
    for x0, x1 in columns:
        inside = [part for part in row if x0 - 0.01 <= part.x <= x1 + 0.01]
        cells.append(doubts.build(inside).node if inside else Row(()))
    return cells


def build_rows(rows: Sequence[Sequence[PlacedPart]], doubts: Doubts) -> PlacedPart:
    """Return rows without brackets: aligned at their relations, or centred."""
    built = [doubts.build(row) for row in rows]
    starts = [_relation_start(row) for row in rows]
    size = max(part.size for part in built)
    known = [x for x in starts if x is not None]
    if len(known) == len(rows) and max(known) - min(known) < 0.15 * size:
        cells = tuple(_at_relation(row, x, doubts) for row, x in zip(rows, known, strict=True))
        node: Node = GridNode(cells, "aligned")
    else:
        node = GridNode(tuple((part.node,) for part in built), "gathered")
        if not doubts.is_embedded:
            doubts.add("stacked rows have no alignment")
    box = bounds(built)
    marks = all_marks(part for row in rows for part in row)
    return replace(built[0], node=node, box=box, marks=marks, axis=box.centre[1])


def _relation_start(row: Sequence[PlacedPart]) -> float | None:
    relations = [part.box.x0 for part in row if part.kind in {"relation", "arrow"}]
    return min(relations, default=None)


def _at_relation(row: Sequence[PlacedPart], x: float, doubts: Doubts) -> tuple[Node, ...]:
    left = [part for part in row if part.x < x]
    right = [part for part in row if part.x >= x]
    return (doubts.build(left).node if left else Row(()), doubts.build(right).node)


# Brackets that grow with their content, and the parts between them.

_TALL = 1.15
"""Minimum height of a grown bracket, in ems."""
_PARTNER = {
    "(": ")",
    "[": "]",
    "\\{": "\\}",
    "\\langle": "\\rangle",
    "\\lfloor": "\\rfloor",
    "\\lceil": "\\rceil",
}
_BARS = {"|", "\\|"}


def place_fences(parts: Sequence[PlacedPart], doubts: Doubts) -> list[PlacedPart]:
    """Enclose the parts between every pair of tall brackets."""
    rest = list(parts)
    size = _type_size(parts)
    for _ in range(len(parts)):
        pair = _innermost(rest, size)
        if pair is None:
            return rest
        left, right = pair
        rest = _enclose(rest, left, right, doubts)
    return rest


def _type_size(parts: Sequence[PlacedPart]) -> float:
    """Return the size of the letters; a program may set a tall bracket in larger type."""
    plain = [p.size for p in parts if p.axis is None or not isinstance(p.node, Sign)]
    return max(plain, default=max((part.size for part in parts), default=1.0))


def _is_tall(part: PlacedPart, size: float) -> bool:
    return (
        (part.kind in {"open", "close"} or part.latex in _BARS)
        and bool(part.latex)
        and part.box.height > _TALL * size
    )


def _innermost(
    parts: Sequence[PlacedPart], size: float
) -> tuple[PlacedPart, PlacedPart | None] | None:
    """Find the first closing bracket and the opening one before it; a lone brace opens cases."""
    stacked = _around_stacks(parts)
    tall = sorted(
        (p for p in parts if _is_tall(p, size) or id(p) in stacked), key=lambda p: p.box.x0
    )
    opened: list[PlacedPart] = []
    for part in tall:
        last = opened[-1] if opened else None
        if part.latex in _BARS:
            if last is not None and last.latex == part.latex and _are_level(last, part):
                return last, part
            opened.append(part)
        elif part.kind == "close":
            if last is not None and last.latex not in _BARS and _are_level(last, part):
                return last, part
        else:
            opened.append(part)
    lone = [part for part in opened if part.latex in {"\\{", "["} or part.latex in _BARS]
    if lone:
        return lone[-1], None
    return None


def _around_stacks(parts: Sequence[PlacedPart]) -> set[int]:
    """Return the ids of low parentheses that contain only two small rows, as in a binomial."""
    ids: set[int] = set()
    ordered = sorted(parts, key=lambda p: p.x)
    for place, left in enumerate(ordered):
        if left.latex != "(":
            continue
        inside: list[PlacedPart] = []
        for part in ordered[place + 1 :]:
            if part.latex == ")" or part.size > 0.85 * left.size:
                break
            inside.append(part)
        else:
            continue
        if part.latex == ")" and len(find_rows(inside or [left])) > 1 and _overlap(inside):
            ids |= {id(left), id(part)}
    return ids


def _overlap(parts: Sequence[PlacedPart]) -> bool:
    return any(
        upper.box.y1 < lower.box.y0
        and min(upper.box.x1, lower.box.x1) > max(upper.box.x0, lower.box.x0)
        for upper in parts
        for lower in parts
    )


def _are_level(left: PlacedPart, right: PlacedPart) -> bool:
    shared = min(left.box.y1, right.box.y1) - max(left.box.y0, right.box.y0)
    return shared > 0.6 * max(left.box.height, right.box.height)


def _enclose(
    parts: Sequence[PlacedPart],
    left: PlacedPart,
    right: PlacedPart | None,
    doubts: Doubts,
) -> list[PlacedPart]:
    end = right.box.x0 if right else float("inf")
    em = _type_size(parts)
    inside = [
        part
        for part in parts
        if part is not left
        and part is not right
        and left.box.x1 - 0.2 * em < part.x < end
        and left.box.y0 - 0.4 * em < part.box.centre[1] < left.box.y1 + 0.4 * em
    ]
    ends = [left] if right is None else [left, right]
    if not inside:
        return [replace(part, kind="letter") if part in ends else part for part in parts]
    names = (left.latex, right.latex if right else "")
    if right is None and left.latex in _BARS:
        # A bar of an evaluation, or of `such that`.
        return [replace(part, kind="letter") if part is left else part for part in parts]
    rows = find_rows(inside)
    if len(rows) > 1:
        node: Node = build_grid(rows, names, max(em, left.size), doubts)
    else:
        body = doubts.build(inside).node
        if isinstance(body, GridNode) or right is None:
            doubts.add("a bracket is unmatched")
        node = Fence(names[0], body, names[1])
    held = [*ends, *inside]
    fence = replace(
        left,
        node=node,
        box=bounds(held),
        marks=all_marks(held),
        kind="letter",
        axis=left.box.centre[1],
        size=em,
    )
    return [*without(parts, held), fence]
