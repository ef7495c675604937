"""Limits below and above sums, limit operators, arrows and braces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from omibench.stages.ocr.formulas.tree.accents import is_brace
from omibench.stages.ocr.formulas.tree.nodes import LimitsNode, Words
from omibench.stages.ocr.formulas.tree.parts import Doubts, PlacedPart, join, without

BuildRow = Callable[[Sequence[PlacedPart], Doubts], PlacedPart]
_NEAR = 0.55
"""Maximum gap between an operator and its limits, in ems."""
_WORD_GAP = 0.45
"""Maximum gap between two parts of one limit, in ems."""
TAKING_LIMITS = frozenset(
    ["lim", "max", "min", "sup", "inf", "limsup", "liminf", "argmax", "argmin", "det", "gcd", "Pr"]
)


def place_limits(parts: Sequence[PlacedPart], doubts: Doubts, build: BuildRow) -> list[PlacedPart]:
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
            build(below, doubts).node if below else None,
            build(above, doubts).node if above else None,
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
        x0, x1 = min(p.box.x0 for p in run), max(p.box.x1 for p in run)
        off = abs((x0 + x1) / 2 - base.x)
        if x0 < base.x < x1 and off < 0.35 * em + 0.06 * (x1 - x0) + 0.2 * base.box.width:
            return _with_second_rows(run, parts, base, up=up)
    return []


def _with_second_rows(
    run: list[PlacedPart], parts: Sequence[PlacedPart], base: PlacedPart, *, up: bool
) -> list[PlacedPart]:
    """Extend a run by the scripts and fractions beyond its row but within its width."""
    x0, x1 = min(p.box.x0 for p in run), max(p.box.x1 for p in run)
    size = max(p.size for p in run)
    y0, y1 = min(p.box.y0 for p in run), max(p.box.y1 for p in run)
    more = [
        part
        for part in without(parts, [*run, base])
        if part.size < 0.85 * size
        and x0 < part.x < x1 + 0.5 * size
        and (
            y0 - 0.5 * size < part.box.centre[1] < base.box.y0
            if up
            else y1 + 0.5 * size > part.box.centre[1] > base.box.y1
        )
    ]
    return [*run, *more]
