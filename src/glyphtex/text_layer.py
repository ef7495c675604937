"""Boxes of the ink of characters, from MuPDF's XML listing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from glyphtex.boxes import Box, unite
from glyphtex.font_programs import EmbeddedFonts
from glyphtex.painted_glyphs import (
    MATHJAX,
    REPLACEMENT,
    UNNAMED,
    PaintedAt,
    PaintedGlyph,
    ProseLines,
    TrueCharacters,
    find_missing,
    find_prose,
    find_unnamed_mathematics,
    list_painted,
    place_combining,
)

if TYPE_CHECKING:
    import pymupdf


_QUAD = re.compile(r'<char c="[^"]*"(?: hexc="[^"]*")? quad="([^"]*)" x="([^"]*)" y="([^"]*)"')
_MOST_BEYOND = 200
"""Maximum number of consecutive characters that one listing may lack."""
_NEAR = 0.01
"""Maximum difference between the positions of a character in two listings, in points."""


class InkBoxes:
    """Boxes of a listing in its order; `rawdict` omits those beyond the page.

    Args:
        listing: XML of a text page with accurate boxes.
    """

    def __init__(self, listing: str) -> None:
        self._rows = [(float(x), float(y), quad) for quad, x, y in _QUAD.findall(listing)]
        self._place = 0

    def skip(self, count: int) -> None:
        """Leave out the next characters."""
        self._place += count

    def find(self, x: float, y: float) -> Box | None:
        """Return the box of the next character whose origin is (x, y)."""
        rows, place = self._rows, self._place
        for k in range(place, min(place + _MOST_BEYOND, len(rows))):
            at_x, at_y, quad = rows[k]
            if -_NEAR < at_x - x < _NEAR and -_NEAR < at_y - y < _NEAR:
                self._place = k + 1
                return _bound(quad)
        return None


def _bound(quad: str) -> Box:
    """Return the box of a quadrilateral, written as upper left, upper right, lower left and right
    corner."""
    numbers = quad.split()
    left, top, right, _, _, bottom, _, _ = numbers
    if numbers == [left, top, right, top, left, bottom, right, bottom]:
        x0, y0, x1, y1 = float(left), float(top), float(right), float(bottom)
        if x0 <= x1 and y0 <= y1:
            return Box(x0, y0, x1, y1)
    xs, ys = list(map(float, numbers[::2])), list(map(float, numbers[1::2]))
    return Box(min(xs), min(ys), max(xs), max(ys))


# Signs assembled from several glyphs, of which the text layer has only the first.
#
# Typst gives the pieces of a tall bracket, of a bar or of a long arrow one replacement text.

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
        boxes.append(glyph.cover(ink))
    return unite(boxes)


def _widen(character: Character, boxes: dict[Place, Box | None]) -> Character:
    box = boxes.get(_place(character.x, character.y))
    return character if box is None else replace(character, box=character.box.union(box))


# Characters of a text layer with all facts from MuPDF, in one typed row.
#
# Three listings of a page are combined: `rawdict` has lines, spans and fonts, `xml` the boxes of
# the ink (the only listing with them), and the trace glyph ids and the painting order.

MAX_CHARACTERS = 20_000
"""Maximum number of characters of a page that is searched for formulas. A page of a paper has
1,000 to 4,000.
"""
_CODE_FLAG = 128
"""Flag of a span whose characters are font codes without Unicode."""
_ITALIC, _BOLD = 2, 16
_INK = 0.1
"""Points: a lower or narrower glyph has no ink, such as a space."""
_SELECTORS = "\ufe00", "\ufe0f"
"""Variation selectors: they choose a form of the letter before them and paint nothing."""


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


def read_characters(page: pymupdf.Page, marks: Iterable[Box] | None = None) -> LayerCharacters:
    """Read every character of a page's text layer.

    Args:
        page: The page, its rotation removed.
        marks: Boxes of rules and drawn root signs. If given, lines of prose far from all
            mathematics are listed without their characters.

    Returns:
        The lines in the order of the text layer, with spaces.
    """
    import pymupdf

    flags = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_PRESERVE_LIGATURES
    lines: list[dict[str, Any]] = []
    prose: list[bool] = []
    if marks is not None:
        lines = _list_lines(page.get_textpage(flags=flags).extractDICT())
        prose = find_prose(lines, marks)
        if all(prose) and sum(len(s["text"]) for li in lines for s in li["spans"]) < MAX_CHARACTERS:
            return _read_prose(page, lines)
    flags |= pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
    raw = page.get_textpage(flags=flags).extractRAWDICT()
    if _count(raw) > MAX_CHARACTERS:
        plain = [_plain_run(line) for line in _list_lines(raw)]
        return LayerCharacters(plain, [])
    # Lines keep their type boxes: ink boxes come from a separate listing.
    accurate = page.get_textpage(flags=flags | pymupdf.TEXT_ACCURATE_BBOXES)
    raw_lines = _list_lines(raw)
    skipped = {
        number: line
        for number, (line, is_prose) in enumerate(zip(lines, prose, strict=True))
        if is_prose and number < len(raw_lines) and raw_lines[number]["bbox"] == line["bbox"]
    }
    elsewhere = ProseLines(skipped.values())
    glyphs = list_painted(page, elsewhere)
    reader = _LineReader(page, glyphs, InkBoxes(accurate.extractXML()))
    runs = [
        reader.skip(line, skipped[number]) if number in skipped else reader.read(line)
        for number, line in enumerate(raw_lines)
    ]
    runs, glyphs = join_assembled(page, place_combining(page, runs, glyphs), glyphs)
    return LayerCharacters(_name_fonts(runs), find_missing(glyphs, elsewhere))


def _read_prose(page: pymupdf.Page, lines: Sequence[dict[str, Any]]) -> LayerCharacters:
    """Return a page of prose: its lines, and the glyphs that they lack."""
    prose = ProseLines(lines)
    missing = find_missing(list_painted(page, prose), prose)
    return LayerCharacters([_prose_run(line) for line in lines], missing)


class _LineReader:
    """Reader of the lines of a page in order, which combines the three listings."""

    def __init__(self, page: pymupdf.Page, glyphs: Sequence[PaintedGlyph], boxes: InkBoxes) -> None:
        self._painted = PaintedAt(glyphs)
        self._fonts = TrueCharacters(page)
        self._boxes = boxes
        self._serial = 0

    def skip(self, line: dict[str, Any], prose: dict[str, Any]) -> TextRun:
        """Return a line of prose, given as `rawdict` and as `dict` list it."""
        self._boxes.skip(sum(len(span["chars"]) for span in line["spans"]))
        return _prose_run(prose)

    def read(self, line: dict[str, Any]) -> TextRun:
        """Return a line with all its characters."""
        characters: list[Character] = []
        for span in line["spans"]:
            characters += self._read_span(span)
        return TextRun(line, tuple(characters))

    def _read_span(self, span: dict[str, Any]) -> Iterator[Character]:
        font, size, flags = span["font"].rpartition("+")[2], span["size"], span["flags"]
        has_codes = bool(span["char_flags"] & _CODE_FLAG)
        italic, bold = bool(flags & _ITALIC), bool(flags & _BOLD)
        find_painted, find_box, fonts = self._painted.find, self._boxes.find, self._fonts
        is_named = not font.startswith(UNNAMED)
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
            box = find_box(x, y) or Box(*char["bbox"])
            code = ord(text) if is_code else None
            text = REPLACEMENT if is_code else text
            glyph_id = painted.glyph_id if painted and not synthetic else None
            if glyph_id is not None and (is_code or not is_named or text.isspace()):
                has_ink = min(box.width, box.height) > _INK
                text = fonts.find(text, font, glyph_id, has_ink=has_ink)
            yield Character(
                self._serial, text, font, size, x, y, box, code, glyph_id, italic, bold, synthetic
            )


def _list_lines(listing: dict[str, Any]) -> list[dict[str, Any]]:
    return [line for block in listing["blocks"] for line in block.get("lines", ())]


def _count(raw: dict[str, Any]) -> int:
    return sum(len(span["chars"]) for line in _list_lines(raw) for span in line["spans"])


def _prose_run(line: dict[str, Any]) -> TextRun:
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


def _plain_run(line: dict[str, Any]) -> TextRun:
    """Return a line of a page with too many characters: only its text, no glyphs."""
    return TextRun(
        line,
        tuple(
            Character(
                serial=0,
                text=REPLACEMENT if span["char_flags"] & _CODE_FLAG else char["c"],
                font=span["font"],
                size=span["size"],
                x=char["origin"][0],
                y=char["origin"][1],
                box=Box(*char["bbox"]),
            )
            for span in line["spans"]
            for char in span["chars"]
        ),
    )


def _name_fonts(runs: list[TextRun]) -> list[TextRun]:
    """Return the runs, with a mathematical name for unnamed fonts that contain mathematics."""
    fonts = {span["font"] for run in runs for span in run.raw["spans"]}
    if not any(font.startswith(UNNAMED) for font in fonts):
        return runs
    unnamed = find_unnamed_mathematics((c.font, c.text) for run in runs for c in run.characters)
    if not unnamed:
        return runs

    def rename(character: Character) -> Character:
        is_renamed = character.font in unnamed
        return replace(character, font=MATHJAX + character.font) if is_renamed else character

    return [replace(run, characters=tuple(map(rename, run.characters))) for run in runs]
