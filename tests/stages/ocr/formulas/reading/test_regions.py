"""Which marks are a formula and which are prose, on pages that are drawn here."""

from __future__ import annotations

import pymupdf
import pytest

from omibench.stages.ocr.formulas.marks import FormulaRegion
from omibench.stages.ocr.formulas.page_marks import read_marks
from omibench.stages.ocr.formulas.regions import find_regions


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
