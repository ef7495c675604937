"""Horizontal rules: fractions, roots, over- and underlines, the narrowest first."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import NamedTuple

from glyphtex.marks import AXIS, SEQUENCE, Box, Rule, is_math_font, is_math_letter
from glyphtex.tree.nodes import Accent, Fraction, Root
from glyphtex.tree.parts import Field, Neighbours, Part, bounds, join, without

_SIDE = 0.18
"""Maximum distance of a numerator's centre beyond the end of its bar, in ems."""
_BODY_SIDE = 0.15
"""The same for a radicand."""
_GAP = 0.32
"""Maximum gap between two rows of one numerator, in ems."""
_SCRIPT_GAP = 0.12
"""Maximum gap between the letters of a numerator and their scripts, in ems."""
_FIRST_GAP = 0.75
"""Maximum gap between a bar and the parts on it, in ems."""
_REACH = 140.0
"""Maximum height of a numerator or a denominator, in points."""
_NO_OPERANDS = frozenset({"relation", "operator", "punctuation", "arrow"})
_UNDERLINE_GAP = 0.3
_LINE_GAP = 0.42
"""Maximum gap between an overline and its letters, in ems."""
MAX_EXAMINED = 100_000
"""Maximum number of parts near the rules of a page that are examined; a paper's has up to 600.
Further rules are not read, and the page is not searched completely.
"""
_SMALLER = 0.85
"""Maximum type size of an index or a script, as a share of its base's."""


class Bar(NamedTuple):
    """Rule of a fraction or a line, or a root sign with its bar.

    A root's bar begins at `x0`, and `y` is its height; without one it is as wide as its sign.
    """

    x0: float
    x1: float
    y: float
    rules: tuple[Rule, ...]
    sign: Part | None = None

    @property
    def start(self) -> float:
        """Left edge of the rule, or of the root sign."""
        return self.sign.box.x0 if self.sign else self.x0


class _WiderBars(NamedTuple):
    """Bars that are wider than one; `rules` are those of no root, from top to bottom."""

    bars: Sequence[Bar]
    rules: Sequence[Bar]


def reduce_bars(field: Field, rules: Sequence[Rule], words: Neighbours | None) -> bool:
    """Turn every rule and root sign into a fraction, a root, or a line over or under its body.

    Args:
        field: Parts of a page or of a formula.
        rules: Its rules.
        words: Words of a page, which rules can underline or separate; None for a formula.

    Returns:
        Whether all rules were examined.
    """
    is_complete = True
    bars = _pair_signs(field, rules)
    prose = Prose(words, bars) if words else None
    # A root counts as slightly narrower than its bar.
    queue = sorted(bars, key=lambda b: b.x1 - b.start - (0.3 * b.sign.size if b.sign else 0.0))
    for number, bar in enumerate(queue):
        if bar.sign:
            _reduce_root(field, bar, bar.sign)
        elif prose is None or prose.examined < MAX_EXAMINED:
            _reduce_bar(field, bar, queue[number + 1 :], prose)
        else:
            is_complete = False
    return is_complete


def _pair_signs(field: Field, rules: Sequence[Rule]) -> list[Bar]:
    """Return each rule, and each root sign with its bar."""
    free = list(rules)
    roots: list[Bar] = []
    for sign in sorted((p for p in field.parts if p.kind == "root"), key=lambda p: p.box.height):
        x, y, height, em = sign.box.x1, sign.box.y0, sign.box.height, sign.size
        near = [
            bar
            for bar in free
            if -0.35 * em - 0.02 * height < bar.x0 - x < 0.25 * em
            and abs(bar.y - y) < max(min(0.25 * em, 0.3 * height), 1.0)
        ]
        if near:
            bar = min(near, key=lambda b: abs(b.x0 - x) + abs(b.y - y))
            # Some programs draw the bar in pieces.
            level = [r for r in without(free, [bar]) if abs(r.y - bar.y) < 0.3]
            pieces = [bar, *(r for r in level if 0 <= r.x0 - bar.x1 + 0.6 < 1.2)]
            free = without(free, pieces)
            end = max(piece.x1 for piece in pieces)
            roots.append(Bar(x, end, bar.y, tuple(pieces), sign))
        else:
            roots.append(Bar(x, x, y, (), sign))
    return [*(Bar(rule.x0, rule.x1, rule.y, (rule,)) for rule in free), *roots]


def _reduce_root(field: Field, bar: Bar, sign: Part) -> None:
    em, box = sign.size, sign.box
    inside = Box(box.x0, bar.y - 0.1 * em, max(bar.x1, box.x1) + em, box.y1 + 0.15 * em)
    body = [
        part
        for part in field.centred_in(inside)
        if part is not sign
        and box.x1 - 0.3 * em < part.x < _find_end(part, bar, _BODY_SIDE)
        and not (_is_bracket(part) and part.x > bar.x1 - 0.02 * part.size)
        # Over the hook of the sign is an index.
        and not (part.box.x1 < box.x1 and part.box.y1 < box.y0 + 0.6 * box.height)
    ]
    if not body:
        field.doubts.add("a root sign has nothing under its bar")
        field.replace([sign], join([sign], sign.node, sign, bars=bar.rules, kind="letter"))
        return
    size = max(part.size for part in body)
    hook = Box(box.x0 - 0.9 * em, box.y0 - 2 * em, box.x0 + 0.75 * box.width, box.y1)
    around = without(field.centred_in(hook.grow(em, em)), [sign, *body])
    index = [
        part
        for part in around
        if part.size < _SMALLER * size
        and hook.holds(part.box)
        and part.box.x1 > box.x0 - 0.05 * em
        and part.box.x0 > box.x0 - 0.9 * em
        and box.y0 - 0.6 * em < part.box.y1 < box.y0 + 0.75 * box.height
        and not any(_is_subscript(part, other) for other in around)
    ]
    held = [*body, *index]
    content = field.doubts.build(body)
    node = Root(content.node, field.doubts.build(index).node if index else None)
    whole = box._replace(y0=min(bar.y, box.y0), x1=max(bar.x1, box.x1)).union(bounds(held))
    root = join([sign, *held], node, content, bars=bar.rules, kind="letter", box=whole)
    field.replace([sign, *held], root)


def _find_end(part: Part, bar: Bar, side: float) -> float:
    """Return how far right the centre of a part on a bar can be; a sign is not beyond its end."""
    return bar.x1 + (0.0 if part.kind in _NO_OPERANDS else side * part.size)


def _is_bracket(part: Part) -> bool:
    return part.kind in {"open", "close"} or part.latex in {"|", "\\|"}


def _is_subscript(part: Part, base: Part) -> bool:
    """Return whether a part is the subscript of a letter in the row above."""
    gap = part.box.x0 - base.box.x1
    return (
        base.kind == "letter"
        and part.size < _SMALLER * base.size
        and -0.1 * base.size < gap < 0.15 * base.size
        and 0.05 * base.size < part.y - base.y < 0.4 * base.size
    )


def _reduce_bar(field: Field, bar: Bar, later: Sequence[Bar], prose: Prose | None) -> None:
    rules = (other for other in later if other.sign is None)
    wider = _WiderBars(later, sorted(rules, key=lambda rule: rule.y) if prose else ())
    above = _find_stack(field, bar, wider, prose, up=True)
    below = _find_stack(field, bar, wider, prose, up=False)
    if above and below and (prose is None or _is_fraction(bar, above, below)):
        over, under = field.doubts.build(above), field.doubts.build(below)
        size = max(over.size, under.size)
        node, y = Fraction(over.node, under.node), bar.y + AXIS * size
        whole = join(
            [*above, *below], node, over, bars=bar.rules, kind="letter", axis=bar.y, y=y, size=size
        )
        field.replace([*above, *below], whole)
        return
    if prose is not None:
        below = _find_overlined(bar, field)
        above = [] if below else _find_underlined(bar, field)
    body, command = (below, "\\overline") if below else (above, "\\underline")
    if not body:
        if prose is None:
            field.doubts.add("a rule could not be placed in the formula")
        return
    em = max(part.size for part in body)
    edge = min(p.box.y0 for p in body) if below else max(p.box.y1 for p in body)
    is_far = abs(edge - bar.y) > (_LINE_GAP if below else _UNDERLINE_GAP) * em
    inside = field.doubts.build(body)
    if is_far or all(p.kind in _NO_OPERANDS for p in body):
        field.doubts.add("a fraction has nothing on one side of its bar")
    box = inside.box.union(Box(bar.x0, bar.y, bar.x1, bar.y))
    line = join(body, Accent(command, inside.node), inside, bars=bar.rules, box=box, kind="letter")
    field.replace(body, line)


def _find_stack(
    field: Field, bar: Bar, wider: _WiderBars, prose: Prose | None, *, up: bool
) -> list[Part]:
    """Return the parts on one side of a bar, row by row while the next row is close."""
    limit = _find_limit(bar, wider.bars, up=up)
    low, high = (max(limit, bar.y - _REACH), bar.y) if up else (bar.y, min(limit, bar.y + _REACH))
    column = []
    for part in field.centred_in(Box(bar.x0 - 5, low, bar.x1 + 5, high)):
        box = part.box
        if bar.x0 - _SIDE * part.size < part.x < _find_end(part, bar, _SIDE) and not _crosses(
            part, bar
        ):
            # Distances of the near and the far edge from the bar.
            edges = (bar.y - box.y1, bar.y - box.y0) if up else (box.y0 - bar.y, box.y1 - bar.y)
            column.append((*edges, part))
    stack = _Stack()
    reach = 0.0
    for near, far, part in sorted(column, key=lambda entry: entry[0]):
        if prose and prose.excludes(part, bar, field, wider.rules):
            continue
        if near - reach > stack.find_gap(part) * part.size:
            break
        stack.add(part)
        reach = max(reach, far)
    return stack.parts


def _crosses(part: Part, bar: Bar) -> bool:
    """Return whether a part is next to a bar: a bracket taller than it, or a sign level with it."""
    em = 0.15 * part.size
    passes = part.box.y0 < bar.y - em and part.box.y1 > bar.y + em
    is_level = abs(part.box.centre[1] - bar.y) < em
    is_outside = part.x < bar.x0 + em or part.x > bar.x1 - em
    return (passes and _is_bracket(part)) or ((passes or is_level) and is_outside)


class _Stack:
    """Parts on one side of a bar, from the nearest to the farthest."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._largest = 0.0
        self._lines: list[tuple[float, float]] = []
        """Height and type size of those that are no sums, from top to bottom."""
        self._fullest = 0.0

    def add(self, part: Part) -> None:
        self.parts.append(part)
        self._largest = max(self._largest, part.size)
        if part.kind != "large":
            insort(self._lines, (part.middle, part.size))
            self._fullest = max(self._fullest, part.size)

    def find_gap(self, part: Part) -> float:
        """Return the maximum gap between those so far and the next one, in ems.

        A part may begin another line of full size, as the row above a numerator does.
        """
        if not self.parts:
            return _FIRST_GAP
        size, middle = part.size, part.middle
        if self._fullest <= _SMALLER * size:
            return _GAP
        most = 0.6 * size
        for k in range(bisect_left(self._lines, (middle - most - 0.01,)), len(self._lines)):
            height, other = self._lines[k]
            if height > middle + most + 0.01:
                break
            if other > _SMALLER * size and abs(height - middle) <= most:
                return _GAP
        return _SCRIPT_GAP if size < _SMALLER * self._largest else 0.0


def _find_limit(bar: Bar, later: Sequence[Bar], *, up: bool) -> float:
    """Return the height of the nearest wider bar on one side, the limit of a numerator."""
    covers = [
        other.y
        for other in later
        if other.start < bar.x1
        and other.x1 > bar.x0
        and (other.y < bar.y if up else other.y > bar.y)
    ]
    return max(covers, default=-inf) if up else min(covers, default=inf)


# Rules of a page that are none of a formula: under words, in tables.

_UNDER = 0.2
"""Maximum distance from a baseline down to its underline, in type sizes."""
_FEWEST = 7
"""Minimum number of letters of an underlined phrase: `1 - cos x` in a line has no more."""
_NEARER = 0.8
"""Share of a part's distance from a bar at which another bar is nearer."""
_LEVEL = 0.15
"""Maximum distance of a bar from the axis of the symbols beside it, in type sizes."""
_CELL_GAP = 2.2
"""Minimum gap between table cells, in type sizes: the bar is then a rule of the table."""
_BELOW_OVERLINE = 14.0
"""Depth below a bar in which its letters are, in points."""
_MOST_OVERLINED = 12
_OVERLINE_GAP = 0.36
"""Maximum gap between an overline and the highest of its letters, in type sizes."""
_EXACTLY = 0.1
"""Maximum difference between an underline and its letters on either side, in type sizes."""
_MOST_NEXT = 200
"""Maximum number of glyphs between a numerator and the end of its words."""


_Exits = dict[tuple[Part, float], tuple[int, bool]]
"""How many steps from a part, given a type size, its row leaves a bar, and whether as words."""


class Prose:
    """Words of a page, and its rules that are of no root."""

    def __init__(self, words: Neighbours, bars: Iterable[Bar]) -> None:
        self._words = words
        self._bars = [bar for bar in bars if bar.sign is None]
        self._bar: Bar | None = None
        self._exits: tuple[_Exits, _Exits] = ({}, {})
        """Those of the last bar, on the left and on the right."""
        self.examined = 0
        """Number of parts above or below bars that were examined."""

    def excludes(self, part: Part, bar: Bar, field: Field, rules: Sequence[Bar]) -> bool:
        """Return whether a part above or below a bar belongs to other words or another bar."""
        self.examined += 1
        return self._goes_on(part, bar) or _is_nearer(part, bar, field, rules)

    def _goes_on(self, part: Part, bar: Bar) -> bool:
        """Return whether the words of a part's row continue beyond the ends of the bar."""
        if bar is not self._bar:
            self._bar, self._exits = bar, ({}, {})
        sides = zip((self._words.left, self._words.right), self._exits, strict=True)
        return any(self._leaves(part, bar, step, exits) for step, exits in sides)

    def _leaves(self, part: Part, bar: Bar, step: Mapping[Part, Part], exits: _Exits) -> bool:
        """Return whether the words on one side of a part leave the bar, other than for another."""
        size = part.size
        low, high = bar.x0 - 0.3 * size, bar.x1 + 0.3 * size
        path: list[Part] = []
        current = part
        while (current, size) not in exits:
            following = step.get(current)
            if following is None:
                exits[current, size] = (1, False)
                break
            x = following.box.centre[0]
            if low < x < high:
                path.append(current)
                current = following
            else:
                is_barred = any(abs(b.y - bar.y) < 1.0 and b.x0 < x < b.x1 for b in self._bars)
                exits[current, size] = (1, not is_barred)
        count, leaves = exits[current, size]
        for earlier in reversed(path):
            count += 1
            exits[earlier, size] = (count, leaves)
        return leaves and count <= _MOST_NEXT


def _is_fraction(bar: Bar, above: Sequence[Part], below: Sequence[Part]) -> bool:
    """Return whether a bar is that of a fraction, rather than under words or in a table."""
    if _is_underline(above, bar):
        return False
    size, width = max(part.size for part in (*above, *below)), bar.x1 - bar.x0
    boxes = [bounds(above), bounds(below)]
    most_off = max(0.35 * size, 0.12 * width)
    return (
        max(_widest_gap(above), _widest_gap(below)) <= _CELL_GAP * size
        and all(abs(box.centre[0] - (bar.x0 + bar.x1) / 2) <= most_off for box in boxes)
        and max(box.width for box in boxes) >= width - 1.3 * size
    )


def _find_overlined(bar: Bar, field: Field) -> list[Part]:
    """Return the few symbols under a bar, unless it underlines the text above it."""
    below = field.centred_in(Box(bar.x0 - 1, bar.y, bar.x1 + 1, bar.y + _BELOW_OVERLINE))
    below = [p for p in below if p.axis is None and p.box.y0 > bar.y - 0.05 * p.size]
    if not 1 <= len(below) <= _MOST_OVERLINED:
        return []
    size = max(p.size for p in below)
    base = max(p.baseline for p in below if p.size > 0.86 * size)
    below = [p for p in below if p.size < 0.86 * size or base - p.baseline < 0.15 * size]
    box = bounds(below)
    above = field.centred_in(Box(bar.x0 - 1, bar.y - 1.2 * size, bar.x1 + 1, bar.y))
    near = [p for p in above if abs(bar.y - p.box.y1) < _UNDERLINE_GAP * size]
    is_underline = near and (_is_painted_next(bar, near) or not _is_painted_next(bar, below))
    is_far = box.y0 - bar.y > _OVERLINE_GAP * size
    off = max(abs(bar.x0 - box.x0), abs(bar.x1 - box.x1))
    return [] if is_underline or is_far or off >= 0.35 * size else below


def _find_underlined(bar: Bar, field: Field) -> list[Part]:
    """Return the few mathematical letters over a bar that is exactly as wide."""
    above = field.centred_in(Box(bar.x0 - 1, bar.y - _BELOW_OVERLINE, bar.x1 + 1, bar.y))
    if not 1 <= len(above) <= _MOST_OVERLINED or not _is_painted_next(bar, above):
        return []
    size = max(p.size for p in above)
    letters = [g for p in above for g in p.glyphs if g.symbol.kind == "letter"]
    box = bounds(above)
    is_as_wide = max(abs(bar.x0 - box.x0), abs(bar.x1 - box.x1)) < _EXACTLY * size
    is_near = 0 <= bar.y - box.y1 < _UNDERLINE_GAP * size
    return above if letters and all(map(is_math_letter, letters)) and is_as_wide and is_near else []


def _is_underline(above: Sequence[Part], bar: Bar) -> bool:
    """Return whether a bar is close under words, as under a link; numerators leave more space."""
    letters = [
        p
        for p in above
        if p.glyph and p.glyph.symbol.kind == "letter" and not is_math_font(p.glyph.font)
    ]
    near = [p for p in letters if bar.y - p.baseline < _UNDER * p.size]
    return len(near) >= _FEWEST and len(near) > 0.7 * len(letters)


def _is_nearer(part: Part, bar: Bar, field: Field, rules: Sequence[Bar]) -> bool:
    """Return whether a part is between a bar and a nearer one, as in stacked fractions."""
    x, y = part.box.centre
    most = _NEARER * abs(y - bar.y)
    low = bisect_left(rules, y - most, key=lambda rule: rule.y)
    high = bisect_right(rules, y + most, key=lambda rule: rule.y)
    return any(
        other.x0 < x < other.x1
        and (other.y - y) * (bar.y - y) < 0
        and abs(other.y - y) < most
        and not _is_nested(bar, other, field)
        for other in rules[low:high]
    )


def _is_nested(bar: Bar, other: Bar, field: Field) -> bool:
    """Return whether a bar is in a part of another's fraction that has symbols beside it."""
    if not (other.x0 <= bar.x0 + 1 and bar.x1 - 1 <= other.x1):
        return False
    level = field.centred_in(Box(other.x0, bar.y - 4, other.x1, bar.y + 4))
    return any(
        abs(p.middle - bar.y) < _LEVEL * p.size and not bar.x0 < p.box.centre[0] < bar.x1
        for p in level
    )


def _widest_gap(parts: Sequence[Part]) -> float:
    """Return the widest gap between parts from left to right."""
    widest, end = 0.0, inf
    for part in sorted(parts, key=lambda p: p.box.x0):
        widest = max(widest, part.box.x0 - end)
        end = max(end, part.box.x1) if end < inf else part.box.x1
    return widest


def _is_painted_next(bar: Bar, parts: Sequence[Part]) -> bool:
    """Return whether a rule is painted right before or after one of the symbols."""
    number = bar.rules[0].serial // SEQUENCE
    return any(abs(g.serial // SEQUENCE - number) <= 1 for p in parts for g in p.glyphs)
