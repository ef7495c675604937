"""Brackets, roots, braces and long arrows that fonts assemble from several glyphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

from glyphtex.marks import Kind
from glyphtex.tree.nodes import PlacedPart, Rule, Sign, bounds, join, without

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
_STACKED = {"piece", "unknown", "open", "close", "root"}
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
    for stack in _find_stacks(parts):
        kinds = {part.kind for part in stack}
        names = [part.latex for part in stack if part.latex in _SIDES]
        if len(stack) > 1 and names and kinds & {"piece", "root", "punctuation", "unknown"}:
            name = next((name for name in names if _SIDES[name] == "close"), names[0])
            rest = [*without(rest, stack), _as_whole(join(stack, stack[0].node, stack[0]), name)]
    free = list(rules)
    for group in _find_groups([p for p in rest if p.latex in _ACROSS or p.kind == "unknown"], free):
        box = bounds(group)
        fill = [r for r in free if box.y0 <= r.y <= box.y1 and box.x0 <= r.x0 and r.x1 <= box.x1]
        free = without(free, fill)
        brace = _join_brace(group)
        marks = brace.marks.union(*(rule.marks for rule in fill))
        rest = [*without(rest, group), replace(brace, marks=marks)]
    # A single piece is a whole sign, such as a bar.
    whole = [
        _as_whole(part, part.latex) if part.kind == "piece" and part.latex in _SIDES else part
        for part in rest
    ]
    return whole, free


def _as_whole(part: PlacedPart, name: str) -> PlacedPart:
    """Return a part as a bracket, a bar, a root sign or an integral."""
    kind = _SIDES[name]
    return replace(part, kind=kind, node=Sign(name, kind), axis=part.box.centre[1])


def _find_stacks(parts: Sequence[PlacedPart]) -> list[list[PlacedPart]]:
    """Return stacked parts without a gap, from the top."""
    stacks: list[list[PlacedPart]] = []
    for part in sorted(parts, key=lambda p: (p.box.y0, p.box.x0)):
        if part.kind not in _STACKED and part.latex not in {"|", "\\|"}:
            continue
        for stack in reversed(stacks[-40:]):
            last = stack[-1]
            gap = part.box.y0 - last.box.y1
            near = -0.8 * min(part.box.height, last.box.height) < gap < _TOUCH * part.size
            kinds = {part.kind, last.kind}
            is_one = len({part.latex, last.latex} - _NAMELESS) < 2 or kinds == {"piece", "open"}
            is_piece = not kinds <= {"open", "close"}  # two whole brackets cannot be stacked
            if near and is_one and is_piece and part.box.gap_x(last.box) < 0:
                stack.append(part)
                break
        else:
            stacks.append([part])
    return stacks


def _find_groups(parts: Sequence[PlacedPart], rules: Sequence[Rule]) -> list[list[PlacedPart]]:
    """Return accents that continue each other at one height, connected by rules at most."""
    groups: list[list[PlacedPart]] = []
    for part in sorted(parts, key=lambda p: p.box.x0):
        for group in reversed(groups[-20:]):
            box = max(group, key=lambda p: p.box.x1).box
            # A rule may continue a piece.
            ends = (r.x1 for r in rules if box.y0 <= r.y <= box.y1 and box.x0 <= r.x0 <= box.x1 + 1)
            is_level = part.box.gap_y(box) < 0.05 * part.size
            if is_level and max([box.x1, *ends]) > part.box.x0 - _TOUCH * part.size:
                group.append(part)
                break
        else:
            groups.append([part])
    return [g for g in groups if len(g) > 1 and any(part.latex in _ACROSS for part in g)]


def _join_brace(group: Sequence[PlacedPart]) -> PlacedPart:
    """Join the pieces of a brace or an arrow; the leftmost one decides its direction."""

    def is_shaft(part: PlacedPart) -> bool:  # named like an arrow, as in XITS
        return part.latex == "\\overleftarrow" and part.box.height < _SHAFT * part.size

    named = [part for part in group if not is_shaft(part)] or group
    first, last = min(named, key=lambda p: p.box.x0), max(named, key=lambda p: p.box.x1)
    names = {part.latex for part in named}
    braces = names & {"\\overbrace", "\\underbrace"}
    name = first.latex if first.latex in braces or not braces else min(braces)
    if "\\vec" in names:
        name = "\\overrightarrow"
        if last.latex == "\\overleftarrow":
            name = last.latex
        elif first.latex == "\\overleftarrow":
            name = "\\overleftrightarrow"
    return join(group, Sign(name, "accent"), first, kind="accent")


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
    rest = sorted(parts, key=_find_place)
    # Two bars and a sign between them are an absolute value.
    is_paired = sum(part.latex == "|" for part in parts) % 2 == 0
    for _ in range(_MOST_PIECES):  # pieces are joined in pairs
        joined = _join_pairs(rest, {_MODELS} if is_paired else set())
        if len(joined) == len(rest):
            break
        rest = joined
    return _join_dots(rest)


def _find_place(part: PlacedPart) -> tuple[float, float]:
    return part.box.x0, part.box.y0


def _join_pairs(parts: Sequence[PlacedPart], excluded: set[tuple[str, str]]) -> list[PlacedPart]:
    joined: list[PlacedPart] = []
    taken: set[int] = set()
    for i, left in enumerate(parts):
        for right in parts[i + 1 : i + 12]:
            if right.box.x0 > left.box.x1 + 0.3 * left.size:
                break
            pair = [left, right]
            ids = {id(left), id(right)}
            if not ids.isdisjoint(taken) or (left.latex, right.latex) in excluded:
                continue
            if (symbol := _find_symbol(left, right)) is None:
                continue
            latex, kind = symbol
            like = right if left.kind in {"accent", "piece"} else left
            if latex == "\\cong":
                like = max(pair, key=lambda p: p.y)
            joined.append(join(pair, Sign(latex, kind), like, kind=kind))
            taken |= ids
            break
    return sorted([*(p for p in parts if id(p) not in taken), *joined], key=_find_place)


def _find_symbol(  # noqa: PLR0911 (fonts set symbols in many ways)
    left: PlacedPart, right: PlacedPart
) -> tuple[str, Kind] | None:
    """Return the meaning of two parts together, if their places allow it."""
    size = max(left.size, right.size)
    shared = left.box.x1 - right.box.x0
    names = (left.latex, right.latex)
    if left.kind == right.kind == "large":
        name = _INTEGRALS.get(names)
        is_close = shared > -0.12 * size and abs(left.middle - right.middle) < size / 5
        return (name, "large") if name and is_close else None
    off = abs(left.y - right.y)
    if off < _LEVEL * size and shared > -0.02 * size:
        if names == ("-", "-") and shared / size < 0.1:
            return None
        # The stroke of Computer Modern's `\\hbar` is a macron on the letter's baseline.
        if set(names) == {"\\bar", "h"}:
            return "\\hbar", "letter"
        if right.latex in {"\\not", "\\mapstochar"} and shared / size > 0.05:
            left, right, names = right, left, names[::-1]
        if left.latex == "\\not" and names not in _PAIRS and right.kind in {"relation", "arrow"}:
            return f"\\not{right.latex}", right.kind
        return _PAIRS.get(names)
    if shared > 0.8 * min(left.box.width, right.box.width) and 0 < off < 0.6 * size:
        return _STACKS.get(names if left.box.y0 < right.box.y0 else names[::-1])
    return None


def _join_dots(parts: Sequence[PlacedPart]) -> list[PlacedPart]:
    """Combine three dots at even distances into one symbol, in any direction."""
    dots = [part for part in parts if part.latex in _DOTS]
    rest = list(parts)
    while len(dots) >= 3:
        first, *others = dots
        run = _find_dots(first, others)
        dots = without(others, run)
        if not run:
            continue
        second = run[1]
        slip = 0.05 * first.size
        if abs(first.y - second.y) < slip:
            latex, axis = "\\ldots" if first.latex == "." else "\\cdots", first.axis
        else:
            latex = "\\vdots" if abs(first.x - second.x) < slip else "\\ddots"
            axis = bounds(run).centre[1]
        dotted = join(run, Sign(latex, "letter"), first, kind="letter", axis=axis)
        rest = [*without(rest, run), dotted]
    return sorted(rest, key=_find_place)


def _find_dots(first: PlacedPart, others: Sequence[PlacedPart]) -> list[PlacedPart]:
    near = [part for part in others[:_NEAR_DOTS] if part.latex == first.latex]
    for second, third in permutations(near, 2):
        dx, dy = second.x - first.x, second.box.centre[1] - first.box.centre[1]
        ex, ey = third.x - second.x, third.box.centre[1] - second.box.centre[1]
        is_even = abs(ex - dx) + abs(ey - dy) < 0.12 * first.size
        if is_even and max(abs(dx), abs(dy)) <= 0.75 * first.size:
            return [first, second, third]
    return []
