"""Accents over letters, wide accents over several letters, and braces with their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from omibench.stages.ocr.formulas.tree.nodes import (
    AXIS,
    Accent,
    Doubts,
    LimitsNode,
    Node,
    PlacedPart,
    Script,
    Sign,
    Words,
    all_marks,
    bounds,
    join,
    without,
)

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


# Limits below and above sums, limit operators, arrows and braces.

_NEAR_LIMITS = 0.55
"""Maximum gap between an operator and its limits, in ems."""
_WORD_GAP = 0.45
"""Maximum gap between two parts of one limit, in ems."""
TAKING_LIMITS = frozenset(
    ["lim", "max", "min", "sup", "inf", "limsup", "liminf", "argmax", "argmin", "det", "gcd", "Pr"]
)


def place_limits(parts: Sequence[PlacedPart], doubts: Doubts) -> list[PlacedPart]:
    """Attach the parts centred below and above every operator."""
    rest = list(parts)
    for base in [part for part in parts if _takes_limits(part)]:
        others = without(rest, [base])
        below = _column(base, others, up=False)
        above = _column(base, without(others, below), up=True)
        if not below and not above:
            continue
        node = LimitsNode(
            base.node,
            doubts.build(below).node if below else None,
            doubts.build(above).node if above else None,
        )
        whole = join([base, *below, *above], node, base, kind=base.kind)
        rest = [*without(others, [*below, *above]), whole]
    return rest


def _takes_limits(part: PlacedPart) -> bool:
    if isinstance(part.node, Words):
        return part.node.text in TAKING_LIMITS
    return part.kind in {"large", "arrow"} or is_brace(part) or part.kind == "relation"


def _column(base: PlacedPart, parts: Sequence[PlacedPart], *, up: bool) -> list[PlacedPart]:
    """Return a run of smaller parts on one side of an operator, centred on it."""
    em = base.size
    most = 0.88 * em if base.kind != "large" and not is_brace(base) else 0.95 * em
    beyond = [
        (part, (base.box.y0 - part.box.y1) if up else (part.box.y0 - base.box.y1)) for part in parts
    ]
    near = [
        part
        for part, gap in beyond
        if -0.2 * part.size < gap < _NEAR_LIMITS * em
        and part.size <= most
        and (part.box.centre[1] < base.box.y0 if up else part.box.centre[1] > base.box.y1)
        and part.box.x1 > base.box.x0 - 4 * em
    ]
    near.sort(key=lambda p: p.box.x0)
    runs: list[list[PlacedPart]] = []
    for part in near:
        if runs and part.box.x0 - max(p.box.x1 for p in runs[-1]) < _WORD_GAP * part.size:
            runs[-1].append(part)
        else:
            runs.append([part])
    for run in runs:
        box = bounds(run)
        most = 0.35 * em + 0.06 * box.width + 0.2 * base.box.width
        if box.x0 < base.x < box.x1 and abs(box.centre[0] - base.x) < most:
            return _with_second_rows(run, parts, base, up=up)
    return []


def _with_second_rows(
    run: list[PlacedPart], parts: Sequence[PlacedPart], base: PlacedPart, *, up: bool
) -> list[PlacedPart]:
    """Extend a run by the scripts and fractions beyond its row but within its width."""
    box, size = bounds(run), max(p.size for p in run)
    more = [
        part
        for part in without(parts, [*run, base])
        if part.size < 0.85 * size
        and box.x0 < part.x < box.x1 + 0.5 * size
        and (
            box.y0 - 0.5 * size < part.box.centre[1] < base.box.y0
            if up
            else box.y1 + 0.5 * size > part.box.centre[1] > base.box.y1
        )
    ]
    return [*run, *more]


# Superscripts, subscripts and left scripts of the parts of a row.

SMALLER = 0.85
"""Maximum type size of scripts, as a share of their base's (TeX .7, Word .58 to .7)."""
_LEVEL = 0.07
"""Maximum distance of a part on the baseline from it, in ems."""
_CENTRE = 0.24
"""The same for a part that is centred on the axis."""
_TAKING_SCRIPTS = frozenset({"|", "\\|", "*", "!", "."})
_LARGE_SCRIPT = 7.5
"""Type size in points above which a script is smaller than its base."""
_BARE = frozenset({"relation", "operator", "arrow", "open", "punctuation"})
"""Kinds that have no scripts."""


class _Level(NamedTuple):
    """Baseline of a row, and its type size, in points."""

    y: float
    size: float


@dataclass(slots=True)
class _SideScripts:
    """Scripts around one part of the row."""

    left: list[PlacedPart] = field(default_factory=list)
    right: list[PlacedPart] = field(default_factory=list)


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
    if start.axis is not None and all(not _are_level(start, part) for part in inside):
        return start.middle + AXIS * start.size, start.size
    if start.axis is not None:
        inside = [part for part in inside if _are_level(start, part)]
    first = min(inside, key=lambda p: p.box.x0, default=start)
    return first.y, max(largest, first.size)


def _are_level(centred: PlacedPart, part: PlacedPart) -> bool:
    """Return whether a part can be on the baseline of another that is centred on its axis."""
    return abs(centred.middle - part.middle) < (_CENTRE + 0.06) * max(part.size, 0.7 * centred.size)


def is_on_line(part: PlacedPart, y: float, size: float) -> bool:
    """Return whether a part is on a baseline, or is centred on its axis."""
    if part.kind == "prime" or (part.latex.startswith(("^{", "_{"))):
        return False
    if part.axis is not None:
        tall = max(part.box.height, size)
        return abs(part.axis - (y - 0.25 * size)) < _CENTRE * size + 0.05 * (tall - size)
    offset = abs(part.y - y)
    if part.size > SMALLER * size:
        return offset < 0.12 * size
    return offset < _LEVEL * size / 2


def attach_scripts(
    parts: Sequence[PlacedPart], y: float, size: float, doubts: Doubts
) -> list[PlacedPart]:
    """Return the parts of a baseline from left to right, each with its scripts."""
    line = sorted((p for p in parts if is_on_line(p, y, size)), key=lambda p: p.box.x0)
    others = sorted((p for p in parts if not is_on_line(p, y, size)), key=lambda p: p.box.x0)
    if not line:
        return []
    scripts = [_SideScripts() for _ in line]
    for run in _runs(others, line):
        _attach_run(run, line, scripts, size)
    row = _Level(y, size)
    return [
        _with_scripts(part, sides, row, doubts) if sides.left or sides.right else part
        for part, sides in zip(line, scripts, strict=True)
    ]


def _runs(others: Sequence[PlacedPart], line: Sequence[PlacedPart]) -> list[list[PlacedPart]]:
    """Group the parts off the baseline by the two parts they are between."""
    runs: dict[int, list[PlacedPart]] = {}
    for part in others:
        place = sum(1 for base in line if base.box.x0 + 0.3 * base.box.width < part.x)
        runs.setdefault(place, []).append(part)
    return list(runs.values())


def _attach_run(
    run: Sequence[PlacedPart],
    line: Sequence[PlacedPart],
    scripts: Sequence[_SideScripts],
    size: float,
) -> None:
    place = sum(1 for base in line if base.box.x0 + 0.3 * base.box.width < run[0].x)
    before = line[place - 1] if place else None
    after = line[place] if place < len(line) else None
    if before is None or after is None:
        (scripts[place].left if before is None else scripts[place - 1].right).extend(run)
        return
    left = [part for part in run if _leans_right(part, run, before, after, size)]
    scripts[place].left.extend(left)
    scripts[place - 1].right.extend(part for part in run if all(part is not p for p in left))


def _leans_right(
    part: PlacedPart, run: Sequence[PlacedPart], before: PlacedPart, after: PlacedPart, size: float
) -> bool:
    """Return whether a script belongs to the part after it, as the numbers of an isotope do."""
    if part.kind == "prime" or after.kind in _BARE or after.kind == "close":
        return False
    space_before = min(p.box.x0 for p in run) - before.box.x1
    space_after = after.box.x0 - max(p.box.x1 for p in run)
    if before.kind in _BARE and before.latex not in {"|", "\\|", "*"}:
        charge = before.kind in {"relation", "operator"} and space_after > 0.2 * size
        return not charge
    return space_before > 0.22 * size and space_after < 0.12 * size


def _with_scripts(base: PlacedPart, sides: _SideScripts, row: _Level, doubts: Doubts) -> PlacedPart:
    sup, sub, primes = _sides(sides.right, base, row, doubts)
    left_sup, left_sub, left_primes = _sides(sides.left, base, row, doubts)
    parts = [base, *sides.left, *sides.right]
    if base.kind in _BARE and base.latex not in _TAKING_SCRIPTS:
        doubts.add("a script is next to an operator, a relation or an opening bracket")
    if sides.left and not _takes_left_scripts(base):
        doubts.add("a script precedes a symbol that is not an element")
    if left_sub and not left_sup:
        doubts.add("a charge number precedes a symbol without its mass number")
    count = sum(len(p.latex) for p in [*primes, *left_primes])
    node = Script(
        base.node,
        sub=_node(sub, doubts),
        sup=_node(sup, doubts),
        primes=count,
        left_sub=_node(left_sub, doubts),
        left_sup=_node(left_sup, doubts),
    )
    joined = join(parts, node, base)
    return joined if joined.marks == all_marks(parts) else base


def _takes_left_scripts(base: PlacedPart) -> bool:
    """Return whether a base can be an element with its numbers, or a count of combinations."""
    node = base.node
    is_upright = isinstance(node, Words) or (isinstance(node, Sign) and node.upright)
    return is_upright or (base.kind == "letter" and base.latex.isupper())


def _node(parts: Sequence[PlacedPart], doubts: Doubts) -> Node | None:
    if not parts:
        return None
    if all(part.latex.startswith(("^{", "_{")) for part in parts):
        text = "".join(part.latex[2:-1] for part in parts)
        return Sign(text, parts[0].kind)
    return doubts.build(parts).node


def _sides(
    parts: Sequence[PlacedPart], base: PlacedPart, row: _Level, doubts: Doubts
) -> tuple[list[PlacedPart], list[PlacedPart], list[PlacedPart]]:
    """Return the raised parts, lowered parts and primes of one base."""
    primes = [part for part in parts if part.kind == "prime"]
    scripts = sorted((p for p in parts if p.kind != "prime"), key=lambda p: p.box.x0)
    upper: list[PlacedPart] = []
    lower: list[PlacedPart] = []
    full = max((part.size for part in scripts), default=0.0)
    for part in scripts:
        if part.latex.startswith("^{") or part.latex.startswith("_{"):
            (upper if part.latex[0] == "^" else lower).append(part)
        elif part.size > SMALLER * full or not (upper or lower):
            (upper if _is_raised(part, base, row, doubts) else lower).append(part)
        else:
            _nearest(part, upper, lower).append(part)
    return upper, lower, primes


def _is_raised(part: PlacedPart, base: PlacedPart, row: _Level, doubts: Doubts) -> bool:
    y, size = row
    middle = part.box.centre[1] if part.axis is not None else part.y - 0.25 * part.size
    centre = base.box.centre[1] if base.axis is not None else y - 0.25 * size
    if part.axis is None and base.axis is None and part.size > SMALLER * size:
        if abs(part.y - y) < 0.2 * size or part.size > _LARGE_SCRIPT:
            doubts.add("a symbol is neither on the baseline nor clearly raised or lowered")
        return part.y < y
    if base.axis is None and part.axis is None:
        # The baseline of an index is never above its base's, that of an exponent always is.
        offset = (y - part.y) / size
        if -0.03 < offset < 0.1:
            doubts.add("a symbol is neither on the baseline nor clearly raised or lowered")
        return offset > 0.04
    return middle < centre


def _nearest(
    part: PlacedPart, upper: list[PlacedPart], lower: list[PlacedPart]
) -> list[PlacedPart]:
    """Return the run of scripts that a smaller part continues: a script of a script."""
    if not upper or not lower:
        return upper or lower
    above = [p for p in upper if p.size > SMALLER * max(q.size for q in upper)]
    below = [p for p in lower if p.size > SMALLER * max(q.size for q in lower)]
    up = _misfit(part, above)
    down = _misfit(part, below)
    return upper if up < down else lower


def _misfit(part: PlacedPart, row: Sequence[PlacedPart]) -> float:
    """Return the misfit of a part as a script of the last part of a row, in points."""
    before = [p for p in row if p.box.x0 < part.x]
    last = max(before or row, key=lambda p: p.box.x1)
    gap = abs(part.box.x0 - last.box.x1)
    box = bounds([last])
    rise = box.y0 - part.box.centre[1] if part.box.centre[1] < box.y0 else 0.0
    drop = part.box.centre[1] - box.y1 if part.box.centre[1] > box.y1 else 0.0
    return gap + 2 * (rise + drop)
