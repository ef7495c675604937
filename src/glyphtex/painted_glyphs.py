"""Characters by what a page paints, where its text layer has none or a false one."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, starmap
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from glyphtex.boxes import Box
from glyphtex.font_programs import EmbeddedFonts
from glyphtex.marks import SEQUENCE, Glyph
from glyphtex.row_reader import SEEDS
from glyphtex.symbols import identify
from glyphtex.tree.parts import part_of_glyph
from glyphtex.units import is_math_font, is_sign_font, role_of

if TYPE_CHECKING:
    import pymupdf

    from glyphtex.text_layer import Character, TextRun


# Characters from a page's fonts where its text layer has none or a false one.

MATHJAX = "MathJax_"
"""Prefix for the names of unnamed mathematical fonts."""
REPLACEMENT = "\ufffd"
_ALPHABETS = "\u2102", "\u2134", "\U0001d400"
"""Range of letterlike symbols, and start of the mathematical alphabets."""
_BODY = 0.4
"""Minimum share of a page's characters in the font of its prose."""
_PRIVATE = "\ue000", "\uf8ff"


class TrueCharacters:
    """Characters from the fonts of a page."""

    def __init__(self, page: pymupdf.Page) -> None:
        self._fonts = EmbeddedFonts(page)

    def find(self, text: str, font: str, glyph_id: int | None, *, has_ink: bool) -> str:
        """Return the character of a glyph.

        Args:
            text: Character from the text layer; U+FFFD if it has none.
            font: Font name.
            glyph_id: Glyph number in the font; None if nothing was painted.
            has_ink: Whether the glyph has an outline: a space with ink is a false character.

        Returns:
            `text` unless the font contradicts it; U+FFFD if it is false and the font does not give
            the true one.
        """
        if glyph_id is None:
            return text
        if text.isspace():
            return self._ask(font, glyph_id) or REPLACEMENT if has_ink else text
        if text == REPLACEMENT or font.startswith(UNNAMED):
            return self._ask(font, glyph_id) or text
        return text

    def _ask(self, font: str, glyph_id: int) -> str | None:
        character = self._fonts.character(font, glyph_id)
        is_private = character is not None and _PRIVATE[0] <= character <= _PRIVATE[1]
        return None if is_private or not (character and character.strip()) else character


def find_unnamed_mathematics(characters: Iterable[tuple[str, str]]) -> set[str]:
    """Return the unnamed fonts with formulas: MathJax's, identified by at least one outline.

    Args:
        characters: Font and text of each character of a page.

    Returns:
        Font names, without one that sets most of a page's text.
    """
    pairs = list(characters)
    counts = Counter(font for font, _ in pairs)
    unnamed = {font for font in counts if font.startswith(UNNAMED)}
    low, high, first = _ALPHABETS
    if not any(low <= text <= high or text >= first for font, text in pairs if font in unnamed):
        return set()
    return {font for font in unnamed if counts[font] < _BODY * len(pairs)}


# Zero-width accents, which MuPDF moves next to their letters or loses.

_MOST = 500
"""Maximum number of accents of a page that are moved."""
_FIRST = "\u0300"
"""First combining character of Unicode."""
_INK = Box(0.05, 0.5, 0.45, 0.75)
"""Assumed position of an accent's ink if its font gives none, in type sizes."""


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
    accents = [glyph for glyph in glyphs if _is_combining(glyph.text, glyph.font)]
    if not 0 < len(accents) <= _MOST:
        return list(runs)
    rows = [[c for c in run.characters if not _is_combining(c.text, c.font)] for run in runs]
    letters = [_Letter(c.box.centre[0], c.y, row, c) for row in rows for c in row]
    letters = sorted((p for p in letters if not p.character.text.isspace()), key=lambda p: p.x)
    if not letters:
        return list(runs)
    columns = [letter.x for letter in letters]
    for accent, box in _find_ink(page, accents):
        place = _find_nearest(letters, columns, box.centre[0], accent.y)
        nearest = letters[place]
        letter, row = nearest.character, nearest.row
        character = replace(letter, **accent._asdict(), box=box, code=None, synthetic=False)
        plain = _without(letter, accent.text)
        letters[place] = nearest._replace(character=plain)
        index = row.index(letter)
        row[index : index + 1] = [plain, character]
    return [replace(run, characters=tuple(row)) for run, row in zip(runs, rows, strict=True)]


def _find_nearest(letters: Sequence[_Letter], columns: Sequence[float], x: float, y: float) -> int:
    """Return the index of the letter with the least sum of distances in x and y.

    Args:
        letters: From left to right.
        columns: Their positions.
        x: Position of the accent, in points.
        y: The same.
    """
    middle = bisect_left(columns, x)
    best, least = -1, inf
    for side in (range(middle, len(letters)), range(middle - 1, -1, -1)):
        for index in side:
            across = abs(columns[index] - x)
            if across > least:
                break
            distance = across + abs(letters[index].y - y)
            if distance < least:
                best, least = index, distance
    return best


def _without(letter: Character, accent: str) -> Character:
    """Return a letter without an accent that MuPDF composed with it."""
    plain = unicodedata.normalize("NFD", letter.text)
    return replace(letter, text=plain[0]) if plain == plain[0] + accent else letter


def _is_combining(text: str, font: str) -> bool:
    return text >= _FIRST and unicodedata.category(text[0]) == "Mn" and is_sign_font(font)


def _find_ink(
    page: pymupdf.Page, accents: Sequence[PaintedGlyph]
) -> Iterator[tuple[PaintedGlyph, Box]]:
    fonts = EmbeddedFonts(page)
    for glyph in accents:
        yield glyph, glyph.cover(fonts.facts(glyph.font, glyph.glyph_id).ink or _INK)


# Glyphs that a page paints, from MuPDF's trace, and those that lines of prose lack.

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


# Lines of prose that are far from all mathematics: their glyphs need not be examined.

UNNAMED = "Type3 ("
"""MuPDF's prefix of unnamed fonts."""
_MOST_LINES = 600
"""Maximum lines of a page that can be skipped: a page of a paper has fewer than 200."""
_MOST_PAIRS = 100_000
"""Maximum number of pairs of a line and a rule that are compared."""
_RAISED, _ITALIC = 1, 2
_LONE_LETTER = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_SAME_SIZE = 0.95
_SAME_BASELINE = 0.05
"""Maximum difference between the baselines of a line's spans, in type sizes."""
_NEAR = 2.5
"""Distance around mathematics within which a line can be part of it, in type sizes."""
_SCRIPT_ROWS = 1.2
"""Maximum distance between the baselines of a symbol and its script, in type sizes."""
_SCRIPT_GAP = 0.7
"""Maximum gap between a symbol and its script in one row, in type sizes."""

_Line = dict[str, Any]


def find_prose(lines: Sequence[_Line], marks: Iterable[Box]) -> list[bool]:
    """Return for each line whether it is prose far from all mathematics.

    Args:
        lines: Lines as MuPDF's `dict` lists them.
        marks: Boxes of level rules and drawn root signs, each a possible part of a formula.
    """
    boxes = list(marks)
    is_unusual = len(lines) > _MOST_LINES or len(lines) * len(boxes) > _MOST_PAIRS
    if is_unusual or any(s["font"].startswith(UNNAMED) for line in lines for s in line["spans"]):
        return [False] * len(lines)
    empty = _find_empty_fonts(lines)
    plain = [_is_plain(line, empty) for line in lines]
    _rule_out_scripts(lines, plain)
    _rule_out_marked(lines, boxes, plain)
    near = [_grow(line) for line, is_plain in zip(lines, plain, strict=True) if not is_plain]
    ranges = _merge_ranges(near)
    starts = [start for start, _ in ranges]
    return [_is_outside(line["bbox"], ranges, starts) for line in lines]


def _find_empty_fonts(lines: Sequence[_Line]) -> set[str]:
    """Find the fonts whose text is all spaces, such as Cambria Math of Word 2010."""
    blank: dict[str, bool] = {}
    for line in lines:
        for span in line["spans"]:
            font = span["font"]
            blank[font] = blank.get(font, True) and not span["text"].strip()
    return {font for font, is_blank in blank.items() if is_blank}


def _is_plain(line: _Line, empty: set[str]) -> bool:
    """Return whether a line has no certain mathematics."""
    spans = line["spans"]
    if not spans:
        return True
    size, y = spans[0]["size"], spans[0]["origin"][1]
    return all(
        _SAME_SIZE * size <= span["size"] <= size / _SAME_SIZE
        and abs(span["origin"][1] - y) <= _SAME_BASELINE * size
        and span["font"] not in empty
        and _is_plain_span(span["font"], span["text"], span["flags"])
        for span in spans
    )


def _is_plain_span(font: str, text: str, flags: int) -> bool:
    if flags & _RAISED or not _is_prose_font(font):
        return False
    if flags & _ITALIC and _LONE_LETTER.search(text):
        return False
    return all(_is_prose(font, character) for character in set(text))


@lru_cache(maxsize=4096)
def _is_prose_font(font: str) -> bool:
    return not is_math_font(font.rpartition("+")[2])


@lru_cache(maxsize=65536)
def _is_prose(font: str, character: str) -> bool:
    """Return whether a character in a font is part of words, not only of formulas."""
    if character.isspace():
        return True
    if character == "\ufffd":
        return False
    name = font.rpartition("+")[2]
    box = Box(0, 0, 5, 7)
    glyph = Glyph(0, character, identify(name, character), name, 10, 0, 7, box)
    return role_of(part_of_glyph(glyph)) != "math" and character not in SEEDS


def _rule_out_scripts(lines: Sequence[_Line], plain: list[bool]) -> None:
    """Mark lines of different sizes that are as near as a symbol and its script."""
    sizes = {round(span["size"]) for line in lines for span in line["spans"]}
    if len(sizes) < 2:
        return
    places = sorted(
        (line["spans"][0]["origin"][1], k) for k, line in enumerate(lines) if line["spans"]
    )
    largest = max(span["size"] for line in lines for span in line["spans"])
    for at, (y, k) in enumerate(places):
        for other_y, j in places[at + 1 :]:
            if other_y - y > _SCRIPT_ROWS * largest:
                break
            if (plain[k] or plain[j]) and _may_be_script(lines[k], lines[j], other_y - y):
                plain[k] = plain[j] = False


def _may_be_script(a: _Line, b: _Line, shift: float) -> bool:
    sizes = sorted((a["spans"][0]["size"], b["spans"][0]["size"]))
    reach = _SCRIPT_GAP * sizes[1]
    gap = max(a["bbox"][0], b["bbox"][0]) - min(a["bbox"][2], b["bbox"][2])
    is_smaller = sizes[0] < _SAME_SIZE * sizes[1]
    return bool(is_smaller and shift < _SCRIPT_ROWS * sizes[1] and gap < reach)


def _rule_out_marked(lines: Sequence[_Line], boxes: Sequence[Box], plain: list[bool]) -> None:
    """Mark lines next to a rule or a root sign."""
    if not boxes:
        return
    for k, line in enumerate(lines):
        if plain[k] and line["spans"]:
            size = line["spans"][0]["size"]
            around = Box(*line["bbox"]).grow(size, 0.8 * size)
            plain[k] = not any(around.touches(box) for box in boxes)


def _grow(line: _Line) -> tuple[float, float]:
    """Return the height range that a formula in this line can reach."""
    size = max((span["size"] for span in line["spans"]), default=10.0)
    origins = [span["origin"][1] for span in line["spans"]]
    low, high = min([line["bbox"][1], *origins]), max([line["bbox"][3], *origins])
    return low - _NEAR * size, high + _NEAR * size


def _merge_ranges(ranges: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


def _is_outside(
    bbox: tuple[float, ...], ranges: Sequence[tuple[float, float]], starts: Sequence[float]
) -> bool:
    place = bisect_left(starts, bbox[3])
    return place == 0 or bool(ranges[place - 1][1] < bbox[1])
