"""Signs of LibreOffice's OpenSymbol."""

from __future__ import annotations

from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol, Kind
from omibench.stages.ocr.formulas.page_marks import correct_signs
from omibench.stages.ocr.layout.layout import Box


def glyph(text: str, kind: Kind, size: float, x: float, font: str = "LiberationSerif") -> Glyph:
    box = Box(x, 100 - size, x + 0.6 * size, 100)
    return Glyph(0, text, GlyphSymbol(text, kind), font, size, x, 100, box)


def test_stretched_signs_have_the_size_of_the_letters_beside_them() -> None:
    glyphs = [
        glyph("∑", "large", 17.5, 0, "OpenSymbol"),
        glyph("i", "letter", 7, 11),
        glyph("x", "letter", 12, 16),
        glyph("(", "open", 9.6, 24, "OpenSymbol"),
        glyph("=", "relation", 12, 32, "OpenSymbol"),
    ]
    assert [g.size for g in correct_signs(glyphs)] == [12, 7, 12, 12, 12]
    assert [g.box for g in correct_signs(glyphs)] == [g.box for g in glyphs]


def test_signs_of_other_fonts_and_signs_alone_keep_their_size() -> None:
    alone = glyph("∑", "large", 17.5, 0, "OpenSymbol")
    far = glyph("x", "letter", 12, 300)
    assert correct_signs([alone, far]) == (alone, far)
    other = glyph("(", "open", 17.5, 0, "CMEX10")
    assert correct_signs([other, glyph("x", "letter", 10, 12)])[0] == other
