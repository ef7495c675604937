"""The characters of a text layer with everything that MuPDF knows of each, in one typed row.

Three listings of one page are put together: `rawdict` has lines, spans and fonts, `xml` the boxes
of the ink (the only listing that has them), and the trace glyph ids and the order of painting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omibench.stages.ocr.formulas.reading.combining import PaintedGlyph, place_combining
from omibench.stages.ocr.formulas.reading.true_characters import (
    MATHJAX,
    REPLACEMENT,
    TrueCharacters,
    find_unnamed_mathematics,
)
from omibench.stages.ocr.layout.layout import Box

if TYPE_CHECKING:
    import pymupdf

SEQUENCE = 10_000
"""Serial numbers between two things that a page paints one after the other."""
_QUAD = re.compile(r'<char c="[^"]*"(?: hexc="[^"]*")? quad="([^"]*)" x="([^"]*)" y="([^"]*)"')
MAX_CHARACTERS = 20_000
"""Characters of a page beyond which no formula is looked for. A page of a paper has 1,000 to
4,000."""
_CODE_FLAG = 128
"""The flag of a span whose characters are codes of the font: no Unicode is known for them."""
_ITALIC, _BOLD = 2, 16
_INK = 0.1
"""Points: a glyph that is lower or narrower has no ink, as a space has none."""
_MOST_BEYOND = 200
"""Characters in a row that one listing may lack."""


@dataclass(frozen=True, slots=True)
class Character:
    """One character of a line of the text layer.

    `box` is where its ink is from top to bottom, and its advance from left to right. `code` is the
    font's own where no Unicode is known for it, and `glyph_id` the glyph's number in the font.
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
    """A space that MuPDF has put in, since there is room for one."""


@dataclass(frozen=True, slots=True)
class TextRun:
    """A line of the text layer as MuPDF forms it, with the span of each of its characters."""

    raw: dict[str, Any]
    characters: tuple[Character, ...]


def read_runs(page: pymupdf.Page) -> list[TextRun]:
    """Every line of a page's text layer.

    Args:
        page: The page, its rotation removed.

    Returns:
        The lines in the order of the text layer, with spaces.
    """
    import pymupdf

    flags = (
        pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_PRESERVE_LIGATURES
    ) | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
    raw = page.get_textpage(flags=flags).extractRAWDICT()
    if _count(raw) > MAX_CHARACTERS:
        return [_plain_run(line) for block in raw["blocks"] for line in block.get("lines", ())]
    # Lines keep the boxes of their type: where the ink is, is asked for apart.
    accurate = page.get_textpage(flags=flags | pymupdf.TEXT_ACCURATE_BBOXES)
    boxes = _InkBoxes(accurate.extractXML())
    glyphs = _find_painted(page)
    trace = {(round(g.x, 1), round(g.y, 1)): g for g in glyphs}
    fonts = TrueCharacters(page)
    runs, serial = [], 0
    for line in (line for block in raw["blocks"] for line in block.get("lines", ())):
        characters = []
        for span in line["spans"]:
            font = span["font"].rpartition("+")[2]
            has_codes = bool(span["char_flags"] & _CODE_FLAG)
            for char in span["chars"]:
                x, y = char["origin"]
                painted = trace.get((round(x, 1), round(y, 1)))
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
    return _name_fonts(place_combining(page, runs, glyphs))


def _count(raw: dict[str, Any]) -> int:
    return sum(
        len(span["chars"])
        for block in raw["blocks"]
        for line in block.get("lines", ())
        for span in line["spans"]
    )


def _plain_run(line: dict[str, Any]) -> TextRun:
    """A line of a page of too many characters: text alone, with no glyph looked at."""
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
    """The runs with a name of mathematics for unnamed fonts that hold it."""
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
    """Boxes of the listing in its order; `rawdict` leaves out what lies beyond the page."""

    def __init__(self, listing: str) -> None:
        self.rows = [match.groups() for match in _QUAD.finditer(listing)]
        self.place = 0

    def find(self, x: float, y: float) -> Box | None:
        """The box of the next character whose origin is (x, y)."""
        for k in range(self.place, min(self.place + _MOST_BEYOND, len(self.rows))):
            quad, at_x, at_y = self.rows[k]
            if abs(float(at_x) - x) < 0.01 and abs(float(at_y) - y) < 0.01:
                self.place = k + 1
                values = [float(value) for value in quad.split()]
                xs, ys = values[0::2], values[1::2]
                return Box(min(xs), min(ys), max(xs), max(ys))
        return None


def _find_painted(page: pymupdf.Page) -> list[PaintedGlyph]:
    """What the page paints, glyph by glyph."""
    return [
        PaintedGlyph(
            span["seqno"] * SEQUENCE + min(k, SEQUENCE - 1),
            chr(point) if point > 0 else REPLACEMENT,
            span["font"].rpartition("+")[2],
            span["size"],
            x,
            y,
            glyph_id,
        )
        for span in page.get_texttrace()
        for k, (point, glyph_id, (x, y), _) in enumerate(span["chars"])
        if glyph_id >= 0
    ]
