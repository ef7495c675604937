"""Glyphs that a page paints, from MuPDF's trace: accents, assembled signs, and missing ones."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from glyphtex.boxes import Box, unite
from glyphtex.font_programs import EmbeddedFonts
from glyphtex.marks import SEQUENCE
from glyphtex.units import is_sign_font

if TYPE_CHECKING:
    import pymupdf

    from glyphtex.text_layer import Character, TextRun


REPLACEMENT = "\ufffd"
_SOFT_HYPHEN, _HYPHENS = "\u00ad", "-\u2010"
_LIGATURES = {
    text: frozenset(unicodedata.normalize("NFKC", text))
    for text in "\ufb00\ufb01\ufb02\ufb03\ufb04"
}
_CELL = 12.0
"""Height of the bands in which lines are looked up, in points."""

Place = tuple[float, float]
"""Origin of a glyph, rounded to a tenth of a point."""


class PaintedGlyph(NamedTuple):
    """Glyph as the page paints it; `size`, `x` and `y` are in points."""

    serial: int
    text: str
    font: str
    size: float
    x: float
    y: float
    glyph_id: int

    def cover(self, ink: Box) -> Box:
        """Return the box on the page of an outline, given in type sizes with y upwards."""
        x, y, size = self.x, self.y, self.size
        return Box(x + ink.x0 * size, y - ink.y1 * size, x + ink.x1 * size, y - ink.y0 * size)


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
    """Painted glyphs by origin; several can share one, such as the parts of TeX's `\\mapsto`.

    Args:
        glyphs: Glyphs in painting order; of several equal ones in one place, the last is found.
    """

    def __init__(self, glyphs: Iterable[PaintedGlyph]) -> None:
        self._glyphs: defaultdict[Place, list[PaintedGlyph]] = defaultdict(list)
        for glyph in glyphs:
            self._glyphs[round(glyph.x, 1), round(glyph.y, 1)].append(glyph)

    def find(self, origin: Place, text: str) -> PaintedGlyph | None:
        """Return the glyph painted in a place, or within a tenth of a point of it.

        Args:
            origin: Place on the page, in points.
            text: Character that the text layer has there, to choose one of several glyphs.
        """
        if not self._glyphs:
            return None
        here = self._glyphs.get((round(origin[0], 1), round(origin[1], 1)), ())
        if len(here) > 1:
            for known in (text, REPLACEMENT):
                for glyph in reversed(here):
                    if glyph.text == known:
                        return glyph
        return here[-1] if here else None


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
        """Return whether a glyph is in the box of a line with its text or a ligature's letters."""
        return any(
            x0 <= glyph.x <= x1
            and y0 <= glyph.y <= y1
            and (glyph.text in texts or set(unicodedata.normalize("NFKC", glyph.text)) <= texts)
            for x0, y0, x1, y1, texts in self._cells.get(int(glyph.y // _CELL), ())
        )

    def hold_all(self, span: dict[str, Any]) -> bool:
        """Return whether all glyphs of a traced span are in one line; False if not certain."""
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


# Zero-width accents, which MuPDF moves next to their letters or loses.

_MOST_ACCENTS = 500
"""Maximum number of accents of a page that are moved."""
_FIRST = "\u0300"
"""First combining character of Unicode."""
_INK = Box(0.05, 0.5, 0.45, 0.75)
"""Assumed position of an accent's ink if its font gives none, in type sizes."""
_REACH = 3.0
"""Width to each side of an accent in which its letter is looked for, in type sizes."""


class _Letter(NamedTuple):
    """Character that an accent may belong to: centre and baseline in points, and its line."""

    x: float
    y: float
    row: list[Character]
    character: Character


def place_combining(
    page: pymupdf.Page, runs: Sequence[TextRun], glyphs: Sequence[PaintedGlyph]
) -> list[TextRun]:
    """Return the runs with mathematical accents at their painted positions.

    Args:
        page: Page to read.
        runs: Lines of its text layer.
        glyphs: Glyphs that the page paints.

    Returns:
        The runs, each accent after the nearest letter.
    """
    accents = [glyph for glyph in glyphs if _is_combining(glyph)]
    if not 0 < len(accents) <= _MOST_ACCENTS:
        return list(runs)
    rows = [[c for c in run.characters if not _is_combining(c)] for run in runs]
    letters = [_Letter(c.box.centre[0], c.y, row, c) for row in rows for c in row]
    letters = sorted((p for p in letters if not p.character.text.isspace()), key=lambda p: p.x)
    if not letters:
        return list(runs)
    columns = [letter.x for letter in letters]
    fonts = EmbeddedFonts(page)
    for accent in accents:
        box = accent.cover(fonts.facts(accent.font, accent.glyph_id).ink or _INK)
        x, reach = box.centre[0], _REACH * accent.size
        around = range(bisect_left(columns, x - reach), bisect_right(columns, x + reach))
        _, place = min(
            (abs(letters[k].x - x) + abs(letters[k].y - accent.y), k)
            for k in around or range(len(letters))
        )
        nearest = letters[place]
        letter, row = nearest.character, nearest.row
        plain = unicodedata.normalize("NFD", letter.text)
        if plain == plain[0] + accent.text:  # MuPDF composed the two
            letter = replace(letter, text=plain[0])
        letters[place] = nearest._replace(character=letter)
        placed = replace(letter, **accent._asdict(), box=box, code=None, synthetic=False)
        index = row.index(nearest.character)
        row[index : index + 1] = [letter, placed]
    return [replace(run, characters=tuple(row)) for run, row in zip(runs, rows, strict=True)]


def _is_combining(glyph: PaintedGlyph | Character) -> bool:
    text = glyph.text
    return text >= _FIRST and unicodedata.category(text[0]) == "Mn" and is_sign_font(glyph.font)


# Signs assembled from several glyphs, of which the text layer has only the first.
#
# Typst gives the pieces of a tall bracket, of a bar or of a long arrow one replacement text.

_LEVEL = 0.02
"""Maximum offset between the origins of two pieces of one sign, in type sizes."""
_NEXT = 3.0
"""Maximum distance between the origins of two consecutive pieces, in type sizes."""
_MOST_SIGNS = 500
"""Maximum number of assembled signs of a page that are examined."""


def join_assembled(
    page: pymupdf.Page, runs: list[TextRun], glyphs: list[PaintedGlyph]
) -> tuple[list[TextRun], list[PaintedGlyph]]:
    """Give the first glyph of each assembled sign the box of the whole sign.

    Args:
        page: Page to read.
        runs: Lines of its text layer.
        glyphs: Glyphs that the page paints, in painting order.

    Returns:
        The runs, and the glyphs without the pieces after the first.
    """
    listed = {_place(c) for run in runs for c in run.characters}
    signs: list[list[PaintedGlyph]] = [[]]
    for glyph in glyphs:
        is_listed = _place(glyph) in listed
        if signs[-1] and not is_listed and _continues(signs[-1], glyph):
            signs[-1].append(glyph)
        else:
            signs.append([glyph] if is_listed else [])
    signs = [sign for sign in signs if len(sign) > 1][:_MOST_SIGNS]
    if not signs:
        return runs, glyphs
    fonts = EmbeddedFonts(page)
    boxes: dict[Place, Box] = {}
    for sign in signs:
        inks = [fonts.facts(glyph.font, glyph.glyph_id).ink for glyph in sign]
        covers = [glyph.cover(ink) for glyph, ink in zip(sign, inks, strict=True) if ink]
        if len(covers) == len(sign):  # else an outline is unknown
            boxes[_place(sign[0])] = unite(covers)
    taken = {glyph.serial for sign in signs for glyph in sign[1:]}

    def widen(character: Character) -> Character:
        box = boxes.get(_place(character))
        return replace(character, box=character.box.union(box)) if box else character

    widened = [replace(run, characters=tuple(map(widen, run.characters))) for run in runs]
    return widened, [glyph for glyph in glyphs if glyph.serial not in taken]


def _place(glyph: PaintedGlyph | Character) -> Place:
    return round(glyph.x, 1), round(glyph.y, 1)


def _continues(sign: Sequence[PaintedGlyph], glyph: PaintedGlyph) -> bool:
    across, along = abs(glyph.x - sign[-1].x), abs(glyph.y - sign[-1].y)
    return (
        glyph.text in (REPLACEMENT, sign[0].text)
        and glyph.font == sign[0].font
        and min(across, along) < _LEVEL * glyph.size
        and max(across, along) < _NEXT * glyph.size
    )
