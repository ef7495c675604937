"""From the marks of a page to its parts, and from the parts of a formula to LaTeX.

The parts of a page are built once: marks that form a sign, a fraction, a root or a matrix become
one part with its tree. A formula is the tree of the row of its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from glyphtex.marks import Formula, FormulaRegion, PageMarks, RootSign
from glyphtex.tree.bars import reduce_bars
from glyphtex.tree.brackets import build_rows, find_rows, join_fences, place_fences
from glyphtex.tree.latex import as_chemistry, is_upright, join_words, write_latex
from glyphtex.tree.nodes import Chemistry, Node, Row, Sign, are_balanced, ends_open, find_constructs
from glyphtex.tree.parts import (
    Doubts,
    Field,
    Neighbours,
    Part,
    count_marks,
    join,
    part_of_glyph,
    without,
)
from glyphtex.tree.scripts import is_on_line, main_line, place_scripts
from glyphtex.tree.signs import (
    join_dots,
    join_limits,
    join_overlays,
    join_pieces,
    place_accents,
    place_limits,
)

MOST_MARKS = 1200
"""Maximum number of marks of a formula, far above those of real papers."""
MAX_BARS = 300
"""Maximum number of rules of a page that are examined; the shortest come first."""
_OVERLAP = 0.45
"""Maximum overlap of two symbols, as a share of the narrower one."""
_MANY = "the formula has too many marks to be built"
_LOST = "a mark could not be placed in the formula"


class PageParts(NamedTuple):
    """Parts of a page, and whether all of its rules were examined for them."""

    parts: list[Part]
    is_complete: bool


def find_page_parts(marks: PageMarks) -> PageParts:
    """Return the parts of a page: its glyphs, joined where they form signs or several rows.

    Scripts are not attached yet. Some of the marks are those of words and tables.
    """
    field, is_complete = _join_marks(marks, Doubts(build_row), is_page=True)
    return PageParts([part for part in field.parts if part.glyphs], is_complete)


def find_parts(marks: PageMarks | FormulaRegion, *, is_embedded: bool = False) -> list[Part]:
    """Return the parts of one formula, as `find_page_parts` does those of a page.

    Args:
        marks: Marks of the formula.
        is_embedded: Whether the document has it as an object, so that its extent is certain.
    """
    doubts = Doubts(build_row, is_embedded)
    parts = list(_join_marks(marks, doubts, is_page=False)[0].parts)
    if parts:
        doubts.flush(parts[0])
    return parts


def _join_marks(
    marks: PageMarks | FormulaRegion, doubts: Doubts, *, is_page: bool
) -> tuple[Field, bool]:
    """Return the parts of marks, and whether all rules were examined."""
    glyphs = [part_of_glyph(g) for g in marks.glyphs if g.symbol.kind != "space"]
    field = Field([*glyphs, *map(_part_of_root, marks.roots)], doubts)
    rules = join_pieces(field, sorted(marks.bars, key=lambda bar: bar.x1 - bar.x0)[:MAX_BARS])
    join_overlays(field)
    place_accents(field, is_page=is_page)
    words = Neighbours(field.parts)
    join_limits(field, words)
    is_complete = reduce_bars(field, rules, words if is_page else None)
    join_fences(field)
    return field, is_complete


def _part_of_root(root: RootSign) -> Part:
    box, sign = root.box, Sign("\\sqrt", "root")
    size = min(12.0, box.height)
    return Part(sign, box, box.y1, size, "root", (), roots=(root,), axis=box.centre[1])


def build_row(parts: Sequence[Part], doubts: Doubts) -> Part:
    """Combine the parts of one row, or of stacked rows, into one part.

    Args:
        parts: One or more parts; fractions, roots and accents are complete.
        doubts: Collects doubts.
    """
    if len(parts) == 1:
        return join_words(parts)[0]
    if len(parts) > MOST_MARKS:
        doubts.add(_MANY)
        return join(parts, Row(tuple(p.node for p in parts[:MOST_MARKS])), parts[0])
    parts = place_fences(join_dots(parts), doubts)
    parts = _with_words(parts)
    parts = place_limits(parts, doubts)
    rows = find_rows(parts)
    if len(rows) > 1:
        return build_rows(rows, doubts)
    y, size = main_line(parts)
    level = sorted((p.box for p in parts if is_on_line(p, y, size)), key=lambda box: box.x0)
    if any(
        -left.gap_x(right) > _OVERLAP * max(min(left.width, right.width), 1.0)
        for left, right in pairwise(level)
    ):
        doubts.add("two symbols overlap")
    line = place_scripts(parts, y, size, doubts)
    if count_marks(parts) > count_marks(line):
        doubts.add(_LOST)
        line = sorted(parts, key=lambda p: p.box.x0)
    like = next((part for part in line if part.axis is None), line[0])
    node = as_chemistry(line) or Row(tuple(part.node for part in line))
    whole = join(line, node, like, y=y, size=size, axis=None)
    return whole if len(line) > 1 or isinstance(node, Chemistry) else line[0]


def _with_words(parts: Sequence[Part]) -> list[Part]:
    """Combine upright letters on each baseline into words, which can have limits and scripts."""
    upright = [p for p in parts if is_upright(p)]
    lines: list[list[Part]] = []
    for part in sorted(upright, key=lambda p: p.y):
        if lines and part.y - lines[-1][-1].y < 0.05 * part.size:
            lines[-1].append(part)
        else:
            lines.append([part])
    words = [word for line in lines for word in join_words(sorted(line, key=lambda p: p.box.x0))]
    return [*without(parts, upright), *words]


def build_formula(parts: Sequence[Part], *, is_embedded: bool = False) -> Part:
    """Combine all parts of a formula into one, with the doubts about it.

    Args:
        parts: One or more parts, their scripts among them.
        is_embedded: Whether the document has the formula as an object.

    Returns:
        The formula, or its marks in a row where it is nested too deeply.
    """
    try:
        return _build_formula(parts, is_embedded=is_embedded)
    except RecursionError:
        doubt = "the formula is nested too deeply to be built"
        return join(parts, _list_signs(parts), parts[0], doubts=(doubt,))


def _build_formula(parts: Sequence[Part], *, is_embedded: bool) -> Part:
    doubts = Doubts(build_row, is_embedded)
    field = Field(parts, doubts)
    if any(part.kind == "accent" for part in parts):
        place_accents(field, is_page=False)
    whole = doubts.build(list(field.parts))
    if ends_open(whole.node):
        doubts.add("the formula ends with a sign that needs something after it")
    for doubt in find_constructs(whole.node):
        doubts.add(doubt)
    if not are_balanced(whole.node):
        doubts.add("a bracket is unmatched")
    return doubts.flush(whole)


def read_formula(region: FormulaRegion, parts: Sequence[Part], more: Sequence[str] = ()) -> Formula:
    """Return the parts of a formula as LaTeX.

    Args:
        region: Marks of the formula.
        parts: Its parts in one line, scripts among them.
        more: Doubts from what is around it.

    Returns:
        The best reading, never empty, and its doubts as text.
    """
    node, doubts = build_tree(region, parts)
    latex = write_latex(node).strip()
    if not latex:
        doubts = (*doubts, "no symbol of the formula could be read")
    return Formula(region, latex or "\\square", (*doubts, *more))


def build_tree(region: FormulaRegion, parts: Sequence[Part]) -> tuple[Node, tuple[str, ...]]:
    """Return the tree of a formula, and its doubts."""
    doubts = ("the formula contains a small picture",) if region.pictures else ()
    if not parts:
        return Row(()), doubts
    if count_marks(parts) > MOST_MARKS:
        return _list_signs(parts), (*doubts, _MANY)
    whole = build_formula(parts, is_embedded=region.is_object)
    printed = sum(len(line.bars) + len(line.roots) for line in region.lines)
    printed += sum(g.symbol.kind != "space" for line in region.lines for g in line.glyphs)
    lost = (_LOST,) if printed > count_marks([whole]) else ()
    return whole.node, tuple(dict.fromkeys((*doubts, *whole.doubts, *lost)))


def _list_signs(parts: Sequence[Part]) -> Row:
    symbols = [glyph.symbol for part in parts for glyph in part.glyphs][:MOST_MARKS]
    return Row(tuple(Sign(symbol.latex, symbol.kind) for symbol in symbols))
