"""Which symbol each character of a page is: by its font, its Unicode, its name in the font."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.stages.ocr.formulas.fonts.embedded import EmbeddedFonts
from omibench.stages.ocr.formulas.fonts.identify import identify
from omibench.stages.ocr.formulas.fonts.tex import is_tex
from omibench.stages.ocr.formulas.marks import GlyphSymbol
from omibench.stages.ocr.formulas.reading.characters import Character

if TYPE_CHECKING:
    import pymupdf


class Symbols:
    """Tells symbols of characters and remembers them: a page repeats its letters."""

    def __init__(self, page: pymupdf.Page) -> None:
        self._page = page
        self._fonts: EmbeddedFonts | None = None
        self._symbols: dict[tuple[str, str, int | None], GlyphSymbol] = {}

    def identify(self, character: Character) -> GlyphSymbol:
        """The symbol of a character; of kind `unknown` where nothing tells it."""
        key = (character.font, character.text, character.glyph_id)
        symbol = self._symbols.get(key)
        if symbol is None:
            symbol = self._symbols[key] = identify(
                character.font,
                character.text,
                name=self._name(character),
                glyph_id=character.glyph_id,
            )
        return symbol

    def _name(self, character: Character) -> str | None:
        if character.glyph_id is None or (character.code is None and not is_tex(character.font)):
            return None
        if self._fonts is None:
            self._fonts = EmbeddedFonts(self._page)
        return self._fonts.facts(character.font, character.glyph_id).name
