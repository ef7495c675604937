"""Arrows over several letters, which TeX assembles from dashes and an arrowhead."""

from __future__ import annotations

from omibench.stages.ocr.formulas.marks import unite
from omibench.stages.ocr.formulas.reading.units import InkField, RowUnit, join_units
from omibench.stages.ocr.layout.layout import Box

_HEADS = frozenset({"\\to", "\\leftarrow"})
_GAP = 0.35
"""Maximum gap between the arrow and the letters below it, in type sizes."""
_MOST_DASHES = 40


def join_long_arrows(field: InkField) -> None:
    """Join each arrow of dashes with the letters within its width."""
    for head in [u for u in field.units if u.latex in _HEADS]:
        arrow = [head, *_dashes(head, field)]
        if len(arrow) == 1:
            continue
        box = unite(u.box for u in arrow)
        below = Box(box.x0 - 1, head.box.y1, box.x1 + 1, head.box.y1 + 1.4 * head.size)
        letters = [
            u
            for u in field.centred_in(below)
            if not u.is_block and -0.1 * u.size < u.box.y0 - head.box.y1 < _GAP * u.size
        ]
        if not letters:
            continue
        first, last = letters[0].box, letters[-1].box
        if abs(first.x0 - box.x0) < _GAP * head.size and abs(last.x1 - box.x1) < _GAP * head.size:
            parts = [*letters, *arrow]
            field.replace(parts, join_units(parts, letters[0].axis))


def _dashes(head: RowUnit, field: InkField) -> list[RowUnit]:
    """Return minus signs level with an arrow's head that overlap it or each other."""
    reach = _MOST_DASHES * head.size / 4
    around = Box(head.box.x0 - reach, head.box.y0 - 1, head.box.x1 + reach, head.box.y1 + 1)
    near = [u for u in field.centred_in(around) if u.latex == "-"]
    chain: list[RowUnit] = []
    box = head.box
    for dash in sorted(near, key=lambda u: abs(u.box.centre[0] - head.box.centre[0])):
        if dash.box.gap_x(box) < 0 and abs(dash.baseline - head.baseline) < 0.05 * head.size:
            chain.append(dash)
            box = box.union(dash.box)
    return chain
