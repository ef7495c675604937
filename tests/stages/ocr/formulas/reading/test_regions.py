"""Which marks are a formula and which are prose, on pages that are drawn here."""

from __future__ import annotations

import pymupdf
import pytest

from omibench.stages.ocr.formulas.marks import Region
from omibench.stages.ocr.formulas.reading.page_marks import read_marks
from omibench.stages.ocr.formulas.reading.regions import find_regions


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

    def regions(self) -> list[Region]:
        return find_regions(read_marks(self.page))


def texts(regions: list[Region]) -> list[str]:
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


def test_a_script_makes_a_formula_of_its_base_and_number() -> None:
    sheet = Sheet().put("about 3.2 or 10").put("-3", size=7, rise=4).put(" s long")
    assert texts(sheet.regions()) == ["10-3"]


def test_an_ordinal_and_a_footnote_are_prose() -> None:
    sheet = Sheet().put("the 2").put("nd", size=7, rise=4).put(" word").put("1", size=7, rise=4)
    assert sheet.regions() == []


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


def test_an_equation_grows_over_operators_and_brackets() -> None:
    sheet = Sheet().put("where ").put("x", font="tiit").put(" = (2").put("y", font="tiit")
    sheet.put(" + 1)/3 holds")
    assert texts(sheet.regions()) == ["x=(2y+1)/3"]


def test_a_chemical_formula_is_a_region() -> None:
    sheet = Sheet().put("burn H").put("2", size=7, rise=-1.5).put("O in air")
    assert sorted(texts(sheet.regions())[0]) == sorted("H2O")


def test_an_underlined_word_is_no_fraction() -> None:
    sheet = Sheet().put("this word matters")
    sheet.page.draw_line((68, 101.5), (92, 101.5), width=0.5)
    sheet.page.insert_text(
        (50, 112), "and the next line goes on below", fontname="tiro", fontsize=10
    )
    assert sheet.regions() == []
