"""Limits below and above sums, limit operators, arrows and braces."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.stages.ocr.formulas.tree.accents import is_brace
from omibench.stages.ocr.formulas.tree.nodes import LimitsNode, Words
from omibench.stages.ocr.formulas.tree.parts import Doubts, PlacedPart, bounds, join, without

_NEAR = 0.55
"""Maximum gap between an operator and its limits, in ems."""
_WORD_GAP = 0.45
"""Maximum gap between two parts of one limit, in ems."""
TAKING_LIMITS = frozenset(
    ["lim", "max", "min", "sup", "inf", "limsup", "liminf", "argmax", "argmin", "det", "gcd", "Pr"]
)


def place_limits(parts: Sequence[PlacedPart], doubts: Doubts) -> list[PlacedPart]:
    """Attach the parts centred below and above every operator."""
    rest = list(parts)
    for base in [part for part in parts if _takes_limits(part)]:
        others = without(rest, [base])
        below = _column(base, others, up=False)
        above = _column(base, without(others, below), up=True)
        if not below and not above:
            continue
        node = LimitsNode(
            base.node,
            doubts.build(below).node if below else None,
            doubts.build(above).node if above else None,
        )
        whole = join([base, *below, *above], node, base, kind=base.kind)
        rest = [*without(others, [*below, *above]), whole]
    return rest


def _takes_limits(part: PlacedPart) -> bool:
    if isinstance(part.node, Words):
        return part.node.text in TAKING_LIMITS
    return part.kind in {"large", "arrow"} or is_brace(part) or part.kind == "relation"


def _column(base: PlacedPart, parts: Sequence[PlacedPart], *, up: bool) -> list[PlacedPart]:
    """Return a run of smaller parts on one side of an operator, centred on it."""
    em = base.size
    most = 0.88 * em if base.kind != "large" and not is_brace(base) else 0.95 * em
    beyond = [
        (part, (base.box.y0 - part.box.y1) if up else (part.box.y0 - base.box.y1)) for part in parts
    ]
    near = [
        part
        for part, gap in beyond
        if -0.2 * part.size < gap < _NEAR * em
        and part.size <= most
        and (part.box.centre[1] < base.box.y0 if up else part.box.centre[1] > base.box.y1)
        and part.box.x1 > base.box.x0 - 4 * em
    ]
    near.sort(key=lambda p: p.box.x0)
    runs: list[list[PlacedPart]] = []
    for part in near:
        if runs and part.box.x0 - max(p.box.x1 for p in runs[-1]) < _WORD_GAP * part.size:
            runs[-1].append(part)
        else:
            runs.append([part])
    for run in runs:
        box = bounds(run)
        most = 0.35 * em + 0.06 * box.width + 0.2 * base.box.width
        if box.x0 < base.x < box.x1 and abs(box.centre[0] - base.x) < most:
            return _with_second_rows(run, parts, base, up=up)
    return []


def _with_second_rows(
    run: list[PlacedPart], parts: Sequence[PlacedPart], base: PlacedPart, *, up: bool
) -> list[PlacedPart]:
    """Extend a run by the scripts and fractions beyond its row but within its width."""
    box, size = bounds(run), max(p.size for p in run)
    more = [
        part
        for part in without(parts, [*run, base])
        if part.size < 0.85 * size
        and box.x0 < part.x < box.x1 + 0.5 * size
        and (
            box.y0 - 0.5 * size < part.box.centre[1] < base.box.y0
            if up
            else box.y1 + 0.5 * size > part.box.centre[1] > base.box.y1
        )
    ]
    return [*run, *more]
