"""What an embedded font itself says of its glyphs: their names, and where their ink is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from omibench.stages.ocr.formulas.fonts.opentype import read_characters
from omibench.stages.ocr.formulas.fonts.outlines import read_letters
from omibench.stages.ocr.layout.layout import Box

if TYPE_CHECKING:
    import pymupdf

LONGEST_FONT = 16 * 2**20
"""A font program of more bytes is not opened."""
MOST_FONTS = 200
"""A page's fonts beyond this number are not opened."""
_NAME_LENGTH = 24
"""A name of so many characters may be cut: MuPDF keeps 31, and seven of them may be a subset's."""
_LARGEST_INK = 20.0
"""In units of the type size; a larger box is a lie of the font."""
_UNNAMED = re.compile(r"Type3 \((\d+) 0 R\)$")
"""How MuPDF calls a Type 3 font without a name: by the number of its object."""


class GlyphFacts(NamedTuple):
    """A glyph of a font program: its name and the box of its outline.

    `ink` is in units of the type size from the glyph's origin, with y upwards; None for a glyph
    without an outline, such as a space. `name` is None where the font gives its glyphs numbers.
    """

    name: str | None
    ink: Box | None


NO_FACTS = GlyphFacts(None, None)


class EmbeddedFonts:
    """The font programs that a page embeds, opened when a glyph is asked for.

    Two subsets of one font may stand on a page under one name: a glyph is looked up in each.
    """

    def __init__(self, page: pymupdf.Page) -> None:
        self._document = page.parent
        self._xrefs: dict[str, list[int]] = {}
        for font in page.get_fonts(full=True)[:MOST_FONTS]:
            self._xrefs.setdefault(_key(font[3]), []).append(font[0])
        self._fonts: dict[int, pymupdf.Font | None] = {}
        self._facts: dict[tuple[str, int], GlyphFacts] = {}
        self._characters: dict[int, dict[int, str]] = {}

    def facts(self, font: str, glyph_id: int) -> GlyphFacts:
        """What is known of a glyph, by the font's name and the id that `get_texttrace()` gives.

        Returns:
            `NO_FACTS` where the font is not embedded, cannot be opened or has no such glyph.
        """
        key = (font, glyph_id)
        if key not in self._facts:
            self._facts[key] = self._look_up(font, glyph_id)
        return self._facts[key]

    def character(self, font: str, glyph_id: int) -> str | None:
        """The character that a glyph stands for by the tables of its font program.

        To be asked where the PDF tells no character or a false one, such as the spaces to which
        Word 2010 maps Cambria Math; and of each glyph of a Type 3 font without a name, whose
        letters are those of a mathematical alphabet where their outlines are known.

        Returns:
            One Unicode character; None where no embedded program of this name has the glyph.
        """
        unnamed = _UNNAMED.match(font)
        if unnamed:
            xref = int(unnamed[1])
            if xref not in self._characters:
                self._characters[xref] = read_letters(self._document, xref)
            return self._characters[xref].get(glyph_id)
        for xref in self._programs(font) if glyph_id > 0 else ():
            if xref not in self._characters:
                program = self._open(xref)
                self._characters[xref] = read_characters(program) if program else {}
            character = self._characters[xref].get(glyph_id)
            if character is not None:
                return character
        return None

    def _look_up(self, font: str, glyph_id: int) -> GlyphFacts:
        if glyph_id < 0:
            return NO_FACTS
        best = NO_FACTS
        for xref in self._programs(font):
            program = self._open(xref)
            if program is None:
                continue
            best = _read(program, glyph_id)
            if best.ink is not None:
                break
        return best

    def _programs(self, font: str) -> list[int]:
        key = _key(font)
        if len(font) < _NAME_LENGTH:
            return self._xrefs.get(key, [])
        return [xref for name in self._xrefs if name.startswith(key) for xref in self._xrefs[name]]

    def _open(self, xref: int) -> pymupdf.Font | None:
        if xref not in self._fonts:
            self._fonts[xref] = _open(self._document, xref)
        return self._fonts[xref]


def plain_name(font: str) -> str:
    """A font's name without the six letters of a subset: `CMMI10` of `EYPSWD+CMMI10`."""
    head, plus, tail = font.partition("+")
    return tail if plus and len(head) == 6 and head.isupper() else font


def _key(font: str) -> str:
    """A name as both the font's dictionary and its descriptor spell it."""
    name = plain_name(font).removesuffix("-Identity-H").removesuffix("-Identity-V")
    return name.replace(" ", "").replace("-", "")


def _open(document: pymupdf.Document, xref: int) -> pymupdf.Font | None:
    import pymupdf
    from pymupdf import mupdf

    try:
        program = document.extract_font(xref)[3]
        if not program or len(program) > LONGEST_FONT:
            return None
        return pymupdf.Font(fontbuffer=program)
    except (RuntimeError, ValueError, mupdf.FzErrorBase):  # a program that is no font
        return None


def _read(font: pymupdf.Font, glyph_id: int) -> GlyphFacts:
    from pymupdf import mupdf

    try:
        name = mupdf.fz_get_glyph_name2(font.this, glyph_id)
        path = mupdf.fz_outline_glyph(font.this, glyph_id, mupdf.FzMatrix())
        rect = mupdf.ll_fz_bound_path(path.m_internal, None, mupdf.ll_fz_scale(1, 1))
    except (RuntimeError, ValueError, mupdf.FzErrorBase):
        return NO_FACTS
    ink = Box(rect.x0, rect.y0, rect.x1, rect.y1)
    fits = ink.x0 < ink.x1 and max(map(abs, ink)) < _LARGEST_INK
    return GlyphFacts(None if not name or name.isdigit() else name, ink if fits else None)
