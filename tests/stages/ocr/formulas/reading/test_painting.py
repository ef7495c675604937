"""Formulas printed so close that only the painting order separates them."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
import pytest
from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.marks import PageMarks
from omibench.stages.ocr.formulas.page_marks import read_marks
from omibench.stages.ocr.formulas.regions import find_regions, separate

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
