"""Characters from a page's fonts where its text layer has none or a false one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from omibench.stages.ocr.formulas.fonts.embedded import EmbeddedFonts
from omibench.stages.ocr.formulas.glyphs.prose import UNNAMED

if TYPE_CHECKING:
    import pymupdf

MATHJAX = "MathJax_"
"""Prefix for the names of unnamed mathematical fonts."""
REPLACEMENT = "\ufffd"
_ALPHABETS = "\u2102", "\u2134", "\U0001d400"
"""Range of letterlike symbols, and start of the mathematical alphabets."""
_BODY = 0.4
"""Minimum share of a page's characters in the font of its prose."""
_PRIVATE = "\ue000", "\uf8ff"


class TrueCharacters:
    """Characters from the fonts of a page."""

    def __init__(self, page: pymupdf.Page) -> None:
        self._fonts = EmbeddedFonts(page)

    def find(self, text: str, font: str, glyph_id: int | None, *, has_ink: bool) -> str:
        """Return the character of a glyph.

        Args:
            text: Character from the text layer; U+FFFD if it has none.
            font: Font name.
            glyph_id: Glyph number in the font; None if nothing was painted.
            has_ink: Whether the glyph has an outline: a space with ink is a false character.

        Returns:
            `text` unless the font contradicts it; U+FFFD if it is false and the font does not give
            the true one.
        """
        if glyph_id is None:
            return text
        if text.isspace():
            return self._ask(font, glyph_id) or REPLACEMENT if has_ink else text
        if text == REPLACEMENT or font.startswith(UNNAMED):
            return self._ask(font, glyph_id) or text
        return text

    def _ask(self, font: str, glyph_id: int) -> str | None:
        character = self._fonts.character(font, glyph_id)
        is_private = character is not None and _PRIVATE[0] <= character <= _PRIVATE[1]
        return None if is_private or not (character and character.strip()) else character


def find_unnamed_mathematics(characters: Iterable[tuple[str, str]]) -> set[str]:
    """Return the unnamed fonts with formulas: MathJax's, identified by at least one outline.

    Args:
        characters: Font and text of each character of a page.

    Returns:
        Font names, without one that sets most of a page's text.
    """
    pairs = list(characters)
    counts = Counter(font for font, _ in pairs)
    unnamed = {font for font in counts if font.startswith(UNNAMED)}
    low, high, first = _ALPHABETS
    if not any(low <= text <= high or text >= first for font, text in pairs if font in unnamed):
        return set()
    return {font for font in unnamed if counts[font] < _BODY * len(pairs)}
