"""Signs of LibreOffice's OpenSymbol."""

from __future__ import annotations

from omibench.stages.ocr.formulas.glyphs.opensymbol import correct_signs
from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol, Kind
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


def test_an_arrow_without_width_stands_over_the_letter_behind_it() -> None:
    plus = glyph("+", "operator", 12, 0, "OpenSymbol")
    arrow = Glyph(
        0, "\u20d7", GlyphSymbol(r"\vec", "accent"), "OpenSymbol", 12, 9, 100, Box(9, 83, 9, 86)
    )
    letter = glyph("b", "letter", 12, 10)
    placed = correct_signs([plus, arrow, letter])[1]
    assert (placed.box.x0, placed.box.x1) == (letter.box.x0, letter.box.x1)
    far = glyph("b", "letter", 12, 30)
    assert correct_signs([plus, arrow, far])[1].box == arrow.box


def test_a_tilde_over_a_letter_is_an_accent_and_one_between_letters_is_none() -> None:
    tilde = Glyph(
        0, "~", GlyphSymbol(r"\sim", "relation"), "OpenSymbol", 12, 9, 95, Box(9, 84, 17, 86)
    )
    letter = glyph("C", "letter", 12, 10)
    assert correct_signs([tilde, letter])[0].symbol == GlyphSymbol(r"\tilde", "accent")
    between = Glyph(0, "~", tilde.symbol, "OpenSymbol", 12, 1, 100, Box(1, 94, 9, 96))
    assert correct_signs([between, letter])[0].symbol == tilde.symbol


def test_a_long_arrow_covers_its_letters_though_its_type_is_large() -> None:
    arrow = Glyph(
        0, "\u20d7", GlyphSymbol(r"\vec", "accent"), "OpenSymbol", 36, 9, 98, Box(10, 71, 26, 78)
    )
    placed = correct_signs([arrow, glyph("A", "letter", 12, 10), glyph("B", "letter", 12, 19)])[0]
    assert (placed.box.x0, placed.box.x1, placed.size) == (10, 26, 12)
    assert 84 < placed.box.y1 < 88


def test_the_limits_of_a_sum_do_not_make_it_small() -> None:
    limits = [glyph(text, "letter", 7, 5 * k) for k, text in enumerate("k=17")]
    total = glyph("∑", "large", 15, 0, "OpenSymbol")
    assert correct_signs([total, *limits, glyph("x", "letter", 12, 16)])[0].size == 12
