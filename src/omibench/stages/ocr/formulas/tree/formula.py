"""The marks of a region as a tree, and as LaTeX with doubts."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.stages.ocr.formulas.doubts.constructs import find_constructs
from omibench.stages.ocr.formulas.marks import Formula, FormulaRegion
from omibench.stages.ocr.formulas.tree.accents import place_accents
from omibench.stages.ocr.formulas.tree.balance import are_balanced, ends_open
from omibench.stages.ocr.formulas.tree.bars import join_signs, reduce_rules
from omibench.stages.ocr.formulas.tree.latex import write_latex
from omibench.stages.ocr.formulas.tree.nodes import Node, Row, Sign
from omibench.stages.ocr.formulas.tree.overlays import join_overlays
from omibench.stages.ocr.formulas.tree.parts import (
    Doubts,
    PlacedPart,
    Rule,
    all_marks,
    part_of_glyph,
)
from omibench.stages.ocr.formulas.tree.pieces import join_pieces
from omibench.stages.ocr.formulas.tree.rows import build_row
from omibench.stages.ocr.formulas.tree.straight import straighten

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
