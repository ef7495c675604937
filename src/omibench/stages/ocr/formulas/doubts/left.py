"""Mathematics on a page that is not in any formula."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from omibench.stages.ocr.formulas.marks import FormulaRegion, Glyph
from omibench.stages.ocr.formulas.reading.kinds import is_math_font, is_variable
from omibench.stages.ocr.layout.layout import Box

SYMBOL = "a mathematical symbol next to the formula is not part of it"
SMALL = "a smaller symbol next to the formula is not part of it"
_KINDS = frozenset(("operator", "relation", "arrow", "large", "root", "piece", "accent", "prime"))
_BULLETS = frozenset("/←⇐↵•●○■□▪▫◦★☆*∗†‡§¶✓✔►▶➢➤❖◆◇·⋅∙-−–—°∘º.,:;'’%")
_FLAT = frozenset("△∠∫∮∑∏√∂∇∈∉⊂⊆∪∩∀∃")
"""Signs that are mathematics in every font."""
_LEGIBLE = frozenset("=+<>")
"""Signs that text also has between plain numbers and words."""
_NAMES = "sin cos tan cot csc sen tg ctg arcsin arccos arctan arctg sinh cosh tanh coth log ln exp"
_FUNCTIONS = frozenset(_NAMES.split())
_MINUS = frozenset("-−–")
_DOTS = frozenset("·⋅")
_SIZED = frozenset(("letter", "digit"))
"""Symbols whose type size is that of their row."""
_SMALLER = 0.86
_BESIDE = 1.2
"""Maximum distance from a formula, in type sizes, for a symbol to be part of it."""
_CLOSE = 0.35
"""The same for a symbol of smaller type."""


class Leftover(NamedTuple):
    """Mathematics outside of all formulas."""

    box: Box
    text: str


class LeftMarks(NamedTuple):
    """Doubts by formula index, and the symbols that are not near any formula."""

    doubts: list[tuple[int, str]]
    rest: list[Leftover]


def find_left(regions: Sequence[FormulaRegion], glyphs: Sequence[Glyph]) -> LeftMarks:
    """Find the mathematics of a page that is not in any formula.

    Args:
        regions: Formulas of the page.
        glyphs: Glyphs of the page in painting order.
    """
    owned = {id(glyph) for region in regions for glyph in region.glyphs}
    free = [glyph for glyph in glyphs if id(glyph) not in owned]
    doubts: list[tuple[int, str]] = []
    rest: list[Leftover] = []
    for place, glyph in enumerate(free):
        before = free[place - 1] if place else None
        if is_mathematical(glyph) or _multiplies(before, glyph):
            near = find_nearest(glyph.box, glyph.size, regions, _BESIDE)
            if near is None and (glyph.text not in _LEGIBLE or _ends_line(glyph, glyphs)):
                rest.append(Leftover(glyph.box, glyph.text))
            elif near is not None:
                doubts.append((near, SYMBOL))
    sizes = [
        max((g.size for g in region.glyphs if g.symbol.kind in _SIZED), default=0.0)
        for region in regions
    ]
    most = _SMALLER * max(sizes, default=0.0)
    for glyph in (g for g in free if g.size < most):
        near = find_nearest(glyph.box, glyph.size, regions, _CLOSE)
        if near is not None and glyph.size < _SMALLER * sizes[near]:
            doubts.append((near, SMALL))
    rest += find_functions(free)
    rest += find_raised(free)
    return LeftMarks(doubts, rest)


def _multiplies(before: Glyph | None, glyph: Glyph) -> bool:
    """Return whether a dot of a mathematical font follows a number, as in `6⋅`."""
    return (
        before is not None
        and glyph.text in _DOTS
        and before.symbol.kind == "digit"
        and is_sign_font(glyph.font)
        and abs(before.y - glyph.y) < 0.1 * glyph.size
        and 0 <= glyph.box.x0 - before.box.x1 < _CLOSE * glyph.size
    )


def _ends_line(glyph: Glyph, glyphs: Sequence[Glyph]) -> bool:
    """Return whether nothing is printed right of a sign in its row."""
    reach = glyph.box.x1 + glyph.size
    return not any(
        glyph.box.x1 <= other.box.centre[0] < reach and abs(other.y - glyph.y) < 0.5 * glyph.size
        for other in glyphs
    )


def is_mathematical(glyph: Glyph) -> bool:
    """Return whether a glyph is a sign of mathematics regardless of its neighbours."""
    if glyph.text in _FLAT:
        return True
    if glyph.text in _BULLETS or not is_sign_font(glyph.font):
        return False
    kind = glyph.symbol.kind
    return kind in _KINDS or (kind == "letter" and is_variable(glyph))


def is_sign_font(font: str) -> bool:
    """Return whether a font sets mathematics."""
    return is_math_font(font) or font.startswith("OpenSymbol")


def find_functions(glyphs: Iterable[Glyph]) -> list[Leftover]:
    """Return the function names in text that are followed by a number, as in `tan 49°`."""
    found: list[Leftover] = []
    word: list[Glyph] = []
    for glyph in glyphs:
        last = word[-1] if word else None
        is_next = (
            last is not None
            and abs(glyph.y - last.y) < 0.05 * glyph.size
            and -0.2 * glyph.size < glyph.box.x0 - last.box.x1 < 0.12 * glyph.size
        )
        if glyph.text.isalpha() and (is_next or not word):
            word.append(glyph)
            continue
        if last is not None and "".join(g.text for g in word) in _FUNCTIONS:
            gap = glyph.box.x0 - last.box.x1
            is_level = abs(glyph.y - last.y) < 0.1 * glyph.size
            if is_level and gap < 0.6 * glyph.size and _may_follow(word, glyph):
                box = word[0].box.union(glyph.box)
                found.append(Leftover(box, "".join(g.text for g in [*word, glyph])))
        word = [glyph] if glyph.text.isalpha() else []
    return found


def _may_follow(word: Sequence[Glyph], glyph: Glyph) -> bool:
    """Return whether a glyph after a function name is its argument; `sin` is also Spanish."""
    return glyph.text.isdecimal() or (glyph.text in "([" and word[0].text != "s")


def find_raised(glyphs: Sequence[Glyph]) -> list[Leftover]:
    """Return the smaller signs right after a digit of text, such as an unread exponent."""
    found = []
    for before, glyph in pairwise(glyphs):
        is_behind = -0.1 * before.size < glyph.box.x0 - before.box.x1 < 0.12 * before.size
        if (
            before.text.isdecimal()
            and (glyph.text.isdecimal() or glyph.text in _MINUS)
            and is_behind
            and glyph.size < _SMALLER * before.size
            and abs(glyph.y - before.y) > 0.1 * before.size
        ):
            found.append(Leftover(before.box.union(glyph.box), before.text + glyph.text))
    return found


def find_nearest(
    box: Box, size: float, regions: Sequence[FormulaRegion], reach: float
) -> int | None:
    """Find the formula in the row of a symbol, at most `reach` type sizes away."""
    best: tuple[float, int] | None = None
    for number, region in enumerate(regions):
        if box.gap_y(region.box) > -0.2 * box.height:
            continue
        gap = box.gap_x(region.box)
        if gap < reach * size and (best is None or gap < best[0]):
            best = gap, number
    return best[1] if best else None
