"""From the marks of a region to the tree of its formula, and from the tree to LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from glyphtex.marks import Formula, FormulaRegion, straighten
from glyphtex.tree.brackets import build_rows, find_rows, place_fences
from glyphtex.tree.fractions import join_signs, reduce_rules
from glyphtex.tree.latex import (
    as_chemistry,
    is_upright,
    join_words,
    write_latex,
)
from glyphtex.tree.nodes import (
    Chemistry,
    Doubts,
    Node,
    PlacedPart,
    Row,
    Rule,
    Sign,
    all_marks,
    are_balanced,
    ends_open,
    find_constructs,
    join,
    part_of_glyph,
    without,
)
from glyphtex.tree.scripts import (
    attach_scripts,
    is_on_line,
    main_line,
    place_accents,
    place_limits,
)
from glyphtex.tree.signs import join_overlays, join_pieces

_OVERLAP = 0.45
"""Maximum overlap of two symbols, as a share of the narrower one."""


def build_row(parts: Sequence[PlacedPart], doubts: Doubts) -> PlacedPart:
    """Combine the parts of one row, or of stacked rows, into one part.

    Args:
        parts: One or more parts; fractions, roots and accents are complete.
        doubts: Collects doubts.
    """
    if len(parts) == 1:
        return join_words(parts)[0]
    parts = place_fences(parts, doubts)
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
    line = attach_scripts(parts, y, size, doubts)
    if not line or all_marks(parts) - all_marks(line):
        doubts.add("a mark could not be placed in the formula")
        line = sorted(parts, key=lambda p: p.box.x0)
    like = next((part for part in line if part.axis is None), line[0])
    node = as_chemistry(line) or Row(tuple(part.node for part in line))
    whole = join(line, node, like, y=y, size=size, axis=None)
    return whole if len(line) > 1 or isinstance(node, Chemistry) else line[0]


def _with_words(parts: Sequence[PlacedPart]) -> list[PlacedPart]:
    """Combine upright letters on each baseline into words, which can have limits and scripts."""
    upright = [p for p in parts if is_upright(p)]
    lines: list[list[PlacedPart]] = []
    for part in sorted(upright, key=lambda p: p.y):
        if lines and part.y - lines[-1][-1].y < 0.05 * part.size:
            lines[-1].append(part)
        else:
            lines.append([part])
    words = [word for line in lines for word in join_words(sorted(line, key=lambda p: p.box.x0))]
    return [*without(parts, upright), *words]


# The marks of a region as a tree, and as LaTeX with doubts.

MOST_MARKS = 1200
"""Maximum number of marks of a formula, far above those of real papers."""


def read_formula(region: FormulaRegion, more: Sequence[str] = ()) -> Formula:
    """Return the marks of a formula as LaTeX.

    Args:
        region: Marks of the formula, possibly with spaces.
        more: Doubts from what is around it.

    Returns:
        The best reading, never empty, and its doubts as text.
    """
    node, doubts = build_tree(straighten(region))
    latex = write_latex(node).strip()
    if not latex:
        doubts = (*doubts, "no symbol of the formula could be read")
    return Formula(region, latex or "\\square", (*doubts, *more))


def build_tree(region: FormulaRegion) -> tuple[Node, tuple[str, ...]]:
    """Return the tree of a formula, and its doubts."""
    doubts = Doubts(build_row, region.is_object)
    parts = _parts(region)
    rules = [
        Rule(bar.x0, bar.x1, bar.y, frozenset({mark}))
        for mark, bar in enumerate(region.bars, len(region.glyphs))
    ]
    if region.pictures:
        doubts.add("the formula contains a small picture")
    if len(parts) + len(rules) > MOST_MARKS:
        doubts.add("the formula has too many marks to be built")
        return Row(tuple(part.node for part in parts[:MOST_MARKS])), tuple(doubts.texts)
    if not parts:
        return Row(()), tuple(doubts.texts)
    try:
        whole = _build(region, parts, rules, doubts)
    except RecursionError:
        doubts.add("the formula is nested too deeply to be built")
        return Row(tuple(part.node for part in parts)), tuple(doubts.texts)
    expected = all_marks(parts).union(*(rule.marks for rule in rules))
    if whole.marks != expected:
        doubts.add("a mark could not be placed in the formula")
    return whole.node, tuple(doubts.texts)


def _build(
    region: FormulaRegion, parts: Sequence[PlacedPart], rules: Sequence[Rule], doubts: Doubts
) -> PlacedPart:
    rest, free = join_pieces(parts, rules)
    for mark in sorted(mark for part in rest if part.kind == "unknown" for mark in part.marks):
        font = region.glyphs[mark].font or "without a name"
        doubts.add(f"a glyph of font {font} is unknown")
    rest, joined = join_signs(join_overlays(rest), free)
    rest = place_accents(rest, doubts)
    rest = reduce_rules(rest, joined, doubts)
    whole = build_row(rest, doubts)
    if ends_open(whole.node):
        doubts.add("the formula ends with a sign that needs something after it")
    for doubt in find_constructs(whole.node):
        doubts.add(doubt)
    if not are_balanced(whole.node):
        doubts.add("a bracket is unmatched")
    return whole


def _parts(region: FormulaRegion) -> list[PlacedPart]:
    glyphs = [part_of_glyph(glyph, mark) for mark, glyph in enumerate(region.glyphs)]
    roots = [
        PlacedPart(
            node=Sign("\\sqrt", "root"),
            box=root.box,
            y=root.box.y1,
            size=root.box.height,
            kind="root",
            marks=frozenset({mark}),
            axis=root.box.centre[1],
        )
        for mark, root in enumerate(region.roots, len(region.glyphs) + len(region.bars))
    ]
    return [part for part in [*glyphs, *roots] if part.kind != "space"]
