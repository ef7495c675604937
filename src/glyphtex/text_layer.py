"""Characters of a text layer with all facts from MuPDF, in one typed row.

Three listings of a page are combined: `dict` has the lines with the boxes of their type, `rawdict`
the characters with the boxes of their ink, and the trace the glyphs that are painted: their ids and
order, accents, the parts of assembled signs, and those that the text layer lacks.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from glyphtex.font_programs import UNNAMED, EmbeddedFonts
from glyphtex.marks import SEQUENCE, Box, Glyph, is_math_font, is_sign_font, role_of, unite
from glyphtex.row_reader import SEEDS
from glyphtex.symbols import identify
from glyphtex.tree.parts import part_of_glyph

if TYPE_CHECKING:
    import pymupdf


MAX_CHARACTERS = 20_000
"""Maximum number of characters of a page that is searched for formulas. A page of a paper has
1,000 to 4,000.
"""
_MATHJAX = "MathJax_"
"""Prefix for the names of unnamed mathematical fonts."""
_ALPHABETS = "\u2102", "\u2134", "\U0001d400"
"""Range of letterlike symbols, and start of the mathematical alphabets."""
_BODY = 0.4
"""Minimum share of a page's characters in the font of its prose."""
_CODE_FLAG = 128
"""Flag of a span whose characters are font codes without Unicode."""
_RAISED, _ITALIC, _BOLD = 1, 2, 16
_INK = 0.1
"""Points: a lower or narrower glyph has no ink, such as a space."""
_SELECTORS = "\ufe00", "\ufe0f"
"""Variation selectors: they choose a form of the letter before them and paint nothing."""

_Line = dict[str, Any]


@dataclass(slots=True, unsafe_hash=True)
class Character:
    """Character of a line of the text layer.

    `box` is the vertical extent of its ink and its horizontal advance. `code` is the font's code if
    no Unicode is known, and `glyph_id` the glyph's number in the font.
    """

    serial: int
    text: str
    font: str
    size: float
    x: float
    y: float
    box: Box
    code: int | None = None
    glyph_id: int | None = None
    italic: bool = False
    bold: bool = False
    synthetic: bool = False
    """Whether it is a space that MuPDF inserted into a gap."""


@dataclass(frozen=True, slots=True)
class TextRun:
    """Line of the text layer as MuPDF forms it, with the span of each character."""

    raw: dict[str, Any]
    characters: tuple[Character, ...]
    is_prose: bool = False
    """Whether it is far from all mathematics: only its last character is listed."""


class LayerCharacters(NamedTuple):
    """Lines of a text layer, and the glyphs that the page paints.

    `painted` is empty for a page with too many characters, and lacks the glyphs of prose runs.
    """

    runs: list[TextRun]
    painted: list[PaintedGlyph]


def read_characters(page: pymupdf.Page, marks: Iterable[Box]) -> LayerCharacters:
    """Read the characters of a page's text layer.

    Args:
        page: The page, its rotation removed.
        marks: Boxes of level rules and drawn root signs, each a possible part of a formula.

    Returns:
        The lines in the order of the text layer, with spaces; those of prose far from all
        mathematics without their characters.
    """
    import pymupdf

    flags = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_PRESERVE_LIGATURES
    lines = _list_lines(page.get_textpage(flags=flags).extractDICT())
    is_large = sum(len(span["text"]) for li in lines for span in li["spans"]) > MAX_CHARACTERS
    prose = [False] * len(lines) if is_large else find_prose(lines, marks)
    elsewhere = ProseLines(line for line, is_prose in zip(lines, prose, strict=True) if is_prose)
    glyphs = [] if is_large else list_painted(page, elsewhere)
    if all(prose):
        runs = [_prose_run(line) for line in lines]
        return LayerCharacters(runs, find_missing(glyphs, elsewhere))
    reader = _LineReader(page, glyphs)
    runs = []
    flags |= pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
    accurate = 0 if is_large else pymupdf.TEXT_ACCURATE_BBOXES  # boxes of ink take time
    inked = _RawLines(page, flags | accurate)
    typed = _RawLines(page, flags)
    for line, is_prose in zip(lines, prose, strict=True):
        ink = inked.take(line)
        if ink is None and not _has_text(line):
            continue
        if is_prose:
            runs.append(_prose_run(line))
        elif raw := ink or typed.take(line):
            characters = reader.read(raw, has_ink=ink is not None)
            runs.append(TextRun(raw | {"bbox": line["bbox"]}, characters))
    if is_large:
        return LayerCharacters(runs, [])
    runs, glyphs = join_assembled(page, place_combining(page, runs, glyphs), glyphs)
    return LayerCharacters(_name_fonts(runs), find_missing(glyphs, elsewhere))


class _RawLines:
    """Lines of a page with their characters, listed when the first is asked for.

    With TEXT_ACCURATE_BBOXES the boxes are those of the ink, and lines without ink are left out.
    """

    def __init__(self, page: pymupdf.Page, flags: int) -> None:
        self._page, self._flags = page, flags

    def take(self, line: _Line) -> _Line | None:
        """Return the next line that begins as one of `dict` does."""
        lines = self._lines.get(_start(line))
        return lines.popleft() if lines else None

    @cached_property
    def _lines(self) -> dict[object, deque[_Line]]:
        import pymupdf

        corrections = pymupdf.TOOLS.unset_quad_corrections()
        try:
            pymupdf.TOOLS.unset_quad_corrections(True)  # else the boxes are those of the type
            listing = self._page.get_textpage(flags=self._flags).extractRAWDICT()
        finally:
            pymupdf.TOOLS.unset_quad_corrections(corrections)
        lines: dict[object, deque[_Line]] = {}
        for line in _list_lines(listing):
            lines.setdefault(_start(line), deque()).append(line)
        return lines


def _list_lines(listing: dict[str, Any]) -> list[_Line]:
    return [line for block in listing["blocks"] for line in block.get("lines", ())]


def _start(line: _Line) -> object:
    """Return what tells a line from others, of which some can begin at the same point."""
    first = line["spans"][0] if line["spans"] else {}
    return first.get("origin"), first.get("font"), line["dir"], _has_text(line)


def _has_text(line: _Line) -> bool:
    return any(
        span["text"].strip() if "text" in span else any(c["c"].strip() for c in span["chars"])
        for span in line["spans"]
    )


class _LineReader:
    """Reader of the lines of a page in their order, which adds what the trace knows."""

    def __init__(self, page: pymupdf.Page, glyphs: Sequence[PaintedGlyph]) -> None:
        self._painted = PaintedAt(glyphs)
        self._fonts = EmbeddedFonts(page)
        self._serial = 0

    def read(self, line: _Line, *, has_ink: bool) -> tuple[Character, ...]:
        """Return all characters of a line; `has_ink` is whether their boxes are those of ink."""
        return tuple(c for span in line["spans"] for c in self._read_span(span, has_ink))

    def _read_span(self, span: dict[str, Any], has_ink: bool) -> Iterator[Character]:
        font, size, flags = span["font"].rpartition("+")[2], span["size"], span["flags"]
        has_codes = bool(span["char_flags"] & _CODE_FLAG)
        italic, bold = bool(flags & _ITALIC), bool(flags & _BOLD)
        find_painted, is_named = self._painted.find, not font.startswith(UNNAMED)
        for char in span["chars"]:
            origin, text, synthetic = char["origin"], char["c"], char["synthetic"]
            if _SELECTORS[0] <= text <= _SELECTORS[1]:
                continue
            x, y = origin
            painted = find_painted(origin, text)
            # The flag of a span is that of its first character: the trace knows each. A space
            # that MuPDF puts in has no glyph.
            is_code = painted.text == REPLACEMENT if painted else has_codes and text != " "
            self._serial = painted.serial if painted else self._serial + 1
            box = Box(*char["bbox"])
            code = ord(text) if is_code else None
            text = REPLACEMENT if is_code else text
            glyph_id = painted.glyph_id if painted and not synthetic else None
            if glyph_id is not None:
                if text.isspace():
                    if has_ink and min(box.width, box.height) > _INK:  # a false character
                        text = self._fonts.character(font, glyph_id) or REPLACEMENT
                elif is_code or not is_named:
                    text = self._fonts.character(font, glyph_id) or text
            yield Character(
                self._serial, text, font, size, x, y, box, code, glyph_id, italic, bold, synthetic
            )


def _prose_run(line: _Line) -> TextRun:
    """Return a line from `dict` with its last character, after which a formula can follow."""
    x0, y0, _, y1 = line["bbox"]
    spans = [span for span in line["spans"] if span["text"].strip()]
    if not spans:
        return TextRun(line, (), is_prose=True)
    last = spans[-1]
    end, y = last["bbox"][2], last["origin"][1]
    box = Box(max(x0, end - last["size"]), y0, end, y1)
    text = last["text"].rstrip()[-1]
    character = Character(0, text, last["font"], last["size"], box.x0, y, box)
    return TextRun(line, (character,), is_prose=True)


def _name_fonts(runs: list[TextRun]) -> list[TextRun]:
    """Return the runs, with a mathematical name for unnamed fonts that contain mathematics.

    These are MathJax's, identified by at least one outline, without one that sets most of the text.
    """
    characters = [c for run in runs for c in run.characters]
    counts = Counter(c.font for c in characters)
    unnamed = {font for font in counts if font.startswith(UNNAMED)}
    low, high, first = _ALPHABETS
    if not any(low <= c.text <= high or c.text >= first for c in characters if c.font in unnamed):
        return runs
    unnamed = {font for font in unnamed if counts[font] < _BODY * len(characters)}

    def rename(character: Character) -> Character:
        is_renamed = character.font in unnamed
        return replace(character, font=_MATHJAX + character.font) if is_renamed else character

    return [replace(run, characters=tuple(map(rename, run.characters))) for run in runs]


# Glyphs that a page paints, from MuPDF's trace.

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
_ASSUMED_INK = Box(0.05, 0.5, 0.45, 0.75)
"""Assumed position of an accent's ink if its font gives none, in type sizes."""
_ACCENT_REACH = 3.0
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
        box = accent.cover(fonts.facts(accent.font, accent.glyph_id).ink or _ASSUMED_INK)
        x, reach = box.centre[0], _ACCENT_REACH * accent.size
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


# Lines of prose that are far from all mathematics: their glyphs need not be examined.

_MOST_LINES = 600
"""Maximum lines of a page that can be skipped: a page of a paper has fewer than 200."""
_LONE_LETTER = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_SAME_SIZE = 0.95
_SAME_BASELINE = 0.05
"""Maximum difference between the baselines of a line's spans, in type sizes."""
_NEAR = 2.5
"""Distance around mathematics within which a line can be part of it, in type sizes."""
_BESIDE_MARK = 4.5
"""The same around a rule or a root sign, next to which a line can be mathematics."""
_SCRIPT_ROWS = 1.2
"""Maximum distance between the baselines of a symbol and its script, in type sizes."""
_SCRIPT_GAP = 0.7
"""Maximum gap between a symbol and its script in one row, in type sizes."""


def find_prose(lines: Sequence[_Line], marks: Iterable[Box]) -> list[bool]:
    """Return for each line whether it is prose far from all mathematics.

    Args:
        lines: Lines as MuPDF's `dict` lists them.
        marks: Boxes of level rules and drawn root signs, each a possible part of a formula.
    """
    spans = [span for line in lines for span in line["spans"]]
    fonts = {span["font"] for span in spans}
    if len(lines) > _MOST_LINES or any(font.startswith(UNNAMED) for font in fonts):
        return [False] * len(lines)
    # Fonts whose text is all spaces, such as Cambria Math of Word 2010, may print formulas.
    empty = fonts - {span["font"] for span in spans if span["text"].strip()}
    plain = [_is_plain(line["spans"], empty) for line in lines]
    _rule_out_scripts(lines, plain)
    reach = _BESIDE_MARK * max((span["size"] for span in spans), default=0.0)
    near = [_grow(line) for line, is_plain in zip(lines, plain, strict=True) if not is_plain]
    near += [(mark.y0 - reach, mark.y1 + reach) for mark in marks]
    ends: list[float] = []  # of the ranges of height, where those that overlap are one
    starts: list[float] = []
    for low, high in sorted(near):
        if ends and low <= ends[-1]:
            ends[-1] = max(ends[-1], high)
        else:
            starts.append(low)
            ends.append(high)
    ends.insert(0, -inf)
    return [ends[bisect_left(starts, line["bbox"][3])] < line["bbox"][1] for line in lines]


def _is_plain(spans: Sequence[dict[str, Any]], empty: set[str]) -> bool:
    """Return whether a line has no certain mathematics."""
    if not spans:
        return True
    size, y = spans[0]["size"], spans[0]["origin"][1]
    return all(
        _SAME_SIZE * size <= span["size"] <= size / _SAME_SIZE
        and abs(span["origin"][1] - y) <= _SAME_BASELINE * size
        and span["font"] not in empty
        and not span["flags"] & _RAISED
        and _is_prose_font(span["font"])
        and not (span["flags"] & _ITALIC and _LONE_LETTER.search(span["text"]))
        and all(_is_prose(span["font"], character) for character in set(span["text"]))
        for span in spans
    )


@lru_cache(maxsize=4096)
def _is_prose_font(font: str) -> bool:
    return not is_math_font(font.rpartition("+")[2])


@lru_cache(maxsize=65536)
def _is_prose(font: str, character: str) -> bool:
    """Return whether a character in a font is part of words, not only of formulas."""
    if character.isspace():
        return True
    if character == REPLACEMENT:
        return False
    name = font.rpartition("+")[2]
    box = Box(0, 0, 5, 7)
    glyph = Glyph(0, character, identify(name, character), name, 10, 0, 7, box)
    return role_of(part_of_glyph(glyph)) != "math" and character not in SEEDS


def _rule_out_scripts(lines: Sequence[_Line], plain: list[bool]) -> None:
    """Mark lines of different sizes that are as near as a symbol and its script."""
    rows = sorted(
        (first["origin"][1], first["size"], *line["bbox"][::2], k)
        for k, line in enumerate(lines)
        for first in line["spans"][:1]
    )
    if len({round(size) for _, size, *_ in rows}) < 2:
        return
    largest = max(size for _, size, *_ in rows)
    for at, (y, size, x0, x1, k) in enumerate(rows):
        for other_y, other_size, left, right, j in rows[at + 1 :]:
            if other_y - y > _SCRIPT_ROWS * largest:
                break
            small, large = sorted((size, other_size))
            is_in_reach = small < _SAME_SIZE * large and other_y - y < _SCRIPT_ROWS * large
            if is_in_reach and max(x0, left) - min(x1, right) < _SCRIPT_GAP * large:
                plain[k] = plain[j] = False


def _grow(line: _Line) -> tuple[float, float]:
    """Return the height range that a formula in this line can reach."""
    size = max((span["size"] for span in line["spans"]), default=10.0)
    origins = [span["origin"][1] for span in line["spans"]]
    low, high = min([line["bbox"][1], *origins]), max([line["bbox"][3], *origins])
    return low - _NEAR * size, high + _NEAR * size
