"""Horizontal rules of a formula: fractions, roots, over- and underlines, innermost first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from omibench.stages.ocr.formulas.tree.nodes import (
    Accent,
    Doubts,
    Fraction,
    PlacedPart,
    Root,
    Rule,
    all_marks,
    bounds,
    join,
    without,
)
from omibench.stages.ocr.layout.layout import Box

_SIDE = 0.18
"""Maximum distance of a numerator's centre beyond the end of its bar, in ems."""
_GAP = 0.32
"""Maximum gap between two rows of one numerator, such as a sum and its limits, in ems."""
_SCRIPT_GAP = 0.12
"""Maximum gap between the letters of a numerator and their scripts, in ems."""
_FIRST_GAP = 0.75
"""Maximum gap between a bar and the parts on it, in ems."""
_NO_OPERANDS = frozenset({"relation", "operator", "punctuation", "arrow"})
_UNDERLINE_GAP = 0.3
_LINE_GAP = 0.42
"""Maximum gap between an overline and its letters, in ems."""

_LIMIT_SIZE = 0.8
"""Maximum size of a limit, as a share of its operator's."""
_LIMIT_DEPTH = 1.1
"""Maximum distance of a limit's middle below its operator, in ems."""


def join_signs(
    parts: Sequence[PlacedPart], rules: Sequence[Rule]
) -> tuple[list[PlacedPart], list[Rule]]:
    """Combine root signs and their bars into one rule each.

    A root sign without a bar remains a separate rule, as wide as its sign.
    """
    signs = sorted((p for p in parts if p.kind == "root"), key=lambda p: p.box.height)
    free = list(rules)
    joined: list[Rule] = []
    for sign in signs:
        bars = [bar for bar in free if _is_bar_of(bar, sign)]
        bar = min(
            bars, key=lambda b: abs(b.x0 - sign.box.x1) + abs(b.y - sign.box.y0), default=None
        )
        if bar is None:
            marks = sign.marks
            joined.append(Rule(sign.box.x1, sign.box.x1, sign.box.y0, marks, sign))
        else:
            free = [rule for rule in free if rule is not bar]
            # Some programs draw the bar in pieces.
            more = [r for r in free if abs(r.y - bar.y) < 0.3 and 0 <= r.x0 - bar.x1 + 0.6 < 1.2]
            free = [rule for rule in free if all(rule is not piece for piece in more)]
            marks = sign.marks.union(bar.marks, *(piece.marks for piece in more))
            x1 = max(rule.x1 for rule in (bar, *more))
            joined.append(Rule(sign.box.x1, x1, bar.y, marks, sign))
    return without(parts, signs), [*free, *joined]


def _is_bar_of(bar: Rule, sign: PlacedPart) -> bool:
    em = sign.size
    from_sign = bar.x0 - sign.box.x1
    height = min(0.25 * em, 0.3 * sign.box.height)
    return -0.35 * em - 0.02 * sign.box.height < from_sign < 0.25 * em and (
        abs(bar.y - sign.box.y0) < max(height, 1.0)
    )


def reduce_rules(
    parts: Sequence[PlacedPart], rules: Sequence[Rule], doubts: Doubts
) -> list[PlacedPart]:
    """Turn every rule into a fraction, a root, or a line over or under its body."""
    rest = list(parts)
    queue = sorted(rules, key=_reach_of)
    for number, rule in enumerate(queue):
        later = queue[number + 1 :]
        rest = (
            _reduce_root(rest, rule, later, doubts)
            if rule.sign
            else _reduce_bar(rest, rule, later, doubts)
        )
    return rest


def _reach_of(rule: Rule) -> float:
    """Return a rule's width; a root counts as slightly narrower than its bar."""
    return rule.width - (0.3 * rule.sign.size if rule.sign else 0.0)


def _reduce_root(
    parts: list[PlacedPart], rule: Rule, later: Sequence[Rule], doubts: Doubts
) -> list[PlacedPart]:
    sign = rule.sign
    if sign is None:
        return parts
    em = sign.size
    low = sign.box.y1 + 0.15 * em
    body = [
        part
        for part in parts
        if sign.box.x1 - 0.3 * em < part.x < rule.x1 + _beyond(part, 0.15 * part.size)
        and not _is_in_crook(part, sign)
        and not (_is_bracket(part) and part.x > rule.x1 - 0.02 * part.size)
        and part.box.x1 < rule.x1 + 0.35 * em
        and part.box.x0 > sign.box.x0 + 0.3 * sign.box.width
        and rule.y - 0.1 * em < part.box.centre[1] < low
    ]
    if not body:
        doubts.add("a root sign has nothing under its bar")
        return [*parts, replace(sign, marks=rule.marks, kind="letter")]
    body += _list_limits(body, without(parts, body))
    rest = without(parts, body)
    top = _limit(rule, later, up=True)
    index = [
        part
        for part in _index(rest, sign, max(part.size for part in body))
        if part.box.centre[1] > top
    ]
    rest = without(rest, index)
    inside = doubts.build(body)
    node = Root(inside.node, doubts.build(index).node if index else None)
    box = Box(sign.box.x0, min(rule.y, sign.box.y0), max(rule.x1, sign.box.x1), sign.box.y1)
    root = replace(
        inside,
        node=node,
        kind="letter",
        box=box.union(bounds([*body, *index])),
        marks=rule.marks | all_marks(body) | all_marks(index),
    )
    return [*rest, root]


def _list_limits(body: Sequence[PlacedPart], parts: Sequence[PlacedPart]) -> list[PlacedPart]:
    """Return the limits of the sums of a radicand that are below the foot of the root sign."""
    return [
        part
        for part in parts
        if any(
            operator.kind == "large"
            and part.size < _LIMIT_SIZE * operator.size
            and abs(part.x - operator.x) < 0.5 * operator.box.width + 0.1 * part.size
            and 0 < part.box.centre[1] - operator.box.y1 < _LIMIT_DEPTH * operator.size
            for operator in body
        )
    ]


def _is_in_crook(part: PlacedPart, sign: PlacedPart) -> bool:
    """Return whether a part is over the hook of a root sign, as an index is."""
    return part.box.x1 < sign.box.x1 and part.box.y1 < sign.box.y0 + 0.6 * sign.box.height


def _is_bracket(part: PlacedPart) -> bool:
    return part.kind in {"open", "close"} or part.latex in {"|", "\\|"}


def _crosses(part: PlacedPart, rule: Rule) -> bool:
    """Return whether a part is next to a bar: a bracket taller than it, or a sign level with it."""
    em = 0.15 * part.size
    passes = part.box.y0 < rule.y - em and part.box.y1 > rule.y + em
    is_level = abs(part.box.centre[1] - rule.y) < em
    is_outside = part.x < rule.x0 + em or part.x > rule.x1 - em
    return (passes and (_is_bracket(part) or is_outside)) or (is_level and is_outside)


def _beyond(part: PlacedPart, room: float) -> float:
    """Return the tolerance behind the end of a bar for a part's centre; none for a sign."""
    return 0.0 if part.kind in _NO_OPERANDS else room


def _index(parts: Sequence[PlacedPart], sign: PlacedPart, size: float) -> list[PlacedPart]:
    """Return the small parts in the crook of a root sign."""
    box = sign.box
    em = sign.size
    return [
        part
        for part in parts
        if part.size < 0.85 * size
        and part.box.x1 > box.x0 - 0.05 * em
        and part.x < box.x0 + 0.75 * box.width
        and part.box.x0 > box.x0 - 0.9 * em
        and box.y0 - 0.6 * em < part.box.y1 < box.y0 + 0.75 * box.height
        and not any(_is_lowered(part, other) for other in parts)
    ]


def _is_lowered(part: PlacedPart, base: PlacedPart) -> bool:
    """Return whether a part is the subscript of a letter in the row above."""
    gap = part.box.x0 - base.box.x1
    return (
        base.kind == "letter"
        and part.size < 0.85 * base.size
        and -0.1 * base.size < gap < 0.15 * base.size
        and 0.05 * base.size < part.y - base.y < 0.4 * base.size
    )


def _reduce_bar(
    parts: list[PlacedPart], rule: Rule, later: Sequence[Rule], doubts: Doubts
) -> list[PlacedPart]:
    above = _list_stacked_parts(parts, rule, later, up=True)
    below = _list_stacked_parts(parts, rule, later, up=False)
    if above and below:
        over, under = doubts.build(above), doubts.build(below)
        whole = join([over, under], Fraction(over.node, under.node), over, kind="letter")
        box = whole.box._replace(x0=min(rule.x0, whole.box.x0), x1=max(rule.x1, whole.box.x1))
        fraction = replace(
            whole,
            box=box,
            marks=whole.marks | rule.marks,
            axis=rule.y,
            y=rule.y + 0.25 * max(over.size, under.size),
            size=max(over.size, under.size),
        )
        return [*without(parts, [*above, *below]), fraction]
    body, command = (below, "\\overline") if below else (above, "\\underline")
    if not body:
        doubts.add("a rule could not be placed in the formula")
        return parts
    em = max(part.size for part in body)
    edge = min(p.box.y0 for p in body) if below else max(p.box.y1 for p in body)
    inside = doubts.build(body)
    gap = abs(edge - rule.y)
    if gap > (_LINE_GAP if below else _UNDERLINE_GAP) * em or all(
        p.kind in _NO_OPERANDS for p in body
    ):
        doubts.add("a fraction has nothing on one side of its bar")
    line = join(
        [inside],
        Accent(command, inside.node),
        inside,
        kind="letter",
    )
    return [
        *without(parts, body),
        replace(line, marks=line.marks | rule.marks, box=_reach(line, rule)),
    ]


def _reach(part: PlacedPart, rule: Rule) -> Box:
    return part.box._replace(y0=min(part.box.y0, rule.y), y1=max(part.box.y1, rule.y))


def _list_stacked_parts(
    parts: Sequence[PlacedPart], rule: Rule, later: Sequence[Rule], *, up: bool
) -> list[PlacedPart]:
    """Return the parts on one side of a bar, row by row while the next row is close."""
    limit = _limit(rule, later, up=up)
    column = [
        part
        for part in parts
        if rule.x0 - _SIDE * part.size < part.x < rule.x1 + _beyond(part, _SIDE * part.size)
        and not _crosses(part, rule)
        and part.box.x0 > rule.x0 - 0.5 * part.size
        and part.box.x1 < rule.x1 + 0.5 * part.size
        and (limit < part.box.centre[1] < rule.y if up else rule.y < part.box.centre[1] < limit)
    ]
    sign = -1 if up else 1
    # Distances from the bar in either direction: near and far edge of each part.
    edges = {
        id(p): sorted((sign * (p.box.y0 - rule.y), sign * (p.box.y1 - rule.y))) for p in column
    }
    column.sort(key=lambda p: edges[id(p)][0])
    stack: list[PlacedPart] = []
    reach = 0.0
    for part in column:
        near, far = edges[id(part)]
        allowed = _FIRST_GAP if not stack else _gap_of_next(part, stack)
        if near - reach > allowed * part.size:
            break
        stack.append(part)
        reach = max(reach, far)
    return stack


def _gap_of_next(part: PlacedPart, stack: Sequence[PlacedPart]) -> float:
    """Return the maximum gap between a part and those before it in a stack, in ems."""
    if not _is_next_row(part, stack):
        return _GAP
    return _SCRIPT_GAP if part.size < 0.85 * max(p.size for p in stack) else 0.0


def _is_next_row(part: PlacedPart, stack: Sequence[PlacedPart]) -> bool:
    """Return whether a part begins another line of full size, as the row above a numerator does."""
    full = [p for p in stack if p.size > 0.85 * part.size and p.kind != "large"]
    return bool(full) and all(abs(p.middle - part.middle) > 0.6 * part.size for p in full)


def _limit(rule: Rule, later: Sequence[Rule], *, up: bool) -> float:
    """Return the height of the nearest wider bar on one side, the limit of a numerator."""
    covers = [
        other.y
        for other in later
        if (other.sign.box.x0 if other.sign else other.x0) < rule.x1
        and other.x1 > rule.x0
        and (other.y < rule.y if up else other.y > rule.y)
    ]
    if up:
        return max(covers, default=float("-inf"))
    return min(covers, default=float("inf"))
