"""Glyph names and ink boxes from embedded font programs."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from omibench.stages.ocr.formulas.fonts.opentype import read_characters
from omibench.stages.ocr.formulas.fonts.outlines import read_letters
from omibench.stages.ocr.layout.layout import Box

if TYPE_CHECKING:
    import pymupdf

LONGEST_FONT = 16 * 2**20
"""Maximum size of a font program that is opened, in bytes."""
MOST_FONTS = 200
"""Maximum number of fonts per page that are opened."""
_NAME_LENGTH = 24
"""Length from which a name may be cut: MuPDF keeps 31 characters with the subset prefix."""
_LARGEST_INK = 20.0
"""Maximum size of a plausible glyph box, in type sizes."""
_UNNAMED = re.compile(r"Type3 \((\d+) 0 R\)$")
"""MuPDF's name for an unnamed Type 3 font: its object number."""


class GlyphFacts(NamedTuple):
    """Glyph of a font program: its name and the box of its outline.

    `ink` is in type sizes from the glyph's origin, with y upwards; None for a glyph without an
    outline, such as a space. `name` is None if the font only numbers its glyphs.
    """

    name: str | None
    ink: Box | None


NO_FACTS = GlyphFacts(None, None)


class _Programs(NamedTuple):
    """Parsed font programs of a document, by object number."""

    fonts: dict[int, pymupdf.Font | None]
    facts: dict[tuple[int, int], GlyphFacts | None]
    characters: dict[int, dict[int, str]]


_KEPT = "_omibench_font_programs"
"""Document attribute that caches its programs: pages share their fonts."""


class EmbeddedFonts:
    """Font programs that a page embeds, listed and opened on first use.

    Two subsets of one font can have the same name on a page: a glyph is looked up in each.
    """

    def __init__(self, page: pymupdf.Page) -> None:
        self._page, self._document = page, page.parent
        programs: _Programs = vars(page.parent).setdefault(_KEPT, _Programs({}, {}, {}))
        self._fonts, self._facts, self._characters = programs
        self._best: dict[tuple[str, int], GlyphFacts] = {}

    @cached_property
    def _xrefs(self) -> dict[str, list[int]]:
        xrefs: dict[str, list[int]] = {}
        for font in self._page.get_fonts(full=True)[:MOST_FONTS]:
            xrefs.setdefault(_key(font[3]), []).append(font[0])
        return xrefs

    def facts(self, font: str, glyph_id: int) -> GlyphFacts:
        """Return the facts about a glyph by font name and the id from `get_texttrace()`.

        Returns:
            `NO_FACTS` if the font is not embedded, cannot be opened or lacks the glyph.
        """
        key = (font, glyph_id)
        if key not in self._best:
            self._best[key] = self._look_up(font, glyph_id)
        return self._best[key]

    def character(self, font: str, glyph_id: int) -> str | None:
        """Return the character of a glyph according to the tables of its font program.

        Use it if the PDF gives no character or a false one, such as the spaces to which Word 2010
        maps Cambria Math, and for each glyph of an unnamed Type 3 font, whose letters belong to a
        mathematical alphabet if their outlines are known.

        Returns:
            One Unicode character, or None if no embedded program of this name has the glyph.
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
            key = (xref, glyph_id)
            if key not in self._facts:
                program = self._open(xref)
                self._facts[key] = _read(program, glyph_id) if program else None
            best = self._facts[key] or best
            if best.ink is not None:
                break
        return best

    def _programs(self, font: str) -> list[int]:
        key = _key(font)
        if len(font) < _NAME_LENGTH:
            return self._xrefs.get(key, [])
        return [xref for name in self._xrefs if name.startswith(key) for xref in self._xrefs[name]]

    def _open(self, xref: int) -> pymupdf.Font | None:
        import pymupdf
        from pymupdf import mupdf

        if xref not in self._fonts:
            self._fonts[xref] = None
            try:
                program = self._document.extract_font(xref)[3]
                if program and len(program) <= LONGEST_FONT:
                    self._fonts[xref] = pymupdf.Font(fontbuffer=program)
            except (RuntimeError, ValueError, mupdf.FzErrorBase):  # not a font program
                pass
        return self._fonts[xref]


def plain_name(font: str) -> str:
    """Return a font's name without its subset prefix: `CMMI10` from `EYPSWD+CMMI10`."""
    head, plus, tail = font.partition("+")
    return tail if plus and len(head) == 6 and head.isupper() else font


def _key(font: str) -> str:
    """Return a name in the form shared by the font's dictionary and its descriptor."""
    name = plain_name(font).removesuffix("-Identity-H").removesuffix("-Identity-V")
    return name.replace(" ", "").replace("-", "")


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
