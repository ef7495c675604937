"""Accents over letters, wide accents over several letters, and braces with their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from omibench.stages.ocr.formulas.tree.nodes import Accent, Sign
from omibench.stages.ocr.formulas.tree.parts import Doubts, PlacedPart, bounds, join, without

_WIDE = {
    "\\hat": "\\widehat",
    "\\tilde": "\\widetilde",
    "\\bar": "\\overline",
    "\\vec": "\\overrightarrow",
    "\\to": "\\overrightarrow",
    "\\longrightarrow": "\\overrightarrow",
    "\\rightarrow": "\\overrightarrow",
    "\\leftarrow": "\\overleftarrow",
    "\\longleftarrow": "\\overleftarrow",
    "\\longleftrightarrow": "\\overleftrightarrow",
    "\\leftrightarrow": "\\overleftrightarrow",
}
_SIGNS = {"\\sim": "\\tilde", "-": "\\bar"}
"""Signs that some programs set over a letter as an accent."""
_BELOW = {"\\underbrace", "\\underline", "\\underbracket", "\\undergroup"}
_BRACES = {"\\underbrace", "\\overbrace", "\\underbracket", "\\overbracket"}
_NEAR = 0.5
"""Maximum gap between a letter and its accent, in ems."""
_ARROW_NEAR = 0.35


def place_accents(parts: Sequence[PlacedPart], doubts: Doubts) -> list[PlacedPart]:
    """Place every accent over its body, the innermost first."""
    rest = list(parts)
    accents = [p for p in parts if p.kind == "accent" or p.latex in _WIDE or p.latex in _SIGNS]
    accents.sort(key=lambda p: (p.box.width, -p.box.y1))
    for accent in accents:
        body = _body(accent, without(rest, [accent]))
        if not body:
            if accent.kind == "accent":
                doubts.add("an accent is not over a letter")
            continue
        inside = doubts.build(body)
        command = _command(accent, body)
        node = Accent(command, inside.node)
        placed = join([accent, inside], node, inside, kind=inside.kind)
        if len(body) > 1 or inside.kind not in {"letter", "digit"}:
            placed = replace(placed, kind="letter")
        rest = [*without(rest, [accent, *body]), placed]
    return rest


def _command(accent: PlacedPart, body: Sequence[PlacedPart]) -> str:
    if accent.latex in _SIGNS:
        return _SIGNS[accent.latex]
    is_wide = len(body) > 1 or accent.box.width > 1.6 * max(body[0].box.width, 0.3 * accent.size)
    latex = accent.latex
    if latex in {"\\widehat", "\\widetilde", *_BRACES} or latex.startswith(("\\over", "\\under")):
        return latex
    if accent.kind == "arrow" or (is_wide and len(body) > 1):
        return _WIDE.get(latex, latex)
    return latex


def _body(accent: PlacedPart, parts: Sequence[PlacedPart]) -> list[PlacedPart]:
    """Return the body of an accent: one letter, or everything under its width."""
    is_below = accent.latex in _BELOW
    em = accent.size
    under = _beside(accent, parts, is_below=is_below)
    reach = 0.12 * em
    beneath = [p for p in under if p.box.x0 - reach < accent.x < p.box.x1 + reach]
    if not beneath:
        return []
    base = min(
        beneath, key=lambda p: (abs(_distance(accent, p, is_below=is_below)), abs(p.x - accent.x))
    )
    if accent.latex in _SIGNS:
        return [base] if _is_sign_of(accent, base) else []
    if accent.kind == "arrow":
        span = _span(accent, base, parts, is_below=is_below)
        return span if _is_overarrow(accent, base, span) else []
    covered = [p for p in under if accent.box.x0 + 0.02 * em < p.x < accent.box.x1 - 0.02 * em]
    is_narrow = accent.box.width <= max(1.35 * base.box.width, 0.75 * em)
    if accent.latex not in _BRACES and is_narrow and len(covered) < 2:
        return [base]
    return _span(accent, base, parts, is_below=is_below) or [base]


def _beside(accent: PlacedPart, parts: Sequence[PlacedPart], *, is_below: bool) -> list[PlacedPart]:
    """Return the parts close to an accent, on the side of its body."""
    em = accent.size
    near = _ARROW_NEAR if accent.kind == "arrow" else _NEAR
    return [
        part
        for part in parts
        if part.kind not in {"accent", "space"}
        and _distance(accent, part, is_below=is_below) < near * max(part.size, em)
        and (is_below or part.box.y0 > accent.box.y0 - 0.1 * em)
        and part.box.x0 - 0.12 * em < accent.box.x1
        and accent.box.x0 < part.box.x1 + 0.12 * em
        and not (accent.kind != "accent" and _same_row(accent, part))
    ]


def _span(
    accent: PlacedPart, base: PlacedPart, parts: Sequence[PlacedPart], *, is_below: bool
) -> list[PlacedPart]:
    """Return all parts within the width of a wide accent, on the row of its base."""
    em = accent.size
    return [
        part
        for part in parts
        if part.kind != "accent"
        and accent.box.x0 - 0.15 * em < part.x < accent.box.x1 + 0.15 * em
        and part.box.gap_y(base.box) < 0.1 * em
        and (is_below or part.box.y0 > accent.box.y1 - 0.15 * em)
        and (not is_below or part.box.y1 < accent.box.y0 + 0.15 * em)
    ]


def _is_overarrow(accent: PlacedPart, base: PlacedPart, span: Sequence[PlacedPart]) -> bool:
    """Return whether an arrow is as wide as the parts below it, and all of them are letters."""
    if base.kind == "arrow" or not span:
        return False
    reach, most = bounds(span), 0.35 * accent.size
    fits = abs(reach.x0 - accent.box.x0) < most and abs(reach.x1 - accent.box.x1) < most
    return fits and all(part.kind in {"letter", "digit"} for part in span)


def _is_sign_of(accent: PlacedPart, base: PlacedPart) -> bool:
    """Return whether a sign is close over one letter and no wider; else it is an exponent's."""
    is_letter = base.kind == "letter" and isinstance(base.node, Sign)
    near = base.box.y0 - accent.box.y1 < 0.2 * base.size
    centred = abs(accent.x - base.x) < 0.25 * base.box.width + 0.05 * base.size
    return is_letter and near and centred and accent.box.width < 1.3 * base.box.width


def _same_row(accent: PlacedPart, part: PlacedPart) -> bool:
    return abs(accent.y - part.y) < 0.2 * part.size


def _distance(accent: PlacedPart, part: PlacedPart, *, is_below: bool) -> float:
    """Return the vertical gap between an accent and a part; infinite in the wrong order."""
    space = accent.box.y0 - part.box.y1 if is_below else part.box.y0 - accent.box.y1
    return space if space > -0.35 * part.size else float("inf")


def is_brace(part: PlacedPart) -> bool:
    """Return whether a part is a body under or over a horizontal brace, which can have a label."""
    return isinstance(part.node, Accent) and part.node.command in _BRACES
