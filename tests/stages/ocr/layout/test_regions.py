"""Drawings of a page as candidates for figures; what stands on many pages is none."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
from hypothesis import given
from hypothesis import strategies as st

from glyphtex.marks import Box, Formula, FormulaRegion
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.layout.regions import Region, find_regions, without_logos

# Drawings of a page as candidates for figures.

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


# What stands on many pages is no figure; what only looks like another figure stays.

SIZE = (595.0, 842.0)
PLACES = st.tuples(st.integers(40, 400), st.integers(150, 600))


def kept(pages: list[list[Region]]) -> list[list[Region]]:
    return without_logos(pages, [SIZE] * len(pages))


def drawn(x: float, y: float, strokes: int = 5) -> Region:
    return Region(Box(x, y, x + 60, y + 40), strokes=strokes)


@given(st.integers(3, 8), PLACES)
def test_the_same_drawing_on_three_pages_is_a_logo(count: int, place: tuple[int, int]) -> None:
    pages = [[drawn(*place), drawn(450, 160 + 41 * k, 7)] for k in range(count)]
    assert [[r.strokes for r in regions] for regions in kept(pages)] == [[7]] * count


def test_other_drawings_at_one_place_and_two_copies_stay() -> None:
    pages = [[drawn(100, 200, strokes)] for strokes in (4, 5, 6, 7)]
    assert kept(pages) == pages
    twice = [[drawn(100, 200)], [drawn(100, 200)], [drawn(300, 200)]]
    assert kept(twice) == twice


def test_an_image_shown_again_anywhere_is_a_logo() -> None:
    pages = [
        [Region(Box(x, 300, x + 80, 380), raster=True, image=(10, 10, 99))] for x in (60, 200, 340)
    ]
    assert kept(pages) == [[], [], []]
    assert kept(pages[:2]) == pages[:2]


def test_on_scans_only_the_margin_makes_a_logo() -> None:
    def scan(x: float, y: float) -> Region:
        return Region(Box(x, y, x + 60, y + 40), raster=True)

    pages = [[scan(480 + k, 30 + 2 * k), scan(100, 300)] for k in range(3)]
    assert kept(pages) == [[scan(100, 300)]] * 3
