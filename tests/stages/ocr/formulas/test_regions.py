"""Which marks of a page are a formula."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
import pytest
from tests.stages.ocr.formulas.set_type import Setting

from omibench.stages.ocr.formulas.blocks import find_units
from omibench.stages.ocr.formulas.joined_signs import join_strokes
from omibench.stages.ocr.formulas.marks import FormulaRegion, Glyph, GlyphSymbol, Kind, PageMarks
from omibench.stages.ocr.formulas.page_marks import read_marks
from omibench.stages.ocr.formulas.regions import find_regions, separate
from omibench.stages.ocr.formulas.row_reader import RowReader
from omibench.stages.ocr.formulas.symbols import identify
from omibench.stages.ocr.formulas.unit_scripts import attach_scripts
from omibench.stages.ocr.formulas.units import InkField, unit_of_glyph
from omibench.stages.ocr.layout.layout import Box

# Which marks are a formula and which are prose, on pages that are drawn here.


class Sheet:
    """A page on which text is set piece by piece."""

    def __init__(self) -> None:
        self.page = pymupdf.open().new_page(width=500, height=300)
        self.x = 50.0

    def put(self, text: str, *, font: str = "tiro", size: float = 10, rise: float = 0) -> Sheet:
        self.page.insert_text((self.x, 100 - rise), text, fontname=font, fontsize=size)
        self.x += pymupdf.get_text_length(text, font, size)
        return self

    def stack(self, above: str, below: str) -> Sheet:
        """A fraction with its bar on the axis of the line."""
        widths = [pymupdf.get_text_length(text, "tiro", 10) for text in (above, below)]
        width = max(widths)
        for text, part, y in ((above, widths[0], 93.2), (below, widths[1], 106.9)):
            x = self.x + (width - part) / 2
            self.page.insert_text((x, y), text, fontname="tiro", fontsize=10)
        self.page.draw_line((self.x, 97.5), (self.x + width, 97.5), width=0.4)
        self.x += width
        return self

    def regions(self) -> list[FormulaRegion]:
        return find_regions(read_marks(self.page))


def texts(regions: list[FormulaRegion]) -> list[str]:
    return ["".join(glyph.text for glyph in region.glyphs) for region in regions]


@pytest.mark.parametrize(
    "prose",
    [
        "I have a cat and 25 well-known books from 2021-2022, page 12.",
        "(A) 10 m (B) 25 kg (C) 3.5 J/(mol K) (D) none of these",
        "See Fig. 3 and the 1st part; it costs 5 euros (or 6).",
        "1 - A  2 - B  3 - C",
        "Name: ____________ Date: 12/05/2021",
    ],
)
def test_prose_and_plain_numbers_are_no_formula(prose: str) -> None:
    assert Sheet().put(prose).regions() == []


def test_an_ordinal_and_a_footnote_are_prose() -> None:
    sheet = Sheet().put("the 2").put("nd", size=7, rise=4).put(" word").put("1", size=7, rise=4)
    assert sheet.regions() == []


def test_the_mark_before_a_footnote_is_prose() -> None:
    assert Sheet().put("1", size=7, rise=4).put("meaning a smooth surface").regions() == []
    isotope = Sheet().put("14", size=7, rise=4).put("C nucleus")
    assert [sorted(text) for text in texts(isotope.regions())] == [["1", "4", "C"]]


def test_a_lone_italic_letter_is_a_variable() -> None:
    sheet = Sheet().put("a ball of mass ").put("m", font="tiit").put(" falls")
    assert texts(sheet.regions()) == ["m"]
    assert Sheet().put("the word ").put("a priori", font="tiit").put(" here").regions() == []


def test_a_fraction_is_one_region_and_its_label_is_not() -> None:
    sheet = Sheet().put("(A) ").stack("v + 1", "2g").put("   (B) ").stack("1", "x")
    first, second = sheet.regions()
    assert sorted("".join(texts([first]))) == sorted("v+12g")
    assert sorted("".join(texts([second]))) == sorted("1x")
    assert len(first.bars) == len(second.bars) == 1


def test_a_short_name_in_brackets_is_the_argument_of_a_variable() -> None:
    sheet = Sheet().put("where ").put("c", font="tiit").put("(HA) is known")
    assert texts(sheet.regions()) == ["c(HA)"]


def test_an_underlined_word_is_no_fraction() -> None:
    sheet = Sheet().put("this word matters")
    sheet.page.draw_line((68, 101.5), (92, 101.5), width=0.5)
    sheet.page.insert_text(
        (50, 112), "and the next line goes on below", fontname="tiro", fontsize=10
    )
    assert sheet.regions() == []


def draw_choices(count: int) -> pymupdf.Page:
    """Choices that are fractions, so close that numerators touch the denominators above."""
    page = pymupdf.open().new_page(width=300, height=300)
    for k in range(count):
        y = 60 + 23 * k
        page.insert_text((60, y - 3), f"a + {k}", fontname="tiro", fontsize=10)
        page.draw_line((58, y), (84, y), width=0.4)
        page.insert_text((62, y + 9.5), f"b - {k}", fontname="tiro", fontsize=10)
    return page


def test_fractions_in_rows_of_choices_stay_apart() -> None:
    regions = find_regions(read_marks(draw_choices(4)))
    assert sorted(map(sorted, texts(regions))) == sorted(sorted(f"a+{k}b-{k}") for k in range(4))


def test_a_rule_of_a_table_is_no_fraction() -> None:
    page = pymupdf.open().new_page(width=300, height=300)
    for y, cells in ((60, ("Time (s)", "Height (m)")), (74, ("2.58", "7.29"))):
        for x, cell in zip((62, 150), cells, strict=True):
            page.insert_text((x, y), cell, fontname="tiro", fontsize=10)
    page.draw_line((60, 64), (200, 64), width=0.4)
    assert find_regions(read_marks(page)) == []


def test_type_of_the_line_s_own_size_is_no_script() -> None:
    sheet = Sheet().put("x", font="tiit").put("2", size=8.5, rise=4.5)
    sheet.put(" young people", size=10)
    assert texts(sheet.regions()) == ["x2"]


def test_the_label_of_a_choice_is_no_operand() -> None:
    sheet = Sheet().put("(A) ").put("±", font="symb").put("1 cars")
    assert texts(sheet.regions()) == ["±1"]


def test_a_limit_is_found_beside_scripts_of_its_level() -> None:
    page = pymupdf.open().new_page(width=300, height=300)
    page.insert_text((60, 104), "\xe5", fontname="symb", fontsize=14)
    page.insert_text((63, 116), "i", fontname="tiit", fontsize=7)
    page.insert_text((76, 100), "x", fontname="tiit", fontsize=10)
    page.insert_text((90, 115), "obs", fontname="tiro", fontsize=7)
    regions = find_regions(read_marks(page))
    assert {glyph.symbol.latex for glyph in regions[0].glyphs} == {"\\sum", "i", "x"}


def test_the_bar_of_a_root_belongs_to_its_own_row_alone() -> None:
    page = pymupdf.open().new_page(width=300, height=300)
    for y in (60, 71):
        page.insert_text((60, y), "\xd6", fontname="symb", fontsize=10)
        page.insert_text((65.6, y), "x", fontname="tiit", fontsize=10)
        page.draw_line((65.5, y - 9.2), (70, y - 9.2), width=0.4)
    regions = find_regions(read_marks(page))
    assert [len(region.bars) for region in regions] == [1, 1]


def test_an_underlined_link_is_no_fraction() -> None:
    page = pymupdf.open().new_page(width=300, height=300)
    page.insert_text((60, 100), "example.org/page", fontname="tiro", fontsize=10)
    page.draw_line((60, 101.2), (131, 101.2), width=0.5)
    page.insert_text((61, 111), "and more of such", fontname="tiro", fontsize=10)
    assert find_regions(read_marks(page)) == []


def test_an_exponent_of_unicode_stays_with_its_bracket() -> None:
    sheet = Sheet().put("so ").put("q", font="tiit").put(" = (1 + ").put("p", font="tiit").put(")²")
    assert ["".join(text.split()) for text in texts(sheet.regions())] == ["q=(1+p)²"]
    assert "²" not in "".join(texts(Sheet().put("root of (some)² = 0.81 here").regions()))


def test_a_rule_painted_after_a_variable_and_as_wide_underlines_it() -> None:
    sheet = Sheet().put("that ")
    x0 = sheet.x
    sheet.put("m", font="tiit")
    sheet.page.draw_line((x0, 101.5), (sheet.x, 101.5), width=0.4)
    [region] = sheet.put(" of the rod").regions()
    assert len(region.bars) == 1


def test_an_underlined_word_is_no_formula() -> None:
    sheet = Sheet().put("that ")
    x0 = sheet.x
    sheet.put("mass")
    sheet.page.draw_line((x0, 101.5), (sheet.x, 101.5), width=0.4)
    assert sheet.put(" of the rod").regions() == []


# Words, numbers and brackets that belong to the formula beside them.


def read(*words: tuple[str, float]) -> list[str]:
    """The formulas of a row of words in upright type, each with the space after it in points."""
    setting = Setting()
    for word, space in words:
        setting.put(word, font="CMR10", gap=0.0)
        setting.x += space
    row = RowReader([unit_of_glyph(glyph) for glyph in setting.glyphs])
    return [row.text(start, end) for start, end in row.find_intervals()]


@pytest.mark.parametrize(
    ("words", "formulas"),
    [
        ([("pH", 2.8), ("=", 2.8), ("7", 3)], ["pH=7"]),
        ([("x", 2.8), ("=", 2.8), ("const", 3)], ["x=const"]),
        ([("so", 2.8), ("const", 3)], []),
        ([("x", 2.8), ("≡", 2.8), ("1", 4.4), ("(mod", 1.7), ("m)", 3)], ["x≡1(modm)"]),
        ([("x", 2.8), ("≡", 2.8), ("1", 4.4), ("(see", 1.7), ("m)", 3)], ["x≡1"]),
    ],
)
def test_words_beside_relations(words: list[tuple[str, float]], formulas: list[str]) -> None:
    assert read(*words) == formulas


def read_mathematics(text: str, *, font: str = "", gap: float = 0.05) -> list[str]:
    """The formulas of a row in the fonts of Computer Modern."""
    setting = Setting().put(text, font=font, gap=gap)
    row = RowReader([unit_of_glyph(glyph) for glyph in setting.glyphs])
    return [row.text(start, end) for start, end in row.find_intervals()]


@pytest.mark.parametrize("text", ["1+2+···+n", "|a+b|≤|a|+|b|", "V↑", "x≡1", "(ab)/(cd)"])
def test_a_formula_is_whole(text: str) -> None:
    assert read_mathematics(text) == [text]


def test_a_bracket_behind_a_slanted_capital_closes_the_formula() -> None:
    setting = Setting().put("[R", gap=0.0).put(",", gap=0.0, font="CMMI10").put("V", gap=0.0)
    setting.put("]", x=setting.x + 2.6)
    row = RowReader([unit_of_glyph(glyph) for glyph in setting.glyphs])
    assert row.find_intervals() == [(0, 5)]


def test_an_arrow_of_two_glyphs_joins_what_is_on_both_sides() -> None:
    setting = Setting().put("x", gap=0.3).put("↦", gap=-0.5, font="CMSY10")
    setting.put("→", font="CMSY10", gap=0.3).put("y")
    row = RowReader([unit_of_glyph(glyph) for glyph in setting.glyphs])
    assert row.find_intervals() == [(0, 4)]


def test_an_arrow_after_a_letter_ends_the_formula() -> None:
    setting = Setting().put("l").put("↑", font="NewCMMath-Book")
    setting.x += 3
    setting.put("of", font="CMR10")
    row = RowReader([unit_of_glyph(glyph) for glyph in setting.glyphs])
    assert [row.text(start, end) for start, end in row.find_intervals()] == ["l↑"]


def test_an_embedded_formula_that_overlaps_another_one_is_in_one_of_them() -> None:
    setting = Setting().put("x=y").put("z", font="CMR10")
    row = [unit_of_glyph(glyph) for glyph in setting.glyphs]
    row[3].box = row[2].box
    row[3].is_object = True
    assert RowReader(row).find_intervals() == [(0, 4)]


# Scripts that stand left of their letter, and bold letters at the end of a formula.


def glyph(text: str, x: float, kind: Kind = "letter", size: float = 10, y: float = 100) -> Glyph:
    font = "CMMI10" if kind == "relation" or text == "m" else "CMR10"
    box = Box(x, y - 0.7 * size, x + 0.5 * size, y)
    return Glyph(int(x), text, GlyphSymbol(text, kind), font, size, x, y, box)


def read_left_scripts(*glyphs: Glyph) -> list[str]:
    regions = find_regions(PageMarks(400, 400, glyphs))
    return ["".join(g.text for g in sorted(r.glyphs, key=lambda g: g.x)) for r in regions]


def test_a_mass_number_behind_a_space_belongs_to_the_element_behind_it() -> None:
    mass = [glyph(digit, 52.4 + 3.5 * k, "digit", 7, 96) for k, digit in enumerate("235")]
    prose = [glyph(letter, 35 + 5 * k) for k, letter in enumerate("the")]
    assert read_left_scripts(*prose, *mass, glyph("U", 63.2)) == ["235U"]


def test_a_letter_a_behind_a_letter_is_no_ordinal() -> None:
    product = [glyph("F", 10), glyph("=", 18, "relation"), glyph("m", 26), glyph("a", 31)]
    assert read_left_scripts(*product) == ["F=ma"]


def test_numbers_above_each_other_belong_to_one_element_where_they_begin_together() -> None:
    mass = [glyph(digit, 52.4 + 3.5 * k, "digit", 7, 96) for k, digit in enumerate("235")]
    charge = [glyph(digit, 52.4 + 3.5 * k, "digit", 7, 103) for k, digit in enumerate("92")]
    assert [len(text) for text in read_left_scripts(*mass, *charge, glyph("U", 63.2))] == [6]


def test_numbers_of_another_font_need_a_narrow_space_only() -> None:
    numbers = [glyph("0", 51.5, "digit", 7, 96), glyph("-", 51.5, "operator", 7, 103)]
    numbers += [glyph("1", 55, "digit", 7, 103), glyph("e", 58.6)]
    mathematics = [replace(number, font="NewCMMath-Book") for number in numbers]
    prose = [glyph(letter, 35 + 5 * k) for k, letter in enumerate("tha")]
    assert [sorted(text) for text in read_left_scripts(*prose, *mathematics)] == [sorted("0-1e")]


# Scripts belong to the letters of their own row.


def find_scripts(setting: Setting) -> dict[str, str]:
    """The scripts of each letter or block that has some, both as text from left to right."""
    marks = PageMarks(600, 800, tuple(setting.glyphs), tuple(setting.bars))
    units = attach_scripts(list(find_units(marks).units))
    return {
        "".join(glyph.text for glyph in unit.glyphs): "".join(
            script.glyphs[0].text for script in sorted(unit.scripts, key=lambda s: s.box[:2])
        )
        for unit in units
        if unit.scripts
    }


def test_numbers_before_an_element_are_not_scripts_of_the_word_before_it() -> None:
    setting = Setting().put("of", font="CMR10", gap=0.0)
    setting.x += 2.5
    start = setting.x
    setting.put("0", y=96, size=7, font="CMR8", gap=0.0)
    setting.put("−1", x=start, y=102.5, size=7, font="CMR8", gap=0.0).put("e", font="CMR10")
    assert find_scripts(setting) == {"e": "0−1"}


def test_numbers_before_an_element_are_not_scripts_of_the_next_row() -> None:
    setting = Setting().put("3", x=10, y=103, size=7, font="CMR8").put("e", x=14, font="CMR10")
    assert find_scripts(setting.put("u", x=5.5, y=112, font="CMR10")) == {"e": "3"}


# Formulas printed so close that only the painting order separates them.

STEP = 13.0
"""Distance of two choices in points: the fractions overlap."""


@pytest.fixture
def choices() -> PageMarks:
    """Two choices below each other, each a label and a fraction in small type."""
    page = pymupdf.open().new_page(width=300, height=200)
    for number, (label, above, below) in enumerate((("(A)", "x+1", "b"), ("(B)", "c", "y+2"))):
        y = 100 + number * STEP
        page.insert_text((50, y), label, fontname="tiro", fontsize=11)
        for text, level in ((above, y - 6), (below, y + 6)):
            width = pymupdf.get_text_length(text, "tiit", 7.7)
            page.insert_text((85 - width / 2, level), text, fontname="tiit", fontsize=7.7)
        page.draw_line((78, y - 3), (92, y - 3), width=0.5)
    return read_marks(page)


def test_stacked_choices_do_not_mix(choices: PageMarks) -> None:
    regions = find_regions(choices)
    assert [sorted(glyph.text for glyph in region.glyphs) for region in regions] == [
        sorted("x+1b"),
        sorted("cy+2"),
    ]
    assert [len(region.bars) for region in regions] == [1, 1]


def test_marks_are_separated_where_text_is_painted(choices: PageMarks) -> None:
    groups = separate(choices, find_regions(choices))
    assert ["".join(glyph.text for glyph in group.glyphs) for group in groups] == [
        "(A)x+1b", "(B)cy+2",
    ]  # fmt: skip
    assert [len(group.bars) for group in groups] == [1, 1]


def test_an_element_stays_with_its_numbers() -> None:
    setting = Setting().put("of", font="CMR10", x=10).put("131", x=30, y=96, size=7, font="CMMI7")
    setting.put("I", font="CMR10", gap=0.0).put("9.", font="CMR10", x=10, y=114)
    glyphs = tuple(replace(g, serial=k) for k, g in enumerate(setting.glyphs))
    groups = separate(PageMarks(300, 200, glyphs), [])
    assert ["".join(glyph.text for glyph in group.glyphs) for group in groups] == ["of131I", "9."]


# Signs that are set as two: the harpoons of an equilibrium, a congruence, a stroked letter.


def test_the_stroke_of_a_letter_belongs_to_it() -> None:
    symbol = identify("CMBX10", "\ufffd", name="suppress")
    stroke = Glyph(0, "\ufffd", symbol, "CMBX10", 10.0, 10, 98, Box(10, 94.5, 13, 95.5))
    setting = Setting().put("h", x=10)
    field = InkField(unit_of_glyph(glyph) for glyph in [stroke, *setting.glyphs])
    join_strokes(field)
    [letter] = field.units
    assert [script.glyphs[0] for script in letter.scripts] == [stroke]
