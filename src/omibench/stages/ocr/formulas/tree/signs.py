"""Brackets, roots, braces and long arrows that fonts assemble from several glyphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from omibench.stages.ocr.formulas.marks import Kind
from omibench.stages.ocr.formulas.tree.nodes import PlacedPart, Rule, Sign, bounds, join, without

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


# Symbols that consist of two or three overlapping or adjacent glyphs.

_LEVEL = 0.08
"""Maximum difference between the baselines of two glyphs of one symbol, in ems."""
_MODELS = ("|", "=")
_PAIRS: dict[tuple[str, str], tuple[str, Kind]] = {
    ("\\not", "="): ("\\neq", "relation"),
    ("\\not", "\\in"): ("\\notin", "relation"),
    ("/", "\\in"): ("\\notin", "relation"),
    ("\\in", "/"): ("\\notin", "relation"),
    ("\\mapstochar", "\\to"): ("\\mapsto", "arrow"),
    ("\\mapstochar", "\\longrightarrow"): ("\\longmapsto", "arrow"),
    ("\\mapsto", "\\to"): ("\\mapsto", "arrow"),
    ("\\lhook", "\\to"): ("\\hookrightarrow", "arrow"),
    ("\\hookleftarrow", "\\to"): ("\\hookrightarrow", "arrow"),
    ("\\leftarrow", "\\rhook"): ("\\hookleftarrow", "arrow"),
    ("-", "\\to"): ("\\longrightarrow", "arrow"),
    ("-", "\\longrightarrow"): ("\\longrightarrow", "arrow"),
    ("-", "-"): ("-", "operator"),
    ("\\leftarrow", "-"): ("\\longleftarrow", "arrow"),
    ("\\longleftarrow", "-"): ("\\longleftarrow", "arrow"),
    ("\\leftarrow", "\\to"): ("\\longleftrightarrow", "arrow"),
    ("=", "\\Rightarrow"): ("\\Longrightarrow", "arrow"),
    ("\\Leftarrow", "="): ("\\Longleftarrow", "arrow"),
    ("\\Leftarrow", "\\Rightarrow"): ("\\Longleftrightarrow", "arrow"),
    ("-", "\\rightharpoonup"): ("\\rightharpoonup", "arrow"),
    ("\\leftharpoondown", "-"): ("\\leftharpoondown", "arrow"),
    _MODELS: ("\\models", "relation"),
}
"""Meaning of two overlapping glyphs, the left one first."""
_STACKS: dict[tuple[str, str], tuple[str, Kind]] = {
    ("\\sim", "="): ("\\cong", "relation"),
    ("\\rightharpoonup", "\\leftharpoondown"): ("\\rightleftharpoons", "arrow"),
    ("\\leftharpoonup", "\\rightharpoondown"): ("\\leftrightharpoons", "arrow"),
    ("\\to", "\\leftarrow"): ("\\rightleftarrows", "arrow"),
    ("\\longrightarrow", "\\longleftarrow"): ("\\rightleftarrows", "arrow"),
}
"""Meaning of two stacked glyphs, the upper one first."""
_INTEGRALS = {
    ("\\int", "\\int"): "\\iint",
    ("\\iint", "\\int"): "\\iiint",
}
_DOTS = {".", "\\cdot"}
_NEAR_DOTS = 8
_MOST_PIECES = 8
"""Parts of one arrow."""


def join_overlays(parts: Sequence[PlacedPart]) -> list[PlacedPart]:
    """Combine each symbol of several glyphs: `\\neq`, `\\longrightarrow`, `\\cdots`."""
    rest = sorted(parts, key=lambda p: (p.box.x0, p.box.y0))
    is_paired = sum(part.latex == "|" for part in parts) % 2 == 0
    for _ in range(_MOST_PIECES):  # pieces are joined in pairs
        rest, changed = _join_pairs(rest, {_MODELS} if is_paired else set())
        if not changed:
            break
    return _join_dots(rest)


def _join_pairs(
    parts: Sequence[PlacedPart], excluded: set[tuple[str, str]]
) -> tuple[list[PlacedPart], bool]:
    taken: set[int] = set()
    joined: list[PlacedPart] = []
    for i, left in enumerate(parts):
        if id(left) in taken:
            continue
        for right in parts[i + 1 : i + 12]:
            if right.box.x0 > left.box.x1 + 0.3 * left.size:
                break
            if id(right) in taken or (left.latex, right.latex) in excluded:
                continue
            if (symbol := _symbol(left, right)) is None:
                continue
            latex, kind = symbol
            like = right if left.kind in {"accent", "piece"} else left
            if latex == "\\cong":
                like = max(left, right, key=lambda p: p.y)
            joined.append(join([left, right], Sign(latex, kind), like, kind=kind))
            taken |= {id(left), id(right)}
            break
    kept = [part for part in parts if id(part) not in taken]
    return sorted([*kept, *joined], key=lambda p: (p.box.x0, p.box.y0)), bool(joined)


def _symbol(left: PlacedPart, right: PlacedPart) -> tuple[str, Kind] | None:
    """Return the meaning of two parts together, if their places allow it."""
    size = max(left.size, right.size)
    shared = left.box.x1 - right.box.x0
    if left.kind == right.kind == "large":
        name = _INTEGRALS.get((left.latex, right.latex))
        is_close = shared > -0.12 * size and abs(left.middle - right.middle) < size / 5
        return (name, "large") if name and is_close else None
    if shared > 0 and (_is_stroked(left, right) or _is_stroked(right, left)):
        return "\\hbar", "letter"
    if abs(left.y - right.y) < _LEVEL * size and shared > -0.02 * size:
        return _overlay(left, right, shared / size)
    width = min(left.box.width, right.box.width)
    if shared > 0.8 * width and 0 < abs(left.y - right.y) < 0.6 * size:
        upper, lower = (left, right) if left.box.y0 < right.box.y0 else (right, left)
        return _STACKS.get((upper.latex, lower.latex))
    return None


def _overlay(left: PlacedPart, right: PlacedPart, shared: float) -> tuple[str, Kind] | None:
    """Return the meaning of two parts of one baseline that overlap by `shared` ems."""
    if right.latex in {"\\not", "\\mapstochar"} and shared > 0.05:
        left, right = right, left
    names = (left.latex, right.latex)
    if names == ("-", "-") and shared < 0.1:
        return None
    if _is_hbar(left, right) or _is_hbar(right, left):
        return "\\hbar", "letter"
    if left.latex == "\\not" and names not in _PAIRS and right.kind in {"relation", "arrow"}:
        return f"\\not{right.latex}", right.kind
    return _PAIRS.get(names)


def _is_hbar(stroke: PlacedPart, letter: PlacedPart) -> bool:
    """Match Computer Modern's `\\hbar`, whose stroke is a macron on the letter's baseline."""
    return letter.latex == "h" and stroke.latex == "\\bar"


def _is_stroked(stroke: PlacedPart, letter: PlacedPart) -> bool:
    """Match Euler's `\\hbar`, whose stroke comes from a text font."""
    return letter.latex == "h" and (stroke.latex, stroke.kind) == ("-", "piece")


def _join_dots(parts: Sequence[PlacedPart]) -> list[PlacedPart]:
    """Combine three dots at even distances into one symbol, in any direction."""
    dots = [part for part in parts if part.latex in _DOTS]
    rest = list(parts)
    while len(dots) >= 3:
        first, *others = dots
        run = _run_of_dots(first, others)
        dots = without(others, run)
        if len(run) == 3:
            rest = [*without(rest, run), _ellipsis(run)]
    return sorted(rest, key=lambda p: (p.box.x0, p.box.y0))


def _run_of_dots(first: PlacedPart, others: Sequence[PlacedPart]) -> list[PlacedPart]:
    near = others[:_NEAR_DOTS]
    for second in near:
        dx, dy = second.x - first.x, second.box.centre[1] - first.box.centre[1]
        if second.latex != first.latex or max(abs(dx), abs(dy)) > 0.75 * first.size:
            continue
        for third in near:
            if third is second or third.latex != first.latex:
                continue
            ex, ey = third.x - second.x, third.box.centre[1] - second.box.centre[1]
            if abs(ex - dx) + abs(ey - dy) < 0.12 * first.size:
                return [first, second, third]
    return []


def _ellipsis(run: Sequence[PlacedPart]) -> PlacedPart:
    first, second, _ = run
    is_level = abs(first.y - second.y) < 0.05 * first.size
    if is_level:
        latex = "\\ldots" if first.latex == "." else "\\cdots"
    else:
        latex = "\\vdots" if abs(first.x - second.x) < 0.05 * first.size else "\\ddots"
    kind: Kind = "letter"
    joined = join(run, Sign(latex, kind), first, kind=kind)
    if is_level:
        return joined
    return join(run, Sign(latex, kind), first, kind=kind, axis=joined.box.centre[1])
