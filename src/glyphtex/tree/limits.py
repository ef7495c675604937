"""Parts over and under others: accents and braces, limits."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from glyphtex.tree.nodes import Accent, LimitsNode, Node, Sign, Words
from glyphtex.tree.parts import (
    Doubts,
    Field,
    Neighbours,
    Part,
    bounds,
    join,
    split_at_gaps,
    without,
)
from glyphtex.units import is_math_font, is_math_letter

# Accents over letters, wide accents over several letters, and braces.

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
"""Commands of arrows over letters, and of accents over several letters."""
_SIGNS = {"\\sim": "\\tilde", "-": "\\bar"}
"""Signs that some programs set over a letter as an accent."""
_BELOW = {"\\underbrace", "\\underline", "\\underbracket", "\\undergroup"}
_BRACES = {"\\underbrace", "\\overbrace", "\\underbracket", "\\overbracket"}
_NEAR = 0.5
"""Maximum gap between a letter and its accent, in ems."""
_ARROW_NEAR = 0.35


_REACH = 4.0
"""Maximum height of the body of a brace or a wide accent, in ems."""


def place_accents(field: Field, *, is_page: bool) -> None:
    """Place every accent over its body, the innermost first.

    Args:
        field: Parts of a page or of a formula.
        is_page: Whether accents can also be those of words.
    """
    accents = [
        p for p in field.parts if p.kind == "accent" or p.latex in _WIDE or p.latex in _SIGNS
    ]
    for accent in sorted(accents, key=lambda p: (p.box.width, -p.box.y1)):
        body = _find_body(accent, field)
        if is_page and not _is_mathematics(accent, body):
            continue
        if not body:
            if accent.kind == "accent":
                field.doubts.add("an accent is not over a letter")
            continue
        inside = field.doubts.build(body)
        command = _SIGNS.get(accent.latex, accent.latex)
        if accent.kind == "arrow" or len(body) > 1:
            command = _WIDE.get(command, command)
        kind = inside.kind if len(body) == 1 and inside.kind == "digit" else "letter"
        box = bounds([*body, accent])
        if len(body) == 1:  # TeX gives the arrow of a vector no width, or that of a space
            box = box._replace(x0=inside.box.x0, x1=inside.box.x1)
        node = Accent(command, inside.node)
        placed = join([*body, accent], node, inside, kind=kind, box=box)
        field.replace([accent, *body], placed)


def _is_mathematics(accent: Part, body: Sequence[Part]) -> bool:
    """Return whether an accent of a page is over mathematics rather than over a word."""
    letters = [is_math_letter(glyph) for part in body for glyph in part.glyphs]
    if accent.kind != "accent":
        return bool(letters) and all(letters)
    return any(letters) or (bool(body) and is_math_font(accent.glyphs[0].font))


def _find_body(accent: Part, field: Field) -> list[Part]:
    """Return the body of an accent: one letter, or everything under its width."""
    box, em, is_below = accent.box, accent.size, accent.latex in _BELOW
    near = _ARROW_NEAR if accent.kind == "arrow" else _NEAR
    reach = 1.5 if accent.latex in _SIGNS or box.width < em else _REACH
    parts = without(field.centred_in(box.grow(1.5 * em, reach * em)), [accent])

    def gap(part: Part) -> float:
        space = box.y0 - part.box.y1 if is_below else part.box.y0 - box.y1
        return space if space > -0.35 * part.size else inf

    under = [
        part
        for part in parts
        if part.kind != "accent"
        and gap(part) < near * max(part.size, em)
        and (is_below or part.box.y0 > box.y0 - 0.1 * em)
        and part.box.x0 - 0.12 * em < box.x1
        and box.x0 < part.box.x1 + 0.12 * em
        and (accent.kind == "accent" or abs(accent.y - part.y) >= 0.2 * part.size)
    ]
    reach = 0.12 * em
    beneath = [p for p in under if p.box.x0 - reach < accent.x < p.box.x1 + reach]
    if not beneath:
        return []
    base = min(beneath, key=lambda p: (abs(gap(p)), abs(p.x - accent.x)))
    if accent.latex in _SIGNS:
        return [base] if _is_sign_of(accent, base) else []
    span = [
        part
        for part in parts
        if part.kind != "accent"
        and box.x0 - 0.15 * em
        < part.x
        < box.x1 + (0.0 if part.kind == "punctuation" else 0.15 * em)
        and part.box.gap_y(base.box) < 0.1 * em
        and (part.box.y1 < box.y0 + 0.15 * em if is_below else part.box.y0 > box.y1 - 0.15 * em)
    ]
    if accent.kind == "arrow":
        return span if base.kind != "arrow" and _is_as_wide(accent, span) else []
    covered = [p for p in under if box.x0 + 0.02 * em < p.x < box.x1 - 0.02 * em]
    is_single = box.width <= max(1.35 * base.box.width, 0.75 * em)
    if accent.latex not in _BRACES and is_single and len(covered) < 2:
        return [base]
    return span or [base]


def _is_as_wide(arrow: Part, span: Sequence[Part]) -> bool:
    """Return whether an arrow is as wide as the parts below it, and all of them are letters."""
    if not span:
        return False
    reach, most = bounds(span), 0.35 * arrow.size
    fits = abs(reach.x0 - arrow.box.x0) < most and abs(reach.x1 - arrow.box.x1) < most
    return fits and all(part.kind in {"letter", "digit"} for part in span)


def _is_sign_of(accent: Part, base: Part) -> bool:
    """Return whether a sign is close over one letter and no wider; else it is an exponent's."""
    is_letter = base.kind == "letter" and isinstance(base.node, Sign)
    near = base.box.y0 - accent.box.y1 < 0.2 * base.size
    centred = abs(accent.x - base.x) < 0.25 * base.box.width + 0.05 * base.size
    return is_letter and near and centred and accent.box.width < 1.3 * base.box.width


# Limits below and above sums, limit operators, arrows and braces.

_NEAR_LIMITS = 0.55
"""Maximum gap between an operator and its limits, in ems."""
_WORD_GAP = 0.45
"""Maximum gap between two parts of one limit, in ems."""
_OPERATORS = frozenset({"lim", "max", "min", "sup", "inf", "limsup", "liminf", "argmax", "argmin"})
_TAKING_LIMITS = _OPERATORS | {"det", "gcd", "Pr"}
_INITIALS = frozenset(word[0] for word in _OPERATORS)
_OF_SUMS, _OF_WORDS = 0.82, 0.85
"""Maximum size of limits as a share of the operator's, which TeX sets in 10 points for 11."""
_LONGEST = 8
_LETTER_GAP = 0.15
"""Maximum gap between two letters of an operator, in type sizes."""


def join_limits(field: Field, words: Neighbours) -> None:
    """Join sums, braces and operators such as `lim` with the limits above and below them.

    Args:
        field: Parts of a page or of a formula.
        words: The next letter of each.
    """
    for base in [p for p in field.parts if p.kind == "large" or _is_brace(p)]:
        _join(field, [base], base, _OF_SUMS)
    for first in [p for p in field.parts if p.text in _INITIALS]:
        word = _read_word(first, words) if first in field.parts else []
        if word:
            letters = join(word, Words("".join(p.text for p in word), "operator"), first)
            _join(field, word, letters, _OF_WORDS)


def _join(field: Field, parts: Sequence[Part], base: Part, smaller: float) -> None:
    """Join an operator, which consists of some parts of the field, with its limits."""
    around = field.centred_in(base.box.grow(4 * base.size, 2.5 * base.size))
    found = _add_limits(base, without(around, parts), smaller * base.size, field.doubts)
    if found:
        whole, limits = found
        field.replace([*parts, *limits], whole)


def _read_word(first: Part, words: Neighbours) -> list[Part]:
    """Return the letters of an operator that takes limits and begins with this letter."""

    def touch(a: Part, b: Part) -> bool:
        return (a.text + b.text).isalpha() and b.box.x0 - a.box.x1 < _LETTER_GAP * a.size

    before = words.left.get(first)
    if before and touch(before, first):
        return []
    word = [first]
    while len(word) < _LONGEST and (after := words.right.get(word[-1])) and touch(word[-1], after):
        word.append(after)
    return word if "".join(p.text for p in word) in _OPERATORS else []


def place_limits(parts: Sequence[Part], doubts: Doubts) -> list[Part]:
    """Attach the parts centred below and above every operator of a row."""
    rest = list(parts)
    for base in parts:
        node = base.node
        if isinstance(node, Words):
            if node.text not in _TAKING_LIMITS:
                continue
        elif not _is_brace(base) and base.kind not in {"large", "arrow", "relation"}:
            continue
        most = (0.95 if base.kind == "large" or _is_brace(base) else 0.88) * base.size
        found = _add_limits(base, without(rest, [base]), most, doubts)
        if found:
            whole, limits = found
            rest = [*without(rest, [base, *limits]), whole]
    return rest


def _is_brace(part: Part) -> bool:
    return isinstance(part.node, Accent) and part.node.command in _BRACES


def _add_limits(
    base: Part, parts: Sequence[Part], most: float, doubts: Doubts
) -> tuple[Part, list[Part]] | None:
    """Return an operator with its limits, and these; None if it has none."""
    below = _find_limit(base, parts, most, up=False)
    above = _find_limit(base, without(parts, below), most, up=True)
    if not (below or above):
        return None
    node = LimitsNode(base.node, build_side(below, doubts), build_side(above, doubts))
    return join([base, *below, *above], node, base), [*below, *above]


def build_side(parts: Sequence[Part], doubts: Doubts) -> Node | None:
    return doubts.build(parts).node if parts else None


def _find_limit(base: Part, parts: Sequence[Part], most: float, *, up: bool) -> list[Part]:
    """Return a run of smaller parts on one side of an operator, centred on it.

    Args:
        base: The operator.
        parts: Other parts of its row.
        most: Maximum type size of its limits, in points.
        up: Whether the limit is above it.
    """
    em, top, foot = base.size, base.box.y0, base.box.y1

    def is_beyond(part: Part) -> bool:
        middle = part.box.centre[1]
        return middle < top if up else middle > foot

    near = [
        part
        for part in parts
        if -0.2 * part.size < (top - part.box.y1 if up else part.box.y0 - foot) < _NEAR_LIMITS * em
        and part.size <= most
        and is_beyond(part)
        and part.box.x1 > base.box.x0 - 4 * em
    ]
    for run in split_at_gaps(near, _WORD_GAP):
        box = bounds(run)
        off = 0.35 * em + 0.06 * box.width + 0.2 * base.box.width
        if not (box.x0 < base.x < box.x1 and abs(box.centre[0] - base.x) < off):
            continue
        # With the scripts and fractions beyond its row but within its width.
        size = max(p.size for p in run)
        return run + [
            part
            for part in without(parts, run)
            if part.size < 0.85 * size
            and box.x0 < part.x < box.x1 + 0.5 * size
            and is_beyond(part)
            and box.y0 - (0.5 * size if up else inf) < part.box.centre[1]
            and part.box.centre[1] < box.y1 + (inf if up else 0.5 * size)
        ]
    return []
