"""Glyphs that a page paints, from MuPDF's trace, and those that lines of prose lack."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Any

from omibench.stages.ocr.formulas.glyphs.combining import PaintedGlyph
from omibench.stages.ocr.formulas.glyphs.true_characters import REPLACEMENT

if TYPE_CHECKING:
    import pymupdf

SEQUENCE = 10_000
"""Serial numbers between two consecutively painted objects."""
_SOFT_HYPHEN, _HYPHENS = "\u00ad", "-\u2010"
_LIGATURES = {
    text: frozenset(unicodedata.normalize("NFKC", text))
    for text in "\ufb00\ufb01\ufb02\ufb03\ufb04"
}
_CELL = 12.0
"""Height of the bands in which lines are looked up, in points."""

Span = dict[str, Any]
"""Glyphs of one font that a page paints consecutively, from `get_texttrace`."""


def list_painted(page: pymupdf.Page, prose: ProseLines | None = None) -> list[PaintedGlyph]:
    """List the glyphs that a page paints, numbered in painting order.

    Args:
        page: Page to read.
        prose: Lines whose glyphs are not needed: spans within one of them are left out.
    """
    glyphs: list[PaintedGlyph] = []
    count, latest = 0, -1
    for span in page.get_texttrace():
        number, characters = span["seqno"], span["chars"]
        if number != latest:  # The spans of one text object have one number.
            count, latest = 0, number
        start, count = count, count + len(characters)
        if prose and prose.hold_all(span):
            continue
        name, size = span["font"].rpartition("+")[2], span["size"]
        first, last = number * SEQUENCE + start, (number + 1) * SEQUENCE - 1
        glyphs += [
            PaintedGlyph(
                serial if serial < last else last,
                chr(point) if point > 0 else REPLACEMENT,
                name,
                size,
                x,
                y,
                glyph_id,
            )
            for serial, (point, glyph_id, (x, y), _) in enumerate(characters, first)
            if glyph_id >= 0
        ]
    return glyphs


class PaintedAt:
    """Painted glyphs by origin.

    Args:
        glyphs: Glyphs in painting order; of several equal ones in one place, the last is found.
    """

    def __init__(self, glyphs: Sequence[PaintedGlyph]) -> None:
        self._glyphs = glyphs
        self._exact = {(glyph.x, glyph.y): glyph for glyph in glyphs}
        self._rounded: dict[tuple[float, float], PaintedGlyph] | None = None
        is_shared = len(self._exact) < len(glyphs) or any(starmap(_are_close, pairwise(glyphs)))
        self._twins = _find_twins(glyphs) if is_shared else {}

    def find(self, origin: tuple[float, float], text: str) -> PaintedGlyph | None:
        """Return the glyph painted in a place, or within a tenth of a point of it.

        Args:
            origin: Place on the page, in points.
            text: Character that the text layer has there, to choose one of several glyphs.
        """
        glyph = None if self._twins else self._exact.get(origin)
        if glyph is not None:
            return glyph
        if self._rounded is None:
            self._rounded = {_round(glyph): glyph for glyph in self._glyphs}
        place = round(origin[0], 1), round(origin[1], 1)
        glyph = self._rounded.get(place)
        if place in self._twins:
            twins = self._twins[place]
            return twins.get(text) or twins.get(REPLACEMENT, glyph)
        return glyph


def _are_close(a: PaintedGlyph, b: PaintedGlyph) -> bool:
    return -0.1 < b.x - a.x < 0.1 and -0.1 < b.y - a.y < 0.1


def _round(glyph: PaintedGlyph) -> tuple[float, float]:
    return round(glyph.x, 1), round(glyph.y, 1)


def _find_twins(
    glyphs: Sequence[PaintedGlyph],
) -> dict[tuple[float, float], dict[str, PaintedGlyph]]:
    """Return the glyphs that share an origin, such as the parts of TeX's `\\mapsto`, by text."""
    groups: defaultdict[tuple[float, float], list[PaintedGlyph]] = defaultdict(list)
    for glyph in glyphs:
        groups[_round(glyph)].append(glyph)
    return {
        place: {glyph.text: glyph for glyph in group}
        for place, group in groups.items()
        if len({glyph.glyph_id for glyph in group}) > 1
    }


class ProseLines:
    """Lines of a text layer whose characters are not examined, looked up by height."""

    def __init__(self, lines: Iterable[dict[str, Any]]) -> None:
        self._cells: defaultdict[int, list[tuple[float, float, float, float, set[str]]]]
        self._cells = defaultdict(list)
        for line in lines:
            x0, y0, x1, y1 = line["bbox"]
            texts: set[str] = set().union(*(span["text"] for span in line["spans"]))
            if _SOFT_HYPHEN in texts:  # painted as a hyphen at the end of a line
                texts |= set(_HYPHENS)
            texts |= {text for text, letters in _LIGATURES.items() if letters <= texts}
            for cell in range(int(y0 // _CELL), int(y1 // _CELL) + 1):
                self._cells[cell].append((x0 - 1, y0 - 1, x1 + 1, y1 + 1, texts))

    def hold(self, glyph: PaintedGlyph) -> bool:
        """Return whether a glyph is in the box of a line with its text."""
        return any(
            x0 <= glyph.x <= x1 and y0 <= glyph.y <= y1 and _is_in(glyph.text, texts)
            for x0, y0, x1, y1, texts in self._cells.get(int(glyph.y // _CELL), ())
        )

    def hold_all(self, span: Span) -> bool:
        """Return whether all glyphs of a span are in one line; False if it is not certain."""
        if not self._cells or not span["chars"]:
            return False
        points, _, origins, _ = zip(*span["chars"], strict=True)
        xs, ys = zip(*origins, strict=True)
        left, right, top, bottom = min(xs), max(xs), min(ys), max(ys)
        texts = {chr(point) if point > 0 else REPLACEMENT for point in set(points)}
        return any(
            x0 <= left and right <= x1 and y0 <= top and bottom <= y1 and texts <= known
            for x0, y0, x1, y1, known in self._cells.get(int(top // _CELL), ())
        )


def find_missing(glyphs: Iterable[PaintedGlyph], prose: ProseLines) -> list[PaintedGlyph]:
    """Return the glyphs that are in none of the lines: not in the box of one with their text."""
    return [glyph for glyph in glyphs if not prose.hold(glyph)]


def _is_in(text: str, texts: set[str]) -> bool:
    """Return whether a line has a glyph: lines have the letters of a ligature."""
    return text in texts or set(unicodedata.normalize("NFKC", text)) <= texts
