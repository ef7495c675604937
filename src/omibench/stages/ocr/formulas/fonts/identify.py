"""Symbol of a glyph of any font: each table is tried in turn."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from omibench.stages.ocr.formulas.fonts.characters import of_character
from omibench.stages.ocr.formulas.fonts.encoded import of_encoded
from omibench.stages.ocr.formulas.fonts.tex import is_tex, of_name, of_tex
from omibench.stages.ocr.formulas.marks import GlyphSymbol

_ITALIC = re.compile(r"italic|oblique|slanted|-it\b", re.IGNORECASE)


@lru_cache(maxsize=16_384)
def identify(
    font: str, text: str, *, name: str | None = None, glyph_id: int | None = None
) -> GlyphSymbol:
    """Return the symbol of a glyph.

    Args:
        font: Font name without the subset prefix (`embedded.plain_name`).
        text: Unicode character according to the PDF, U+FFFD if it gives none.
        name: Glyph name in the font program (`embedded.EmbeddedFonts.facts`).
        glyph_id: Glyph number in the font program, from `get_texttrace()`.

    Returns:
        Its symbol; of kind `unknown`, with `\\square` as LaTeX, if no table has it.
    """
    encoded = of_encoded(font, text)
    if encoded is not None:
        return encoded
    if is_tex(font):
        return of_tex(font, text, name)
    symbol = of_character(text)
    if symbol.kind == "unknown" and name:
        symbol = of_name(name) or symbol
    is_roman = symbol.kind == "letter" and text.isascii() and not _ITALIC.search(font)
    return replace(symbol, upright=True) if is_roman else symbol
