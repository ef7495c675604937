"""Glyphs that a page stretches over itself and clips, as browsers make the middles of brackets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from omibench.stages.ocr.formulas.glyphs.painted import SEQUENCE
from omibench.stages.ocr.formulas.marks import Glyph
from omibench.stages.ocr.layout.layout import Box

if TYPE_CHECKING:
    import pymupdf

_SHARE = 0.4
"""Minimum share of the page from which a glyph's box is larger than its visible part."""


def cut_stretched(page: pymupdf.Page, glyphs: Sequence[Glyph]) -> tuple[Glyph | None, ...]:
    """Cut the boxes of stretched glyphs to their visible parts.

    Args:
        page: Page to read.
        glyphs: All its glyphs.

    Returns:
        The glyphs, stretched ones in the type size of the page; None for a glyph that is as large
        as the page, such as a letter of a watermark.
    """
    high, wide = _SHARE * page.rect.height, _SHARE * page.rect.width
    if not any(g.box.height > high or g.box.width > wide for g in glyphs):
        return tuple(glyphs)
    clips = list(_find_clips(page.get_drawings(extended=True)))
    size = median(g.size for g in glyphs)
    cut: list[Glyph | None] = []
    for glyph in glyphs:
        box = glyph.box
        if box.height <= high and box.width <= wide:
            cut.append(glyph)
            continue
        seen = _see(glyph, clips)
        is_small = seen is not None and seen.height <= high and seen.width <= wide
        cut.append(replace(glyph, box=seen, size=size, y=seen.y1) if seen and is_small else None)
    return tuple(cut)


def _see(glyph: Glyph, clips: Sequence[tuple[int, int, Box]]) -> Box | None:
    """Return the smallest clip around the glyph's place in the painting order, cut to its box."""
    number = glyph.serial // SEQUENCE
    boxes = [
        Box(
            max(clip.x0, glyph.box.x0),
            max(clip.y0, glyph.box.y0),
            min(clip.x1, glyph.box.x1),
            min(clip.y1, glyph.box.y1),
        )
        for first, last, clip in clips
        if first <= number <= last
    ]
    shown = [box for box in boxes if box.x1 > box.x0 and box.y1 > box.y0]
    return min(shown, key=lambda box: box.width * box.height, default=None)


def _find_clips(drawings: Sequence[dict[str, Any]]) -> Iterator[tuple[int, int, Box]]:
    """Yield each clip with the numbers of the paths painted before and after it."""
    before = 0
    waiting: list[Box] = []
    for drawing in drawings:
        if drawing["type"] == "clip":
            waiting.append(Box(*drawing["scissor"]))
        elif "seqno" in drawing:
            after = drawing["seqno"]
            yield from ((before, after, clip) for clip in waiting)
            before, waiting = after, []
    yield from ((before, 2**31, clip) for clip in waiting)
