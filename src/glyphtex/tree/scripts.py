"""Superscripts, subscripts and left scripts of the parts of a row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from glyphtex.tree.limits import build_side
from glyphtex.tree.nodes import Node, Script, Sign, Words
from glyphtex.tree.parts import Doubts, Part, join, without
from glyphtex.units import AXIS

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


def main_line(parts: Sequence[Part]) -> tuple[float, float]:
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


def is_on_line(part: Part, y: float, size: float) -> bool:
    """Return whether a part is on a baseline, or is centred on its axis."""
    if part.kind == "prime" or part.latex.startswith(_WRITTEN):
        return False
    if part.axis is not None:
        tall = max(part.box.height, size)
        return abs(part.axis - (y - AXIS * size)) < _CENTRE * size + 0.05 * (tall - size)
    return abs(part.y - y) < (0.12 if part.size > SMALLER * size else _LEVEL) * size


def attach_scripts(parts: Sequence[Part], y: float, size: float, doubts: Doubts) -> list[Part]:
    """Return the parts of a baseline from left to right, each with its scripts."""
    ordered = sorted(parts, key=lambda p: p.box.x0)
    line = [part for part in ordered if is_on_line(part, y, size)]
    runs: defaultdict[int, list[Part]] = defaultdict(list)
    for part in without(ordered, line):
        place = sum(base.box.x0 + 0.3 * base.box.width < part.x for base in line)
        runs[place].append(part)
    before: defaultdict[int, list[Part]] = defaultdict(list)
    after: defaultdict[int, list[Part]] = defaultdict(list)
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


def _leans_right(part: Part, run: Sequence[Part], before: Part, after: Part, size: float) -> bool:
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
    base: Part,
    before: Sequence[Part],
    after: Sequence[Part],
    row: tuple[float, float],
    doubts: Doubts,
) -> Part:
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


def _build_script(parts: Sequence[Part], doubts: Doubts) -> Node | None:
    if parts and all(part.latex.startswith(_WRITTEN) for part in parts):
        return Sign("".join(part.latex[2:-1] for part in parts), parts[0].kind)
    return build_side(parts, doubts)


def _sort_scripts(
    parts: Sequence[Part], base: Part, row: tuple[float, float], doubts: Doubts
) -> tuple[list[Part], list[Part], list[Part]]:
    """Return the raised parts, lowered parts and primes of one base."""
    primes = [part for part in parts if part.kind == "prime"]
    scripts = sorted((p for p in parts if p.kind != "prime"), key=lambda p: p.box.x0)
    upper: list[Part] = []
    lower: list[Part] = []
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


def _is_raised(part: Part, base: Part, row: tuple[float, float], doubts: Doubts) -> bool:
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


def _misfit(part: Part, scripts: Sequence[Part]) -> float:
    """Return the misfit of a part as a script of the last full-size one of several, in points."""
    row = [p for p in scripts if p.size > SMALLER * max(q.size for q in scripts)]
    last = max([p for p in row if p.box.x0 < part.x] or row, key=lambda p: p.box.x1)
    middle = part.box.centre[1]
    beyond = max(0.0, last.box.y0 - middle, middle - last.box.y1)
    return abs(part.box.x0 - last.box.x1) + 2 * beyond
