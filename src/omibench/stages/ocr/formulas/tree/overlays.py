"""Symbols that consist of two or three overlapping or adjacent glyphs."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.stages.ocr.formulas.marks import Kind
from omibench.stages.ocr.formulas.tree.nodes import Sign
from omibench.stages.ocr.formulas.tree.parts import PlacedPart, join, without

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
