"""Brackets, roots, braces and long arrows that fonts assemble from several glyphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from omibench.stages.ocr.formulas.marks import Kind
from omibench.stages.ocr.formulas.tree.nodes import Sign
from omibench.stages.ocr.formulas.tree.parts import PlacedPart, Rule, bounds, join, without

_TOUCH = 0.2
"""Maximum gap between two pieces of one bracket, in ems."""
_SHAFT = 0.1
"""Maximum height of a piece of an arrow's shaft, in ems; a head has .2."""
_SIDES: dict[str, Kind] = {
    "(": "open",
    "[": "open",
    "\\{": "open",
    "\\lfloor": "open",
    "\\lceil": "open",
    ")": "close",
    "]": "close",
    "\\}": "close",
    "\\rfloor": "close",
    "\\rceil": "close",
    "|": "punctuation",
    "\\|": "punctuation",
    "\\sqrt": "root",
    "\\int": "large",
    "\\uparrow": "arrow",
}
_NAMELESS = {"", "\\square"}
"""Names of pieces without a Unicode name."""
_ACROSS = {
    "\\overbrace",
    "\\underbrace",
    "\\overbracket",
    "\\underbracket",
    "\\vec",
    "\\overleftarrow",
    "\\overline",
    "\\underline",
}


def join_pieces(
    parts: Sequence[PlacedPart], rules: Sequence[Rule]
) -> tuple[list[PlacedPart], list[Rule]]:
    """Combine the pieces of each bracket, root sign and brace.

    Returns:
        The parts, and the rules that are not pieces of a brace.
    """
    rest = list(parts)
    for stack in _stacks([part for part in parts if _may_stack(part)]):
        if len(stack) > 1 and _is_whole(stack):
            rest = [*without(rest, stack), _bracket(stack)]
    free = list(rules)
    across = [part for part in rest if part.latex in _ACROSS or part.kind == "unknown"]
    for group in _groups_across(across, free):
        box = bounds(group)
        fill = [r for r in free if box.y0 <= r.y <= box.y1 and box.x0 <= r.x0 and r.x1 <= box.x1]
        free = [rule for rule in free if all(rule is not piece for piece in fill)]
        brace = _brace(group)
        marks = brace.marks.union(*(rule.marks for rule in fill))
        rest = [*without(rest, group), replace(brace, marks=marks)]
    return [_alone(part) for part in rest], free


def _may_stack(part: PlacedPart) -> bool:
    return part.kind in {"piece", "unknown", "open", "close", "root"} or part.latex in {"|", "\\|"}


def _stacks(parts: Sequence[PlacedPart]) -> list[list[PlacedPart]]:
    """Return stacked parts without a gap, from the top."""
    stacks: list[list[PlacedPart]] = []
    for part in sorted(parts, key=lambda p: (p.box.y0, p.box.x0)):
        for stack in reversed(stacks[-40:]):
            last = stack[-1]
            gap = part.box.y0 - last.box.y1
            shared = min(part.box.x1, last.box.x1) - max(part.box.x0, last.box.x0)
            near = -0.8 * min(part.box.height, last.box.height) < gap < _TOUCH * part.size
            same = {part.latex, last.latex} - _NAMELESS
            fits = len(same) < 2 or {part.kind, last.kind} == {"piece", "open"}
            if near and shared > 0 and fits and _is_stackable(last, part):
                stack.append(part)
                break
        else:
            stacks.append([part])
    return stacks


def _is_whole(stack: Sequence[PlacedPart]) -> bool:
    """Return whether stacked parts are pieces; at least one of them has a name."""
    kinds = {part.kind for part in stack}
    is_named = any(part.latex in _SIDES for part in stack)
    return is_named and bool(kinds & {"piece", "root", "punctuation", "unknown"})


def _is_stackable(upper: PlacedPart, lower: PlacedPart) -> bool:
    """Return whether two parts can be stacked pieces: two whole brackets cannot."""
    whole = {"open", "close"}
    return not (upper.kind in whole and lower.kind in whole)


def _bracket(stack: Sequence[PlacedPart]) -> PlacedPart:
    names = [part.latex for part in stack if part.latex in _SIDES]
    right = [name for name in names if _SIDES[name] == "close"]
    name = (right or names or [""])[0]
    if not name:
        return join(stack, Sign("\\square", "unknown"), stack[0], kind="unknown")
    kind = _SIDES[name]
    joined = join(stack, Sign(name, kind), stack[0], kind=kind)
    return replace(joined, axis=joined.box.centre[1])


def _groups_across(parts: Sequence[PlacedPart], rules: Sequence[Rule]) -> list[list[PlacedPart]]:
    """Return accents that continue each other at one height, connected by rules at most."""
    groups: list[list[PlacedPart]] = []
    for part in sorted(parts, key=lambda p: p.box.x0):
        for group in reversed(groups[-20:]):
            last = max(group, key=lambda p: p.box.x1)
            level = part.box.gap_y(last.box) < 0.05 * part.size
            if level and _reach(last, rules) > part.box.x0 - _TOUCH * part.size:
                group.append(part)
                break
        else:
            groups.append([part])
    return [g for g in groups if len(g) > 1 and any(part.latex in _ACROSS for part in g)]


def _reach(piece: PlacedPart, rules: Sequence[Rule]) -> float:
    """Return the right end of a piece, or of the rule that continues it."""
    box = piece.box
    ends = [r.x1 for r in rules if box.y0 <= r.y <= box.y1 and box.x0 <= r.x0 <= box.x1 + 1]
    return max([box.x1, *ends])


def _brace(group: Sequence[PlacedPart]) -> PlacedPart:
    """Return the brace of these pieces; the leftmost one decides its direction."""
    named = [part for part in group if not _is_shaft(part)] or group
    first, last = min(named, key=lambda p: p.box.x0), max(named, key=lambda p: p.box.x1)
    names = {part.latex for part in named}
    braces = names & {"\\overbrace", "\\underbrace"}
    name = first.latex if first.latex in braces or not braces else min(braces)
    if "\\vec" in names:
        name = "\\overleftrightarrow" if first.latex == "\\overleftarrow" else "\\overrightarrow"
        if last.latex == "\\overleftarrow" or names == {"\\overleftarrow"}:
            name = "\\overleftarrow"
    return join(group, Sign(name, "accent"), first, kind="accent")


def _is_shaft(part: PlacedPart) -> bool:
    """Return whether a part named like an arrow is a piece of its shaft, as in XITS."""
    return part.latex == "\\overleftarrow" and part.box.height < _SHAFT * part.size


def _alone(part: PlacedPart) -> PlacedPart:
    """Return a single piece as a whole sign, such as a bar; other parts are unchanged."""
    if part.kind != "piece" or part.latex not in _SIDES:
        return part
    kind = _SIDES[part.latex]
    return replace(part, kind=kind, node=Sign(part.latex, kind), axis=part.box.centre[1])
