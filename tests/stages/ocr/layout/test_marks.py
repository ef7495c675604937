"""Drawings of a page as candidates for figures."""

from __future__ import annotations

from dataclasses import replace

import pymupdf

from glyphtex.boxes import Box
from glyphtex.marks import Formula, FormulaRegion
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.layout.regions import find_regions

FRAME = Box(40, 100, 160, 180)


def test_the_bar_of_a_fraction_above_a_figure_is_no_part_of_it() -> None:
    page = pymupdf.open().new_page()
    page.draw_rect((FRAME.x0, FRAME.y0, FRAME.x1, FRAME.y1))
    page.draw_line((60, 97), (64, 97))
    text = Line(1, Box(40, 88, 160, 104), r"with $\frac{g}{2}$", 10, baseline=100)
    without = find_regions(page, [text])
    assert [region.box.y0 < FRAME.y0 - 1 for region in without] == [True]
    formula = Formula(FormulaRegion(Box(58, 88, 66, 104), ()), r"\frac{g}{2}", ())
    (found,) = find_regions(page, [replace(text, formulas=(formula,))])
    assert abs(found.box.y0 - FRAME.y0) < 1.5
