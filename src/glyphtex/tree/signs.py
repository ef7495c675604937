"""Signs of several marks: pieces of brackets and arrows, overlays, accents, sums with limits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import inf

from glyphtex.marks import Box, Kind, Rule, is_math_font, is_math_letter
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

# Brackets, roots, braces and long arrows that fonts assemble from several glyphs.

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
_LOOSE = {"piece", "unknown"}
"""Kinds of pieces that may not touch the next one."""
_BARS = {"|", "\\|"}
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


_MOST_OPEN = 40
"""Maximum number of stacks or chains that a piece is compared with."""


def join_pieces(field: Field, rules: Sequence[Rule]) -> list[Rule]:
    """Join the pieces of each bracket, bar, root sign, brace and long arrow.

    Returns:
        The rules that are not pieces of a brace.
    """
    for stack in _find_stacks(field):
        kinds = {part.kind for part in stack}
        names = [part.latex for part in stack if part.latex in _SIDES]
        if len(stack) > 1 and names and kinds & {"piece", "root", "punctuation", "unknown"}:
            name = next((name for name in names if _SIDES[name] == "close"), names[0])
            _name_whole(field, stack, name)
    free = list(rules)
    for group in _find_groups(field, free):
        box = bounds(group)
        fill = [r for r in free if box.y0 <= r.y <= box.y1 and box.x0 <= r.x0 and r.x1 <= box.x1]
        free = without(free, fill)
        field.replace(group, _join_brace(group, fill))
    for part in [p for p in field.parts if p.kind == "piece" and p.latex in _SIDES]:
        _name_whole(field, [part], part.latex)  # a single piece is a whole sign, such as a bar
    return free


def _name_whole(field: Field, parts: Sequence[Part], name: str) -> None:
    """Replace pieces by a bracket, a bar, a root sign or an integral."""
    kind, axis = _SIDES[name], bounds(parts).centre[1]
    whole = join(parts, Sign(name, kind), parts[0], kind=kind, axis=axis, doubts=())
    field.replace(parts, whole)


def _find_stacks(field: Field) -> list[list[Part]]:
    """Return stacked parts without a gap, from the top."""
    stacks: list[list[Part]] = []
    pieces = [p for p in field.parts if p.kind in _STACKED or p.latex in _BARS]
    for part in sorted(pieces, key=lambda p: (p.box.y0, p.box.x0)):
        for stack in reversed(stacks[-_MOST_OPEN:]):
            last = stack[-1]
            gap = part.box.y0 - last.box.y1
            kinds = {part.kind, last.kind}
            touch = 0.0 if kinds.isdisjoint(_LOOSE) else _TOUCH
            near = -0.8 * min(part.box.height, last.box.height) < gap <= touch * part.size
            is_one = len({part.latex, last.latex} - _NAMELESS) < 2 or kinds == {"piece", "open"}
            is_piece = not kinds <= {"open", "close"}  # two whole brackets cannot be stacked
            if near and is_one and is_piece and part.box.gap_x(last.box) < 0:
                stack.append(part)
                break
        else:
            stacks.append([part])
    return stacks


def _find_groups(field: Field, rules: Sequence[Rule]) -> list[list[Part]]:
    """Return accents that continue each other at one height, connected by rules at most."""
    groups: list[list[Part]] = []
    parts = [p for p in field.parts if p.latex in _ACROSS or p.kind == "unknown"]
    if not any(part.latex in _ACROSS for part in parts):
        return []
    for part in sorted(parts, key=lambda p: p.box.x0):
        for group in reversed(groups[-_MOST_OPEN:]):
            box = max(group, key=lambda p: p.box.x1).box
            if part.box.gap_y(box) >= 0.05 * part.size:
                continue
            # A rule may continue a piece.
            ends = (r.x1 for r in rules if box.y0 <= r.y <= box.y1 and box.x0 <= r.x0 <= box.x1 + 1)
            if max([box.x1, *ends]) > part.box.x0 - _TOUCH * part.size:
                group.append(part)
                break
        else:
            groups.append([part])
    return [g for g in groups if len(g) > 1 and any(part.latex in _ACROSS for part in g)]


def _join_brace(group: Sequence[Part], rules: Sequence[Rule]) -> Part:
    """Join the pieces of a brace or an arrow; the leftmost one decides its direction."""

    def is_shaft(part: Part) -> bool:  # named like an arrow, as in XITS
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
    return join(group, Sign(name, "accent"), first, bars=rules, kind="accent", doubts=())


# Symbols that consist of two or three overlapping or adjacent glyphs.

_LEVEL = 0.08
"""Maximum difference between the baselines of two glyphs of one symbol, in ems."""
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
    ("|", "="): ("\\models", "relation"),
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
_STARTS = frozenset(name for pair in (*_PAIRS, *_INTEGRALS) for name in pair) | {"\\bar"}
_STACKED_NAMES = frozenset(name for pair in _STACKS for name in pair)
_DOTS = {".", "\\cdot"}
_NEAR_DOTS = 8
_MOST_PIECES = 8
"""Parts of one arrow."""


def join_overlays(field: Field) -> None:
    """Join each symbol of several glyphs: `\\neq`, `\\longrightarrow`, `\\cong`."""
    has_bar = any(part.latex == "\\bar" for part in field.parts)
    for names in (_STARTS | ({"h"} if has_bar else set()), _STACKED_NAMES):
        starts = [p for p in field.parts if p.latex in names or p.kind in ("relation", "arrow")]
        for start in sorted(starts, key=lambda p: (p.box.x0, p.box.y0)):
            left: Part | None = start
            for _ in range(_MOST_PIECES):  # pieces are joined in pairs
                if left is None or left not in field.parts:
                    break
                left = _join_next(left, field, is_stack=names is _STACKED_NAMES)


def _join_next(left: Part, field: Field, *, is_stack: bool) -> Part | None:
    """Join a sign and one that begins in it or right after it; return None if there is none."""
    box, em = left.box, left.size
    around = Box(box.x0 - em, box.y0 - em, box.x1 + em, box.y1 + em)
    for right in field.centred_in(around):
        if right is left or not box.x0 <= right.box.x0 <= box.x1 + 0.3 * em:
            continue
        symbol = (_find_stack if is_stack else _find_symbol)(left, right)
        if symbol is None:
            continue
        latex, kind = symbol
        like = right if left.kind in {"accent", "piece"} else left
        if latex == "\\cong":
            like = max(left, right, key=lambda p: p.y)
        y = (left.y + right.y) / 2 if is_stack and kind == "arrow" else like.y
        whole = join([left, right], Sign(latex, kind), like, kind=kind, y=y)
        field.replace([left, right], whole)
        return whole
    return None


def _find_symbol(left: Part, right: Part) -> tuple[str, Kind] | None:
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
    return None


def _find_stack(left: Part, right: Part) -> tuple[str, Kind] | None:
    """Return the meaning of two parts above each other, if their places allow it."""
    size = max(left.size, right.size)
    shared, off = left.box.x1 - right.box.x0, abs(left.y - right.y)
    if not (shared > 0.8 * min(left.box.width, right.box.width) and 0 < off < 0.6 * size):
        return None
    names = (left.latex, right.latex)
    return _STACKS.get(names if left.box.y0 < right.box.y0 else names[::-1])


def join_dots(parts: Sequence[Part]) -> list[Part]:
    """Combine three dots at even distances into one symbol, in any direction."""
    dots = sorted(
        (part for part in parts if part.latex in _DOTS), key=lambda p: (p.box.x0, p.box.y0)
    )
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
    return rest


def _find_dots(first: Part, others: Sequence[Part]) -> list[Part]:
    near = [part for part in others[:_NEAR_DOTS] if part.latex == first.latex]
    for second, third in permutations(near, 2):
        dx, dy = second.x - first.x, second.box.centre[1] - first.box.centre[1]
        ex, ey = third.x - second.x, third.box.centre[1] - second.box.centre[1]
        is_even = abs(ex - dx) + abs(ey - dy) < 0.12 * first.size
        if is_even and max(abs(dx), abs(dy)) <= 0.75 * first.size:
            return [first, second, third]
    return []


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
_BELOW = {"\\underbrace", "\\underline", "\\underbracket", "\\undergroup"}
_BRACES = {"\\underbrace", "\\overbrace", "\\underbracket", "\\overbracket"}
_NEAR = 0.5
"""Maximum gap between a letter and its accent, in ems."""
_ARROW_NEAR = 0.35


_REACH = 4.0
"""Maximum height of the body of a brace or a wide accent, in ems."""


_SIGNS = {"\\sim": "\\tilde", "-": "\\bar"}
"""Signs that some programs set over letters as accents."""


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


def _is_sign_of(accent: Part, base: Part) -> bool:
    """Return whether a sign is close over one letter and no wider; else it is an exponent's."""
    is_letter = base.kind == "letter" and isinstance(base.node, Sign)
    near = base.box.y0 - accent.box.y1 < 0.2 * base.size
    centred = abs(accent.x - base.x) < 0.25 * base.box.width + 0.05 * base.size
    return is_letter and near and centred and accent.box.width < 1.3 * base.box.width


def _is_as_wide(arrow: Part, span: Sequence[Part]) -> bool:
    """Return whether an arrow is as wide as the parts below it, and all of them are letters."""
    if not span:
        return False
    reach, most = bounds(span), 0.35 * arrow.size
    fits = abs(reach.x0 - arrow.box.x0) < most and abs(reach.x1 - arrow.box.x1) < most
    return fits and all(part.kind in {"letter", "digit"} for part in span)


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
