"""Characters of a text layer with all facts from MuPDF, in one typed row.

Three listings of a page are combined: `rawdict` has lines, spans and fonts, `xml` the boxes of
the ink (the only listing with them), and the trace glyph ids and the painting order.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.stages.ocr.formulas.glyphs.combining import PaintedGlyph, place_combining
from omibench.stages.ocr.formulas.glyphs.prose import find_prose
from omibench.stages.ocr.formulas.glyphs.true_characters import (
    MATHJAX,
    REPLACEMENT,
    TrueCharacters,
    find_unnamed_mathematics,
)
from omibench.stages.ocr.layout.layout import Box

if TYPE_CHECKING:
    import pymupdf

SEQUENCE = 10_000
"""Serial numbers between two consecutively painted objects."""
_QUAD = re.compile(r'<char c="[^"]*"(?: hexc="[^"]*")? quad="([^"]*)" x="([^"]*)" y="([^"]*)"')
MAX_CHARACTERS = 20_000
"""Maximum number of characters of a page that is searched for formulas. A page of a paper has
1,000 to 4,000.
"""
_CODE_FLAG = 128
"""Flag of a span whose characters are font codes without Unicode."""
_ITALIC, _BOLD = 2, 16
_INK = 0.1
"""Points: a lower or narrower glyph has no ink, such as a space."""
_SOFT_HYPHEN, _HYPHENS = "\u00ad", "-\u2010"
_CELL = 12.0
"""Height of the bands in which lines are looked up, in points."""
_MOST_BEYOND = 200
"""Maximum number of consecutive characters that one listing may lack."""


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


def read_runs(page: pymupdf.Page) -> list[TextRun]:
    """Read every line of a page's text layer, as `read_characters` does."""
    return read_characters(page).runs


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
            runs = [_prose_run(line) for line in lines]
            return LayerCharacters(runs, find_missing(_find_painted(page), lines))
    flags |= pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
    raw = page.get_textpage(flags=flags).extractRAWDICT()
    if _count(raw) > MAX_CHARACTERS:
        plain = [_plain_run(line) for line in _list_lines(raw)]
        return LayerCharacters(plain, [])
    # Lines keep their type boxes: ink boxes come from a separate listing.
    accurate = page.get_textpage(flags=flags | pymupdf.TEXT_ACCURATE_BBOXES)
    boxes = _InkBoxes(accurate.extractXML())
    glyphs = _find_painted(page)
    trace = {(round(g.x, 1), round(g.y, 1)): g for g in glyphs}
    twins = _find_twins(glyphs) if len(trace) < len(glyphs) else {}
    fonts = TrueCharacters(page)
    runs, serial = [], 0
    skipped: list[dict[str, Any]] = []
    for number, line in enumerate(_list_lines(raw)):
        if number < len(prose) and prose[number] and lines[number]["bbox"] == line["bbox"]:
            runs.append(_prose_run(lines[number]))
            skipped.append(lines[number])
            boxes.place += sum(len(span["chars"]) for span in line["spans"])
            continue
        characters = []
        for span in line["spans"]:
            font = span["font"].rpartition("+")[2]
            has_codes = bool(span["char_flags"] & _CODE_FLAG)
            for char in span["chars"]:
                x, y = char["origin"]
                place = round(x, 1), round(y, 1)
                painted = trace.get(place)
                if place in twins:
                    painted = twins[place].get(char["c"]) or twins[place].get(REPLACEMENT, painted)
                # The flag of a span is that of its first character: the trace knows each. A space
                # that MuPDF puts in has no glyph.
                is_code = painted.text == REPLACEMENT if painted else has_codes and char["c"] != " "
                serial = painted.serial if painted else serial + 1
                box = boxes.find(x, y) or Box(*char["bbox"])
                glyph_id = painted.glyph_id if painted and not char["synthetic"] else None
                text = fonts.find(
                    REPLACEMENT if is_code else char["c"],
                    font,
                    glyph_id,
                    has_ink=min(box.width, box.height) > _INK,
                )
                characters.append(
                    Character(
                        serial=serial,
                        text=text,
                        font=font,
                        size=span["size"],
                        x=x,
                        y=y,
                        box=box,
                        code=ord(char["c"]) if is_code else None,
                        glyph_id=glyph_id,
                        italic=bool(span["flags"] & _ITALIC),
                        bold=bool(span["flags"] & _BOLD),
                        synthetic=char["synthetic"],
                    )
                )
        runs.append(TextRun(line, tuple(characters)))
    painted_elsewhere = find_missing(glyphs, skipped)
    return LayerCharacters(_name_fonts(place_combining(page, runs, glyphs)), painted_elsewhere)


def _find_twins(
    glyphs: Sequence[PaintedGlyph],
) -> dict[tuple[float, float], dict[str, PaintedGlyph]]:
    """Return the glyphs that share an origin, such as the parts of TeX's `\\mapsto`, by text."""
    groups: defaultdict[tuple[float, float], list[PaintedGlyph]] = defaultdict(list)
    for glyph in glyphs:
        groups[round(glyph.x, 1), round(glyph.y, 1)].append(glyph)
    return {
        place: {glyph.text: glyph for glyph in group}
        for place, group in groups.items()
        if len({glyph.glyph_id for glyph in group}) > 1
    }


def find_missing(
    glyphs: Sequence[PaintedGlyph], lines: Sequence[dict[str, Any]]
) -> list[PaintedGlyph]:
    """Return the glyphs that are in none of the lines: not in the box of one with their text."""
    cells: defaultdict[int, list[tuple[float, float, float, float, set[str]]]] = defaultdict(list)
    for line in lines:
        x0, y0, x1, y1 = line["bbox"]
        texts = {character for span in line["spans"] for character in span["text"]}
        if _SOFT_HYPHEN in texts:  # painted as a hyphen at the end of a line
            texts |= set(_HYPHENS)
        for cell in range(int(y0 // _CELL), int(y1 // _CELL) + 1):
            cells[cell].append((x0 - 1, y0 - 1, x1 + 1, y1 + 1, texts))
    return [
        glyph
        for glyph in glyphs
        if not any(
            x0 <= glyph.x <= x1 and y0 <= glyph.y <= y1 and _is_in(glyph, texts)
            for x0, y0, x1, y1, texts in cells.get(int(glyph.y // _CELL), ())
        )
    ]


def _is_in(glyph: PaintedGlyph, texts: set[str]) -> bool:
    """Return whether a line has a glyph: lines have the letters of a ligature."""
    return glyph.text in texts or set(unicodedata.normalize("NFKC", glyph.text)) <= texts


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
    unnamed = find_unnamed_mathematics((c.font, c.text) for run in runs for c in run.characters)
    if not unnamed:
        return runs
    return [
        TextRun(
            run.raw,
            tuple(
                replace(c, font=MATHJAX + c.font) if c.font in unnamed else c
                for c in run.characters
            ),
        )
        for run in runs
    ]


class _InkBoxes:
    """Return the boxes of the listing in its order; `rawdict` omits those beyond the page."""

    def __init__(self, listing: str) -> None:
        self.rows = [(float(x), float(y), quad) for quad, x, y in _QUAD.findall(listing)]
        self.place = 0

    def find(self, x: float, y: float) -> Box | None:
        """Return the box of the next character whose origin is (x, y)."""
        for k in range(self.place, min(self.place + _MOST_BEYOND, len(self.rows))):
            at_x, at_y, quad = self.rows[k]
            if abs(at_x - x) < 0.01 and abs(at_y - y) < 0.01:
                self.place = k + 1
                x0, y0, x1, y1, x2, y2, x3, y3 = map(float, quad.split())
                if x0 == x2 <= x1 == x3 and y0 == y1 <= y2 == y3:
                    return Box(x0, y0, x1, y2)
                return Box(
                    min(x0, x1, x2, x3),
                    min(y0, y1, y2, y3),
                    max(x0, x1, x2, x3),
                    max(y0, y1, y2, y3),
                )
        return None


def _find_painted(page: pymupdf.Page) -> list[PaintedGlyph]:
    """Return the glyphs that the page paints, numbered in painting order."""
    glyphs: list[PaintedGlyph] = []
    count, latest = 0, -1
    for span in page.get_texttrace():
        number = span["seqno"]
        if number != latest:  # The spans of one text object have one number.
            count, latest = 0, number
        name, size = span["font"].rpartition("+")[2], span["size"]
        for point, glyph_id, (x, y), _ in span["chars"]:
            if glyph_id >= 0:
                serial = number * SEQUENCE + min(count, SEQUENCE - 1)
                text = chr(point) if point > 0 else REPLACEMENT
                glyphs.append(PaintedGlyph(serial, text, name, size, x, y, glyph_id))
            count += 1
    return glyphs
