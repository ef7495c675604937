"""Scripts that stand left of their letter, and bold letters at the end of a formula."""

from __future__ import annotations

from dataclasses import replace

from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol, Kind, PageMarks
from omibench.stages.ocr.formulas.regions import find_regions
from omibench.stages.ocr.layout.layout import Box


def glyph(text: str, x: float, kind: Kind = "letter", size: float = 10, y: float = 100) -> Glyph:
    font = "CMMI10" if kind == "relation" or text == "m" else "CMR10"
    box = Box(x, y - 0.7 * size, x + 0.5 * size, y)
    return Glyph(int(x), text, GlyphSymbol(text, kind), font, size, x, y, box)


def read(*glyphs: Glyph) -> list[str]:
    regions = find_regions(PageMarks(400, 400, glyphs))
    return ["".join(g.text for g in sorted(r.glyphs, key=lambda g: g.x)) for r in regions]


def test_a_mass_number_behind_a_space_belongs_to_the_element_behind_it() -> None:
    mass = [glyph(digit, 52.4 + 3.5 * k, "digit", 7, 96) for k, digit in enumerate("235")]
    prose = [glyph(letter, 35 + 5 * k) for k, letter in enumerate("the")]
    assert read(*prose, *mass, glyph("U", 63.2)) == ["235U"]


def test_a_letter_a_behind_a_letter_is_no_ordinal() -> None:
    product = [glyph("F", 10), glyph("=", 18, "relation"), glyph("m", 26), glyph("a", 31)]
    assert read(*product) == ["F=ma"]


def test_numbers_above_each_other_belong_to_one_element_where_they_begin_together() -> None:
    mass = [glyph(digit, 52.4 + 3.5 * k, "digit", 7, 96) for k, digit in enumerate("235")]
    charge = [glyph(digit, 52.4 + 3.5 * k, "digit", 7, 103) for k, digit in enumerate("92")]
    assert [len(text) for text in read(*mass, *charge, glyph("U", 63.2))] == [6]


def test_numbers_of_another_font_need_a_narrow_space_only() -> None:
    numbers = [glyph("0", 51.5, "digit", 7, 96), glyph("-", 51.5, "operator", 7, 103)]
    numbers += [glyph("1", 55, "digit", 7, 103), glyph("e", 58.6)]
    mathematics = [replace(number, font="NewCMMath-Book") for number in numbers]
    prose = [glyph(letter, 35 + 5 * k) for k, letter in enumerate("tha")]
    assert [sorted(text) for text in read(*prose, *mathematics)] == [sorted("0-1e")]
