"""Broken formulas with all their marks on the baseline of the first line."""

from __future__ import annotations

from dataclasses import replace

from omibench.stages.ocr.formulas.marks import FormulaRegion, NextLine, unite
from omibench.stages.ocr.layout.layout import Box


def straighten(region: FormulaRegion) -> FormulaRegion:
    """Return a formula as it would be printed in one line.

    Args:
        region: Formula, possibly with parts in the next lines.
    """
    if not region.following:
        return region
    lines = [region, *(_move(part) for part in region.following)]
    return replace(
        region,
        box=unite(line.box for line in lines),
        glyphs=tuple(glyph for line in lines for glyph in line.glyphs),
        bars=tuple(bar for line in lines for bar in line.bars),
        roots=tuple(root for line in lines for root in line.roots),
        pictures=tuple(picture for line in lines for picture in line.pictures),
        following=(),
    )


def _move(part: NextLine) -> FormulaRegion:
    region, dx, dy = part.region, part.dx, part.dy
    return replace(
        region,
        box=_shift(region.box, dx, dy),
        glyphs=tuple(
            replace(glyph, x=glyph.x + dx, y=glyph.y + dy, box=_shift(glyph.box, dx, dy))
            for glyph in region.glyphs
        ),
        bars=tuple(
            replace(bar, x0=bar.x0 + dx, x1=bar.x1 + dx, y=bar.y + dy) for bar in region.bars
        ),
        roots=tuple(replace(root, box=_shift(root.box, dx, dy)) for root in region.roots),
        pictures=tuple(replace(p, box=_shift(p.box, dx, dy)) for p in region.pictures),
    )


def _shift(box: Box, dx: float, dy: float) -> Box:
    return Box(box.x0 + dx, box.y0 + dy, box.x1 + dx, box.y1 + dy)
