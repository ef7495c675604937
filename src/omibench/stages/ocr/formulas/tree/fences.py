"""Brackets that grow with their content, and the parts between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from omibench.stages.ocr.formulas.tree.grids import build_grid, find_rows
from omibench.stages.ocr.formulas.tree.nodes import Fence, GridNode, Node, Sign
from omibench.stages.ocr.formulas.tree.parts import Doubts, PlacedPart, all_marks, bounds, without

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
