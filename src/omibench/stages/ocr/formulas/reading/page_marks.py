"""Marks of a page that formulas can consist of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.stages.ocr.formulas.glyphs.characters import Character, TextRun, read_runs
from omibench.stages.ocr.formulas.glyphs.opensymbol import correct_signs
from omibench.stages.ocr.formulas.glyphs.stretched import cut_stretched
from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol, PageMarks
from omibench.stages.ocr.formulas.reading.objects import find_frames
from omibench.stages.ocr.formulas.reading.rules import (
    WIDEST,
    find_bars,
    find_pictures,
    find_roots,
)
from omibench.stages.ocr.formulas.reading.symbols import Symbols
from omibench.stages.ocr.formulas.reading.vectors import find_vectors
from omibench.stages.ocr.layout.layout import Box

if TYPE_CHECKING:
    import pymupdf

MAX_GLYPHS = 20_000
"""Maximum glyphs of a page whose formulas are read. A page of a paper has 1,000 to 4,000."""
MAX_DRAWINGS = 4_000
"""Maximum paths of a page that are examined: maps and scatter plots have more."""

_OVERSIZED = 4.0
"""Minimum size of a letter that is in no formula, as a multiple of the median size of the page: the
lines under it would be its scripts."""


class GatheredMarks(NamedTuple):
    """Marks of a page, and for each of its glyphs the indices of its run and within it."""

    marks: PageMarks
    places: list[tuple[int, int]]


def read_marks(page: pymupdf.Page) -> PageMarks:
    """Return the marks of a page, within the limits of this module.

    Args:
        page: Page with its rotation removed.

    Returns:
        Glyphs (horizontal text only, no spaces), rules, drawn roots and small pictures.
    """
    drawings = page.get_drawings()
    return gather_marks(page, read_runs(page), drawings, page.get_image_info()).marks


def gather_marks(
    page: pymupdf.Page,
    runs: Sequence[TextRun],
    drawings: Sequence[dict[str, Any]],
    images: Sequence[dict[str, Any]],
    frames: Sequence[Box] | None = None,
) -> GatheredMarks:
    """Return the marks of a page from its runs, drawings, images and frames of objects."""
    symbols = Symbols(page)
    level = list(level_characters(runs))
    cut = cut_stretched(page, [as_glyph(c, symbols.identify(c)) for _, _, c in level])
    seen = [(glyph, (run, k)) for glyph, (run, k, _) in zip(cut, level, strict=True) if glyph]
    usual = median(glyph.size for glyph, _ in seen) if seen else 0.0
    seen = [(glyph, place) for glyph, place in seen if not _is_oversized(glyph, usual)]
    bounded = drawings[:MAX_DRAWINGS]
    marks = PageMarks(
        width=page.rect.width,
        height=page.rect.height,
        glyphs=correct_signs(find_vectors([glyph for glyph, _ in seen])),
        bars=tuple(find_bars(bounded)),
        roots=tuple(find_roots(bounded)),
        pictures=tuple(find_pictures(images)),
        frames=tuple(find_frames(page) if frames is None else frames),
    )
    return GatheredMarks(marks, [place for _, place in seen])


def _is_oversized(glyph: Glyph, usual: float) -> bool:
    """Return whether a letter is too large for a formula, such as one of a watermark."""
    return glyph.symbol.kind in ("letter", "digit") and glyph.size > _OVERSIZED * usual


def find_marks(drawings: Sequence[dict[str, Any]], width: float) -> list[Box]:
    """Return the boxes of drawings that can be part of a formula.

    Args:
        drawings: Paths of the page from `get_drawings` or `get_cdrawings`.
        width: Width of the page in points.
    """
    bounded = drawings[:MAX_DRAWINGS]
    bars = [bar for bar in find_bars(bounded) if bar.x1 - bar.x0 < WIDEST * width]
    return [
        *(bar.box for bar in bars),
        *(root.box for root in find_roots(bounded)),
    ]


def level_characters(runs: Sequence[TextRun]) -> Iterator[tuple[int, int, Character]]:
    """Yield every character that is a mark, with the indices of its run and within it."""
    count = 0
    for place, run in enumerate(runs):
        if run.is_prose or not is_level(run):
            continue
        for k, character in enumerate(run.characters):
            if character.synthetic or (character.code is None and character.text.isspace()):
                continue
            if count == MAX_GLYPHS:
                return
            count += 1
            yield place, k, character


def is_level(run: TextRun) -> bool:
    """Return whether a line of the text layer runs from left to right."""
    return bool(abs(run.raw["dir"][1]) < 0.05 and run.raw["dir"][0] > 0)


def as_glyph(character: Character, symbol: GlyphSymbol) -> Glyph:
    """Return a character as a mark, its box corrected if the symbol's font has a false one."""
    box = character.box
    if symbol.ascent is not None:
        box = box._replace(y0=character.y - symbol.ascent * character.size)
    if symbol.descent is not None:
        box = box._replace(y1=character.y + symbol.descent * character.size)
    return Glyph(
        character.serial,
        character.text,
        symbol,
        character.font,
        character.size,
        character.x,
        character.y,
        box,
        character.italic,
        character.bold,
    )
