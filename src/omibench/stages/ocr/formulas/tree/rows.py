"""Combination of a row's parts: brackets, limits, scripts and words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from omibench.stages.ocr.formulas.tree.chemistry import as_chemistry
from omibench.stages.ocr.formulas.tree.fences import place_fences
from omibench.stages.ocr.formulas.tree.grids import build_rows, find_rows
from omibench.stages.ocr.formulas.tree.limits import place_limits
from omibench.stages.ocr.formulas.tree.nodes import Chemistry
from omibench.stages.ocr.formulas.tree.parts import (
    Doubts,
    PlacedPart,
    all_marks,
    join,
    row_node,
    without,
)
from omibench.stages.ocr.formulas.tree.scripts import attach_scripts, is_on_line, main_line
from omibench.stages.ocr.formulas.tree.words import is_upright, join_words

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
    _doubt_overlaps([part for part in parts if is_on_line(part, y, size)], doubts)
    line = attach_scripts(parts, y, size, doubts)
    if not line or all_marks(parts) - all_marks(line):
        doubts.add("a mark could not be placed in the formula")
        line = sorted(parts, key=lambda p: p.box.x0)
    like = next((part for part in line if part.axis is None), line[0])
    node = as_chemistry(line) or row_node([part.node for part in line], _gaps(line))
    whole = join(line, node, like, y=y, size=size, axis=None)
    return whole if len(line) > 1 or isinstance(node, Chemistry) else line[0]


def _gaps(line: Sequence[PlacedPart]) -> tuple[float, ...]:
    ends = [0.0, *(part.box.x1 for part in line)]
    return tuple(
        (part.box.x0 - end) / max(part.size, 0.1) for part, end in zip(line, ends, strict=False)
    )


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


def _doubt_overlaps(line: Sequence[PlacedPart], doubts: Doubts) -> None:
    ordered = sorted(line, key=lambda p: p.box.x0)
    for left, right in pairwise(ordered):
        shared = min(left.box.x1, right.box.x1) - right.box.x0
        if shared > _OVERLAP * max(min(left.box.width, right.box.width), 1.0):
            doubts.add("two symbols overlap")
