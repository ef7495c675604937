"""Horizontal rules of a formula: fractions, roots, over- and underlines, innermost first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from glyphtex.tree.nodes import (
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
from glyphtex.units import AXIS

_SIDE = 0.18
"""Maximum distance of a numerator's centre beyond the end of its bar, in ems."""
_BODY_SIDE = 0.15
"""The same for a radicand."""
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
_SMALLER = 0.85
"""Maximum type size of an index or a script, as a share of its base's."""

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
        x, y, height = sign.box.x1, sign.box.y0, sign.box.height
        em = sign.size
        bars = [
            bar
            for bar in free
            if -0.35 * em - 0.02 * height < bar.x0 - x < 0.25 * em
            and abs(bar.y - y) < max(min(0.25 * em, 0.3 * height), 1.0)
        ]
        if bars:
            bar = min(bars, key=lambda b: abs(b.x0 - x) + abs(b.y - y))
            # Some programs draw the bar in pieces.
            level = [r for r in without(free, [bar]) if abs(r.y - bar.y) < 0.3]
            pieces = [bar, *(r for r in level if 0 <= r.x0 - bar.x1 + 0.6 < 1.2)]
            free = without(free, pieces)
            marks = sign.marks.union(*(piece.marks for piece in pieces))
            joined.append(Rule(x, max(piece.x1 for piece in pieces), bar.y, marks, sign))
        else:
            joined.append(Rule(x, x, y, sign.marks, sign))
    return without(parts, signs), [*free, *joined]


def reduce_rules(
    parts: Sequence[PlacedPart], rules: Sequence[Rule], doubts: Doubts
) -> list[PlacedPart]:
    """Turn every rule into a fraction, a root, or a line over or under its body."""
    rest = list(parts)
    # A root counts as slightly narrower than its bar.
    queue = sorted(rules, key=lambda r: r.width - (0.3 * r.sign.size if r.sign else 0.0))
    for number, rule in enumerate(queue):
        later = queue[number + 1 :]
        if rule.sign:
            rest = _reduce_root(rest, rule, rule.sign, later, doubts)
        else:
            rest = _reduce_bar(rest, rule, later, doubts)
    return rest


def _reduce_root(
    parts: list[PlacedPart], rule: Rule, sign: PlacedPart, later: Sequence[Rule], doubts: Doubts
) -> list[PlacedPart]:
    em, box = sign.size, sign.box
    body = [
        part
        for part in parts
        if box.x1 - 0.3 * em < part.x < _find_end(part, rule, _BODY_SIDE)
        and not (_is_bracket(part) and part.x > rule.x1 - 0.02 * part.size)
        and part.box.x1 < rule.x1 + 0.35 * em
        and part.box.x0 > box.x0 + 0.3 * box.width
        and rule.y - 0.1 * em < part.box.centre[1] < box.y1 + 0.15 * em
        # Over the hook of the sign is an index.
        and not (part.box.x1 < box.x1 and part.box.y1 < box.y0 + 0.6 * box.height)
    ]
    if not body:
        doubts.add("a root sign has nothing under its bar")
        return [*parts, replace(sign, marks=rule.marks, kind="letter")]
    # Limits of the sums of a radicand can be below the foot of the sign.
    body += [
        part
        for part in without(parts, body)
        if any(
            operator.kind == "large"
            and part.size < _LIMIT_SIZE * operator.size
            and abs(part.x - operator.x) < 0.5 * operator.box.width + 0.1 * part.size
            and 0 < part.box.centre[1] - operator.box.y1 < _LIMIT_DEPTH * operator.size
            for operator in body
        )
    ]
    rest = without(parts, body)
    top = _find_limit(rule, later, up=True)
    size = max(part.size for part in body)
    index = [
        part
        for part in rest
        if part.size < _SMALLER * size
        and part.box.x1 > box.x0 - 0.05 * em
        and part.x < box.x0 + 0.75 * box.width
        and part.box.x0 > box.x0 - 0.9 * em
        and box.y0 - 0.6 * em < part.box.y1 < box.y0 + 0.75 * box.height
        and part.box.centre[1] > top
        and not any(_is_subscript(part, other) for other in rest)
    ]
    inside = doubts.build(body)
    node = Root(inside.node, doubts.build(index).node if index else None)
    whole = box._replace(y0=min(rule.y, box.y0), x1=max(rule.x1, box.x1))
    held = [*body, *index]
    root = replace(
        inside,
        node=node,
        kind="letter",
        box=whole.union(bounds(held)),
        marks=rule.marks | all_marks(held),
    )
    return [*without(rest, index), root]


def _find_end(part: PlacedPart, rule: Rule, side: float) -> float:
    """Return how far right the centre of a part on a bar can be; a sign is not beyond its end."""
    return rule.x1 + (0.0 if part.kind in _NO_OPERANDS else side * part.size)


def _is_bracket(part: PlacedPart) -> bool:
    return part.kind in {"open", "close"} or part.latex in {"|", "\\|"}


def _is_subscript(part: PlacedPart, base: PlacedPart) -> bool:
    """Return whether a part is the subscript of a letter in the row above."""
    gap = part.box.x0 - base.box.x1
    return (
        base.kind == "letter"
        and part.size < _SMALLER * base.size
        and -0.1 * base.size < gap < 0.15 * base.size
        and 0.05 * base.size < part.y - base.y < 0.4 * base.size
    )


def _reduce_bar(
    parts: list[PlacedPart], rule: Rule, later: Sequence[Rule], doubts: Doubts
) -> list[PlacedPart]:
    above = _find_stack(parts, rule, later, up=True)
    below = _find_stack(parts, rule, later, up=False)
    if above and below:
        over, under = doubts.build(above), doubts.build(below)
        size = max(over.size, under.size)
        node, y = Fraction(over.node, under.node), rule.y + AXIS * size
        whole = join([over, under], node, over, kind="letter", axis=rule.y, y=y, size=size)
        return [*without(parts, [*above, *below]), _add_rule(whole, rule)]
    body, command = (below, "\\overline") if below else (above, "\\underline")
    if not body:
        doubts.add("a rule could not be placed in the formula")
        return parts
    em = max(part.size for part in body)
    edge = min(p.box.y0 for p in body) if below else max(p.box.y1 for p in body)
    is_far = abs(edge - rule.y) > (_LINE_GAP if below else _UNDERLINE_GAP) * em
    inside = doubts.build(body)
    if is_far or all(p.kind in _NO_OPERANDS for p in body):
        doubts.add("a fraction has nothing on one side of its bar")
    line = join([inside], Accent(command, inside.node), inside, kind="letter")
    return [*without(parts, body), _add_rule(line, rule)]


def _add_rule(part: PlacedPart, rule: Rule) -> PlacedPart:
    """Return a fraction, or a part with a line over or under it, with its rule."""
    box = part.box
    if isinstance(part.node, Fraction):
        box = box._replace(x0=min(rule.x0, box.x0), x1=max(rule.x1, box.x1))
    else:
        box = box._replace(y0=min(box.y0, rule.y), y1=max(box.y1, rule.y))
    return replace(part, marks=part.marks | rule.marks, box=box)


def _find_stack(
    parts: Sequence[PlacedPart], rule: Rule, later: Sequence[Rule], *, up: bool
) -> list[PlacedPart]:
    """Return the parts on one side of a bar, row by row while the next row is close."""
    limit = _find_limit(rule, later, up=up)
    low, high = (limit, rule.y) if up else (rule.y, limit)
    column = []
    for part in parts:
        box = part.box
        if (
            rule.x0 - _SIDE * part.size < part.x < _find_end(part, rule, _SIDE)
            and box.x0 > rule.x0 - 0.5 * part.size
            and box.x1 < rule.x1 + 0.5 * part.size
            and low < box.centre[1] < high
            and not _crosses(part, rule)
        ):
            # Distances of the near and the far edge from the bar.
            edges = (rule.y - box.y1, rule.y - box.y0) if up else (box.y0 - rule.y, box.y1 - rule.y)
            column.append((*edges, part))
    stack: list[PlacedPart] = []
    reach = 0.0
    for near, far, part in sorted(column, key=lambda entry: entry[0]):
        if near - reach > (_find_gap(part, stack) if stack else _FIRST_GAP) * part.size:
            break
        stack.append(part)
        reach = max(reach, far)
    return stack


def _crosses(part: PlacedPart, rule: Rule) -> bool:
    """Return whether a part is next to a bar: a bracket taller than it, or a sign level with it."""
    em = 0.15 * part.size
    passes = part.box.y0 < rule.y - em and part.box.y1 > rule.y + em
    is_level = abs(part.box.centre[1] - rule.y) < em
    is_outside = part.x < rule.x0 + em or part.x > rule.x1 - em
    return (passes and _is_bracket(part)) or ((passes or is_level) and is_outside)


def _find_gap(part: PlacedPart, stack: Sequence[PlacedPart]) -> float:
    """Return the maximum gap between a part and those before it in a stack, in ems.

    A part may begin another line of full size, as the row above a numerator does.
    """
    full = [p for p in stack if p.size > _SMALLER * part.size and p.kind != "large"]
    if not full or any(abs(p.middle - part.middle) <= 0.6 * part.size for p in full):
        return _GAP
    return _SCRIPT_GAP if part.size < _SMALLER * max(p.size for p in stack) else 0.0


def _find_limit(rule: Rule, later: Sequence[Rule], *, up: bool) -> float:
    """Return the height of the nearest wider bar on one side, the limit of a numerator."""
    covers = [
        other.y
        for other in later
        if (other.sign.box.x0 if other.sign else other.x0) < rule.x1
        and other.x1 > rule.x0
        and (other.y < rule.y if up else other.y > rule.y)
    ]
    return max(covers, default=-inf) if up else min(covers, default=inf)
