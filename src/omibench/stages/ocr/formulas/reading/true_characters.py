"""Characters that a page's fonts tell where its text layer tells none or a false one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from omibench.stages.ocr.formulas.fonts.embedded import EmbeddedFonts

if TYPE_CHECKING:
    import pymupdf

MATHJAX = "MathJax_"
"""Put before the names of unnamed fonts of mathematics."""
REPLACEMENT = "\ufffd"
_UNNAMED = "Type3 ("
_ALPHABETS = "\u2102", "\u2134", "\U0001d400"
"""Where letterlike symbols begin and end, and where the alphabets of mathematics begin."""
_BODY = 0.4
"""The part of a page's characters from which on a font is that of its prose."""
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


def find_unnamed_mathematics(characters: Iterable[tuple[str, str]]) -> set[str]:
    """The fonts without names that hold formulas: MathJax's, where one of them is known by outline.

    Args:
        characters: Font and text of each character of a page.

    Returns:
        Names of fonts. One that sets most of a page's text is left out.
    """
    pairs = list(characters)
    counts = Counter(font for font, _ in pairs)
    unnamed = {font for font in counts if font.startswith(_UNNAMED)}
    low, high, first = _ALPHABETS
    if not any(low <= text <= high or text >= first for font, text in pairs if font in unnamed):
        return set()
    return {font for font in unnamed if counts[font] < _BODY * len(pairs)}
