"""Signs assembled from several glyphs, of which the text layer has only the first.

Typst gives the pieces of a tall bracket, of a bar or of a long arrow one replacement text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from omibench.stages.ocr.formulas.fonts.embedded import EmbeddedFonts
from omibench.stages.ocr.formulas.marks import unite
from omibench.stages.ocr.layout.layout import Box

if TYPE_CHECKING:
    import pymupdf

    from omibench.stages.ocr.formulas.glyphs.characters import Character, TextRun
    from omibench.stages.ocr.formulas.glyphs.combining import PaintedGlyph

_UNKNOWN = "\ufffd"
_LEVEL = 0.02
"""Maximum offset between the origins of two pieces of one sign, in type sizes."""
_NEXT = 3.0
"""Maximum distance between the origins of two consecutive pieces, in type sizes."""
_MOST = 500
"""Maximum number of pieces of a page that are examined."""

Place = tuple[float, float]


class AssembledSign(NamedTuple):
    """Glyph that the text layer has, and the pieces that continue it."""

    head: PaintedGlyph
    pieces: list[PaintedGlyph]


def join_assembled(
    page: pymupdf.Page, runs: Sequence[TextRun], glyphs: Sequence[PaintedGlyph]
) -> tuple[list[TextRun], list[PaintedGlyph]]:
    """Give the first glyph of each assembled sign the box of the whole sign.

    Args:
        page: Page to read.
        runs: Lines of its text layer.
        glyphs: Glyphs that the page paints, in painting order.

    Returns:
        The runs, and the glyphs without those pieces.
    """
    listed = {_place(c.x, c.y) for run in runs for c in run.characters}
    signs = list(_find_signs(glyphs, listed))[:_MOST]
    if not signs:
        return list(runs), list(glyphs)
    fonts = EmbeddedFonts(page)
    boxes = {_place(s.head.x, s.head.y): _find_box(s, fonts) for s in signs}
    taken = {glyph.serial for sign in signs for glyph in sign.pieces}
    widened = [
        replace(run, characters=tuple(_widen(c, boxes) for c in run.characters)) for run in runs
    ]
    return widened, [glyph for glyph in glyphs if glyph.serial not in taken]


def _place(x: float, y: float) -> Place:
    return round(x, 1), round(y, 1)


def _find_signs(glyphs: Sequence[PaintedGlyph], listed: set[Place]) -> Iterator[AssembledSign]:
    """Yield each glyph of the text layer that is followed by pieces that it lacks."""
    sign: AssembledSign | None = None
    for glyph in glyphs:
        if sign is not None and _continues(sign, glyph, listed):
            sign.pieces.append(glyph)
            continue
        if sign is not None and sign.pieces:
            yield sign
        sign = AssembledSign(glyph, []) if _place(glyph.x, glyph.y) in listed else None
    if sign is not None and sign.pieces:
        yield sign


def _continues(sign: AssembledSign, glyph: PaintedGlyph, listed: set[Place]) -> bool:
    last = sign.pieces[-1] if sign.pieces else sign.head
    across, along = abs(glyph.x - last.x), abs(glyph.y - last.y)
    return (
        glyph.text in (_UNKNOWN, sign.head.text)
        and glyph.font == sign.head.font
        and _place(glyph.x, glyph.y) not in listed
        and min(across, along) < _LEVEL * glyph.size
        and max(across, along) < _NEXT * glyph.size
    )


def _find_box(sign: AssembledSign, fonts: EmbeddedFonts) -> Box | None:
    """Return the box of the ink of all pieces, or None if their outlines are unknown."""
    boxes = []
    for glyph in (sign.head, *sign.pieces):
        ink = fonts.facts(glyph.font, glyph.glyph_id).ink
        if ink is None:
            return None
        x0, y0, x1, y1 = (side * glyph.size for side in ink)
        boxes.append(Box(glyph.x + x0, glyph.y - y1, glyph.x + x1, glyph.y - y0))
    return unite(boxes)


def _widen(character: Character, boxes: dict[Place, Box | None]) -> Character:
    box = boxes.get(_place(character.x, character.y))
    return character if box is None else replace(character, box=character.box.union(box))
