"""Characters that a page's fonts tell where its text layer tells none or a false one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.stages.ocr.formulas.fonts.embedded import EmbeddedFonts

if TYPE_CHECKING:
    import pymupdf

REPLACEMENT = "\ufffd"
_UNNAMED = "Type3 ("
_PRIVATE = "\ue000", "\uf8ff"


class TrueCharacters:
    """Asks the fonts of a page, which are opened when the first glyph needs it."""

    def __init__(self, page: pymupdf.Page) -> None:
        self._page = page
        self._fonts: EmbeddedFonts | None = None

    def find(self, text: str, font: str, glyph_id: int | None, *, has_ink: bool) -> str:
        """The character of a glyph.

        Args:
            text: What the text layer says; U+FFFD where it says nothing.
            font: The name of its font.
            glyph_id: The glyph's number in the font; None where nothing was painted.
            has_ink: Whether the glyph has an outline: a space with ink is no space.

        Returns:
            `text` itself where nothing speaks against it; U+FFFD where it is false and the font
            does not tell the true one.
        """
        if glyph_id is None:
            return text
        if text.isspace():
            return self._ask(font, glyph_id) or REPLACEMENT if has_ink else text
        if text == REPLACEMENT or font.startswith(_UNNAMED):
            return self._ask(font, glyph_id) or text
        return text

    def _ask(self, font: str, glyph_id: int) -> str | None:
        if self._fonts is None:
            self._fonts = EmbeddedFonts(self._page)
        character = self._fonts.character(font, glyph_id)
        is_private = character is not None and _PRIVATE[0] <= character <= _PRIVATE[1]
        return None if is_private or not (character and character.strip()) else character
