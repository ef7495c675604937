"""Parts attached to others: accents and braces, limits, superscripts and subscripts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import inf

from glyphtex.tree.nodes import (
    Accent,
    Doubts,
    LimitsNode,
    Node,
    PlacedPart,
    Script,
    Sign,
    Words,
    bounds,
    join,
    split_at_gaps,
    without,
)
from glyphtex.units import AXIS

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


def place_accents(parts: Sequence[PlacedPart], doubts: Doubts) -> list[PlacedPart]:
    """Place every accent over its body, the innermost first."""
    rest = list(parts)
    accents = [p for p in parts if p.kind == "accent" or p.latex in _WIDE or p.latex in _SIGNS]
    for accent in sorted(accents, key=lambda p: (p.box.width, -p.box.y1)):
        body = _find_body(accent, without(rest, [accent]))
        if not body:
            if accent.kind == "accent":
                doubts.add("an accent is not over a letter")
            continue
        inside = doubts.build(body)
        command = _SIGNS.get(accent.latex, accent.latex)
        if accent.kind == "arrow" or len(body) > 1:
            command = _WIDE.get(command, command)
        kind = inside.kind if len(body) == 1 and inside.kind == "digit" else "letter"
        placed = join([accent, inside], Accent(command, inside.node), inside, kind=kind)
        rest = [*without(rest, [accent, *body]), placed]
    return rest


def _find_body(accent: PlacedPart, parts: Sequence[PlacedPart]) -> list[PlacedPart]:
    """Return the body of an accent: one letter, or everything under its width."""
    box, em, is_below = accent.box, accent.size, accent.latex in _BELOW
    near = _ARROW_NEAR if accent.kind == "arrow" else _NEAR

    def gap(part: PlacedPart) -> float:
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
        and box.x0 - 0.15 * em < part.x < box.x1 + 0.15 * em
        and part.box.gap_y(base.box) < 0.1 * em
        and (part.box.y1 < box.y0 + 0.15 * em if is_below else part.box.y0 > box.y1 - 0.15 * em)
    ]
    if accent.kind == "arrow":
        return span if base.kind != "arrow" and _is_as_wide(accent, span) else []
    covered = [p for p in under if box.x0 + 0.02 * em < p.x < box.x1 - 0.02 * em]
    is_narrow = box.width <= max(1.35 * base.box.width, 0.75 * em)
    if accent.latex not in _BRACES and is_narrow and len(covered) < 2:
        return [base]
    return span or [base]


def _is_as_wide(arrow: PlacedPart, span: Sequence[PlacedPart]) -> bool:
    """Return whether an arrow is as wide as the parts below it, and all of them are letters."""
    if not span:
        return False
    reach, most = bounds(span), 0.35 * arrow.size
    fits = abs(reach.x0 - arrow.box.x0) < most and abs(reach.x1 - arrow.box.x1) < most
    return fits and all(part.kind in {"letter", "digit"} for part in span)


def _is_sign_of(accent: PlacedPart, base: PlacedPart) -> bool:
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
_TAKING_LIMITS = frozenset(
    ["lim", "max", "min", "sup", "inf", "limsup", "liminf", "argmax", "argmin", "det", "gcd", "Pr"]
)


def place_limits(parts: Sequence[PlacedPart], doubts: Doubts) -> list[PlacedPart]:
    """Attach the parts centred below and above every operator."""
    rest = list(parts)
    for base in parts:
        node = base.node
        is_brace = isinstance(node, Accent) and node.command in _BRACES
        if isinstance(node, Words):
            if node.text not in _TAKING_LIMITS:
                continue
        elif not is_brace and base.kind not in {"large", "arrow", "relation"}:
            continue
        most = (0.95 if base.kind == "large" or is_brace else 0.88) * base.size
        others = without(rest, [base])
        below = _find_limit(base, others, most, up=False)
        others = without(others, below)
        above = _find_limit(base, others, most, up=True)
        if below or above:
            limits = LimitsNode(node, _build(below, doubts), _build(above, doubts))
            rest = [*without(others, above), join([base, *below, *above], limits, base)]
    return rest


def _build(parts: Sequence[PlacedPart], doubts: Doubts) -> Node | None:
    return doubts.build(parts).node if parts else None


def _find_limit(
    base: PlacedPart, parts: Sequence[PlacedPart], most: float, *, up: bool
) -> list[PlacedPart]:
    """Return a run of smaller parts on one side of an operator, centred on it.

    Args:
        base: The operator.
        parts: Other parts of its row.
        most: Maximum type size of its limits, in points.
        up: Whether the limit is above it.
    """
    em, top, foot = base.size, base.box.y0, base.box.y1

    def is_beyond(part: PlacedPart) -> bool:
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


# Superscripts, subscripts and left scripts of the parts of a row.

SMALLER = 0.85
"""Maximum type size of scripts, as a share of their base's (TeX .7, Word .58 to .7)."""
_LEVEL = 0.035
"""Maximum distance of a small part on the baseline from it, in ems."""
_CENTRE = 0.24
"""The same for a part that is centred on the axis."""
_TAKING_SCRIPTS = frozenset({"|", "\\|", "*", "!", "."})
_LARGE_SCRIPT = 7.5
"""Type size in points above which a script is smaller than its base."""
_BARE = frozenset({"relation", "operator", "arrow", "open", "punctuation"})
"""Kinds that have no scripts."""
_WRITTEN = ("^{", "_{")
"""Beginnings of symbols that are scripts by themselves."""
_NEITHER = "a symbol is neither on the baseline nor clearly raised or lowered"


def main_line(parts: Sequence[PlacedPart]) -> tuple[float, float]:
    """Return the baseline of a row and its type size, in points.

    They are those of the leftmost of the largest symbols; brackets, sums and fractions, whose sizes
    vary, count only without other parts.
    """
    plain = [p for p in parts if p.axis is None and p.kind not in {"accent", "prime", "unknown"}]
    largest = max((part.size for part in plain), default=0.0)
    full = [part for part in plain if part.size > SMALLER * largest]
    inside = [part for part in full if part.kind != "punctuation"] or full
    start = min(parts, key=lambda p: p.box.x0)
    if start.axis is not None:
        # Those that can be on the baseline of the first part, which is centred on its axis.
        inside = [
            part
            for part in inside
            if abs(start.axis - part.middle) < (_CENTRE + 0.06) * max(part.size, 0.7 * start.size)
        ]
        if not inside:
            return start.axis + AXIS * start.size, start.size
    first = min(inside, key=lambda p: p.box.x0, default=start)
    return first.y, max(largest, first.size)


def is_on_line(part: PlacedPart, y: float, size: float) -> bool:
    """Return whether a part is on a baseline, or is centred on its axis."""
    if part.kind == "prime" or part.latex.startswith(_WRITTEN):
        return False
    if part.axis is not None:
        tall = max(part.box.height, size)
        return abs(part.axis - (y - AXIS * size)) < _CENTRE * size + 0.05 * (tall - size)
    return abs(part.y - y) < (0.12 if part.size > SMALLER * size else _LEVEL) * size


def attach_scripts(
    parts: Sequence[PlacedPart], y: float, size: float, doubts: Doubts
) -> list[PlacedPart]:
    """Return the parts of a baseline from left to right, each with its scripts."""
    ordered = sorted(parts, key=lambda p: p.box.x0)
    line = [part for part in ordered if is_on_line(part, y, size)]
    runs: defaultdict[int, list[PlacedPart]] = defaultdict(list)
    for part in without(ordered, line):
        place = sum(base.box.x0 + 0.3 * base.box.width < part.x for base in line)
        runs[place].append(part)
    before: defaultdict[int, list[PlacedPart]] = defaultdict(list)
    after: defaultdict[int, list[PlacedPart]] = defaultdict(list)
    for place, run in runs.items():
        if place == 0:
            before[0] = run
        elif place == len(line):
            after[place - 1] = run
        else:
            pair = line[place - 1], line[place]
            before[place] = [part for part in run if _leans_right(part, run, *pair, size)]
            after[place - 1] = without(run, before[place])
    return [
        _with_scripts(part, before[k], after[k], (y, size), doubts)
        if before[k] or after[k]
        else part
        for k, part in enumerate(line)
    ]


def _leans_right(
    part: PlacedPart, run: Sequence[PlacedPart], before: PlacedPart, after: PlacedPart, size: float
) -> bool:
    """Return whether a script belongs to the part after it, as the numbers of an isotope do."""
    if part.kind == "prime" or after.kind in _BARE or after.kind == "close":
        return False
    space_before = min(p.box.x0 for p in run) - before.box.x1
    space_after = after.box.x0 - max(p.box.x1 for p in run)
    if before.kind in _BARE and before.latex not in {"|", "\\|", "*"}:
        is_charge = before.kind in {"relation", "operator"} and space_after > 0.2 * size
        return not is_charge
    return space_before > 0.22 * size and space_after < 0.12 * size


def _with_scripts(
    base: PlacedPart,
    before: Sequence[PlacedPart],
    after: Sequence[PlacedPart],
    row: tuple[float, float],
    doubts: Doubts,
) -> PlacedPart:
    """Return a part with the scripts before and after it; `row` is its baseline and size."""
    sup, sub, primes = _sort_scripts(after, base, row, doubts)
    left_sup, left_sub, left_primes = _sort_scripts(before, base, row, doubts)
    if base.kind in _BARE and base.latex not in _TAKING_SCRIPTS:
        doubts.add("a script is next to an operator, a relation or an opening bracket")
    node = base.node
    is_upright = isinstance(node, Words) or (isinstance(node, Sign) and node.upright)
    is_count = base.kind == "letter" and base.latex.isupper()
    if before and not (is_upright or is_count):
        doubts.add("a script precedes a symbol that is not an element")
    if left_sub and not left_sup:
        doubts.add("a charge number precedes a symbol without its mass number")
    script = Script(
        node,
        sub=_build_script(sub, doubts),
        sup=_build_script(sup, doubts),
        primes=sum(len(p.latex) for p in [*primes, *left_primes]),
        left_sub=_build_script(left_sub, doubts),
        left_sup=_build_script(left_sup, doubts),
    )
    return join([base, *before, *after], script, base)


def _build_script(parts: Sequence[PlacedPart], doubts: Doubts) -> Node | None:
    if parts and all(part.latex.startswith(_WRITTEN) for part in parts):
        return Sign("".join(part.latex[2:-1] for part in parts), parts[0].kind)
    return _build(parts, doubts)


def _sort_scripts(
    parts: Sequence[PlacedPart], base: PlacedPart, row: tuple[float, float], doubts: Doubts
) -> tuple[list[PlacedPart], list[PlacedPart], list[PlacedPart]]:
    """Return the raised parts, lowered parts and primes of one base."""
    primes = [part for part in parts if part.kind == "prime"]
    scripts = sorted((p for p in parts if p.kind != "prime"), key=lambda p: p.box.x0)
    upper: list[PlacedPart] = []
    lower: list[PlacedPart] = []
    full = max((part.size for part in scripts), default=0.0)
    for part in scripts:
        if part.latex.startswith(_WRITTEN):
            is_raised = part.latex[0] == "^"
        elif part.size > SMALLER * full or not (upper or lower):
            is_raised = _is_raised(part, base, row, doubts)
        elif upper and lower:  # a script of a script
            is_raised = _misfit(part, upper) < _misfit(part, lower)
        else:
            is_raised = bool(upper)
        (upper if is_raised else lower).append(part)
    return upper, lower, primes


def _is_raised(
    part: PlacedPart, base: PlacedPart, row: tuple[float, float], doubts: Doubts
) -> bool:
    y, size = row
    if part.axis is not None or base.axis is not None:
        middle = part.box.centre[1] if part.axis is not None else part.middle
        centre = base.box.centre[1] if base.axis is not None else y - AXIS * size
        return middle < centre
    # The baseline of an index is never above its base's, that of an exponent always is.
    offset = (y - part.y) / size
    if part.size > SMALLER * size:
        if abs(part.y - y) < 0.2 * size or part.size > _LARGE_SCRIPT:
            doubts.add(_NEITHER)
        return part.y < y
    if -0.03 < offset < 0.1:
        doubts.add(_NEITHER)
    return offset > 0.04


def _misfit(part: PlacedPart, scripts: Sequence[PlacedPart]) -> float:
    """Return the misfit of a part as a script of the last full-size one of several, in points."""
    row = [p for p in scripts if p.size > SMALLER * max(q.size for q in scripts)]
    last = max([p for p in row if p.box.x0 < part.x] or row, key=lambda p: p.box.x1)
    middle = part.box.centre[1]
    beyond = max(0.0, last.box.y0 - middle, middle - last.box.y1)
    return abs(part.box.x0 - last.box.x1) + 2 * beyond
