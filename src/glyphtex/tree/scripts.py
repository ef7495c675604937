"""Superscripts, subscripts and left scripts: attached to their bases on a page, and placed in rows.

On a page, a script finds its base by its distance alone, since rows are not known yet. In the row
of a formula, each part that is not on the baseline is a script, of any size.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

from glyphtex.marks import AXIS, is_math_font
from glyphtex.tree.nodes import Node, Script, Sign, Words
from glyphtex.tree.parts import Doubts, Part, join, without
from glyphtex.tree.signs import build_side

# Scripts of a page.

_SMALLER = 0.86
"""Maximum size of a script, as a share of its base's."""
_SMALLER_AS_NEXT = 0.95
"""The same relative to the unit after a script: type of the line's size is never a script."""
_SMALLER_BEFORE = 0.8
"""The same for scripts before their base."""
_REACH = 3.0
"""Maximum height of scripts above and below a base, in type sizes."""
_BAND = 12
"""Height of the bands in which bases are looked up, in points."""
_MOST_BANDS = 200
_PUNCTUATION = frozenset(",;:?")
_APART = 2.0
"""Weight of the height between a script and a tall base, which may be one of the next row."""
_ON_SIGN = 0.2
"""What is added to the distance of a script from an operator: most scripts belong to letters."""
_BEFORE_NUMBER = 0.16
"""Minimum gap between a word and the number of an element after it, in type sizes."""
_LEFT_GAP = 0.35
"""Maximum gap between a script and the letter after it, in type sizes of the script."""
_FAR = 0.62
"""Distance between the baselines of a script and its letter, in type sizes: TeX's have .45."""
_ABOVE = 0.9
"""Maximum height of a script's baseline above that of its letter, in type sizes."""
_BELOW = 0.75
"""The same below it."""
_DEEPEST = 50
_STACKED = 0.2
"""Maximum offset between the left edges of two scripts of one letter, in type sizes."""
_NARROW_SPACE = 0.08
"""The same before a number of a mathematical font."""


def attach_scripts(units: Sequence[Part]) -> list[Part]:
    """Attach every script to its base; return the other units."""
    return _Scripts(units).attach()


class _Scripts:
    """Units from left to right, the base of each script as far as known, and the bands of bases."""

    def __init__(self, units: Sequence[Part]) -> None:
        self._bands = _Bands(units)
        self._order = sorted(units, key=lambda u: u.box.x0)
        self._starts = [u.box.x0 for u in self._order]
        self._base_of: dict[Part, Part] = {}

    def attach(self) -> list[Part]:
        """Attach every script to its base; return the other units."""
        base_of = self._base_of
        far = self._attach_near()
        apart = _list_apart(base_of)
        for unit in apart:
            del base_of[unit]
        for unit in apart:
            self._attach_left(unit)
        before = [u.size for u, base in base_of.items() if base.box.x0 > u.box.x0]
        if before:
            largest = 1.2 * max(before)
            for unit in reversed(self._order):
                if unit.size < largest and unit not in base_of and unit.axis is None:
                    self._follow_left_script(unit)
        self._stack_left_scripts()
        for unit, largest in far:
            base = None if unit in base_of else self._bands.find_base(unit, largest, base_of)
            if base is not None:
                self._attach(unit, base)
        for unit, base in apart.items():
            base_of.setdefault(unit, base)
        for unit, base in base_of.items():
            base.scripts.append(unit)
        return [u for u in self._order if u not in base_of]

    def _list_between(self, low: float, high: float) -> Sequence[Part]:
        """List the units that begin between two places."""
        return self._order[bisect_left(self._starts, low) : bisect_left(self._starts, high)]

    def _attach(self, unit: Part, base: Part) -> None:
        """Set the base of a script; a script of a script has the same base."""
        for _ in range(_DEEPEST):
            root = self._base_of.get(base)
            if root is None or root is unit:
                break
            base = root
        if base is not unit and unit.size <= _SMALLER * base.size:
            self._base_of[unit] = base

    def _attach_near(self) -> list[tuple[Part, float]]:
        """Attach the scripts that are close to their bases; list the others.

        Returns:
            Each unit that may be a script in another row, with the largest type size near it.
        """
        far: list[tuple[Part, float]] = []
        for unit in self._order:
            largest = self._bands.find_largest(unit)
            if unit.size >= _SMALLER_AS_NEXT * largest:
                continue
            base = self._bands.find_base(unit, largest, self._base_of)
            is_far = base is not None and _is_far(unit, self._base_of.get(base, base))
            if base is not None and not is_far:
                self._attach(unit, base)
            elif not self._attach_left(unit) and (is_far or far):
                far.append((unit, largest))
        return far

    def _attach_left(self, unit: Part) -> bool:
        """Attach a script to the letter right after it; return whether there is one."""
        end = unit.box.x1
        near = self._list_between(end - 0.1 * unit.size, end + _LEFT_GAP * unit.size)
        right = [u for u in near if u is not unit and _is_left_script(u, unit)]
        if right:
            self._attach(unit, min(right, key=lambda u: abs(u.box.x0 - end)))
        return bool(right)

    def _follow_left_script(self, unit: Part) -> None:
        """Attach the earlier digits of a script left of its base, as in ^{14}C."""
        end = unit.box.x1
        for following in self._list_between(end - 0.1 * unit.size, end + 0.2 * unit.size):
            base = self._base_of.get(following)
            if (
                base is not None
                and base is not unit
                and base.box.x0 > following.box.x0
                and abs(following.baseline - unit.baseline) < 0.05 * unit.size
            ):
                self._base_of[unit] = base
                return

    def _stack_left_scripts(self) -> None:
        """Attach the shorter of two left scripts that begin above each other: ^{235}_{92}U."""
        base_of = self._base_of
        first: dict[Part, Part] = {}
        for unit, base in base_of.items():
            if unit.box.x1 < base.box.x0 + 0.2 * base.size and base.box.x0 > unit.box.x0:
                first[base] = min(first.get(base, unit), unit, key=lambda u: u.box.x0)
        for base, unit in first.items():
            start, end, other = unit.box.x0, None, None
            for u in self._list_between(start - _STACKED * unit.size, base.box.x0):
                is_level = other is None or abs(u.baseline - other.baseline) < 0.05 * u.size
                begins = end is None and abs(u.box.x0 - start) < _STACKED * u.size
                if (
                    u not in base_of
                    and is_level
                    and (begins or (end is not None and u.box.x0 - end < 0.2 * u.size))
                    and abs(u.baseline - unit.baseline) > 0.5 * u.size
                    and _is_level_of_script(u.baseline - base.baseline, base.size)
                ):
                    base_of[u], other, end = base, u, u.box.x1


class _Bands:
    """Units by the horizontal bands of the page that their scripts can be in."""

    def __init__(self, units: Sequence[Part]) -> None:
        self._bands: defaultdict[int, list[tuple[float, int, Part]]] = defaultdict(list)
        for k, unit in enumerate(sorted(units, key=lambda u: u.box.x1)):
            reach = _REACH * unit.size
            low = int(min(unit.box.y0, unit.middle) - reach) // _BAND
            high = int(max(unit.box.y1, unit.middle) + reach) // _BAND
            entry = (unit.box.x1, k, unit)
            for band in range(low, min(high, low + _MOST_BANDS) + 1):
                self._bands[band].append(entry)
        self._largest = {
            band: max(unit.size for _, _, unit in entries) for band, entries in self._bands.items()
        }

    def find_largest(self, unit: Part) -> float:
        """Return the largest type size near a unit."""
        return max(self._largest.get(band, 0.0) for band in self._bands_of(unit))

    def find_base(self, unit: Part, largest: float, base_of: dict[Part, Part]) -> Part | None:
        """Return the base of a script to its left."""
        best: tuple[float, int] | None = None
        found: Part | None = None
        x0, reach = unit.box.x0, 0.66 * largest
        for band in self._bands_of(unit):
            entries = self._bands.get(band, [])
            low = bisect_left(entries, (x0 - reach,))
            high = bisect_left(entries, (x0 + reach,))
            for _, k, base in entries[low:high]:
                if base is unit:
                    continue
                distance = _distance(base, unit, base_of)
                if distance is not None and (best is None or (distance, k) < best):
                    best, found = (distance, k), base
        return found

    def _bands_of(self, unit: Part) -> range:
        """Return the bands of a unit: one for a glyph, those of its whole box for a block."""
        middle = int(unit.middle) // _BAND
        if not unit.is_block:
            return range(middle, middle + 1)
        low, high = int(unit.box.y0) // _BAND, int(unit.box.y1) // _BAND
        return range(min(low, middle), min(max(high, middle), low + _MOST_BANDS) + 1)


def _is_far(unit: Part, base: Part) -> bool:
    """Return whether a script is so far from a letter's baseline that it may be in another row."""
    return abs(unit.baseline - base.baseline) > _FAR * base.size


def _list_apart(base_of: dict[Part, Part]) -> dict[Part, Part]:
    """Return the numbers that have a space between them and their bases, which are words."""
    levels: defaultdict[tuple[Part, int], list[Part]] = defaultdict(list)
    for unit, base in base_of.items():
        if not is_math_font(base.glyphs[-1].font):
            levels[base, round(unit.baseline)].append(unit)
    apart: dict[Part, Part] = {}
    for (base, _), units in levels.items():
        end = base.box.x1
        for unit in sorted(units, key=lambda u: u.box.x0):
            is_first = end == base.box.x1
            is_other_font = is_math_font(unit.glyphs[0].font)
            least = _NARROW_SPACE if is_other_font else _BEFORE_NUMBER
            if is_first and unit.box.x0 - end <= least * base.size:
                break
            apart[unit] = base
            end = unit.box.x1
    return apart


def _distance(base: Part, unit: Part, base_of: dict[Part, Part]) -> float | None:
    """Return the distance of a script from the unit left of it; None if it is not its script."""
    gap = unit.box.x0 - base.box.x1
    if base in base_of and 0.8 < unit.size / base.size < 1.25:
        distance = _distance_of_next(base, unit, gap)
        if distance is not None or unit.size > _SMALLER * base.size:
            return distance
    size = base.size
    if base.glyphs[0].text in _PUNCTUATION:
        return None
    is_large = base.glyphs[0].symbol.kind == "large"
    nearest, farthest = (-0.9, 0.65) if is_large else (-0.45, 0.28)
    if unit.size > _SMALLER * size or not nearest * size < gap < farthest * size:
        return None
    if (
        unit.axis is not None
        and abs(unit.middle - base.middle) < (0.3 if base.axis is not None else 0.22) * size
    ):
        return None
    if base.axis is not None:
        off, middle = unit.box.gap_y(base.box), abs(unit.middle - base.middle)
        near = off < 0.3 * size and middle > 0.25 * min(size, base.box.height)
        return (abs(gap) + _APART * max(off, 0.0)) / size if near else None
    shift = unit.baseline - base.baseline
    near = -_ABOVE * size < shift < _BELOW * size and abs(shift) >= 0.05 * size
    is_sign = base.glyphs[0].symbol.kind in ("operator", "relation")
    return (abs(gap) + 0.2 * abs(shift)) / size + _ON_SIGN * is_sign if near else None


def _distance_of_next(base: Part, unit: Part, gap: float) -> float | None:
    """Return the same for the unit after a script, on its level or that of the other script."""
    shift = abs(base.baseline - unit.baseline) / unit.size
    if shift < 0.1:
        return abs(gap) / unit.size if -0.4 < gap / unit.size < 0.7 else None
    near = -0.5 < gap / unit.size < 0.35 and 0.4 < shift < 2.2
    return abs(gap) / unit.size + 0.1 if near else None


def _is_left_script(base: Part, unit: Part) -> bool:
    size, shift = base.size, unit.baseline - base.baseline
    gap = base.box.x0 - unit.box.x1
    return (
        base.axis is None
        and base.glyphs[0].symbol.kind != "punctuation"
        and unit.size < _SMALLER_BEFORE * size
        and -0.1 * size < gap < 0.2 * size
        and _is_level_of_script(shift, size)
    )


def _is_level_of_script(shift: float, size: float) -> bool:
    """Return whether a script can be this far below the baseline of its base."""
    return -0.8 * size < shift < -0.25 * size or 0.08 * size < shift < 0.5 * size


# Scripts in the row of a formula.

SMALLER = 0.85
"""Maximum type size of scripts, as a share of their base's (TeX .7, Word .58 to .7)."""
_ON_LINE = 0.035
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
    return abs(part.y - y) < (0.12 if part.size > SMALLER * size else _ON_LINE) * size


def place_scripts(parts: Sequence[Part], y: float, size: float, doubts: Doubts) -> list[Part]:
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
