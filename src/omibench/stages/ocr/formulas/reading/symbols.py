"""Symbols of a page's characters, by font, Unicode and glyph name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.stages.ocr.formulas.fonts.embedded import EmbeddedFonts
from omibench.stages.ocr.formulas.fonts.identify import identify
from omibench.stages.ocr.formulas.fonts.tex import is_tex
from omibench.stages.ocr.formulas.glyphs.characters import Character
from omibench.stages.ocr.formulas.marks import GlyphSymbol

if TYPE_CHECKING:
    import pymupdf

_SIGMAS = ("\U0001d70d", "\U0001d70e")
"""Italic final sigma and sigma."""
_SWAPPED = "STIXTwoMath"
"""Font whose names of the two sigmas are exchanged in the sizes of scripts."""
_DESCENDER = 0.1
"""Minimum depth of a final sigma below its baseline, in type sizes; a sigma has .01."""


class Symbols:
    """Cache of the symbols of characters: a page repeats its letters."""

    def __init__(self, page: pymupdf.Page) -> None:
        self._fonts = EmbeddedFonts(page)
        self._symbols: dict[tuple[str, str, int | None], GlyphSymbol] = {}

    def identify(self, character: Character) -> GlyphSymbol:
        """Return the symbol of a character, of kind `unknown` if it cannot be identified."""
        key = (character.font, character.text, character.glyph_id)
        symbol = self._symbols.get(key)
        if symbol is None:
            symbol = self._symbols[key] = identify(
                character.font,
                _find_sigma(character) if character.text in _SIGMAS else character.text,
                name=self._name(character),
                glyph_id=character.glyph_id,
            )
        return symbol

    def _name(self, character: Character) -> str | None:
        if character.glyph_id is None or (character.code is None and not is_tex(character.font)):
            return None
        return self._fonts.facts(character.font, character.glyph_id).name


def _find_sigma(character: Character) -> str:
    """Return the sigma that a character is by its ink."""
    if not character.font.startswith(_SWAPPED):
        return character.text
    depth = character.box.y1 - character.y
    return _SIGMAS[depth < _DESCENDER * character.size]
