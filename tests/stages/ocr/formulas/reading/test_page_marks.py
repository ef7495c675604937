"""Marks of a page: glyphs, bars, drawn roots and small pictures, in PDFs that are drawn here."""

from __future__ import annotations

import pymupdf
import pytest

from omibench.stages.ocr.formulas import page_marks
from omibench.stages.ocr.formulas.page_formulas import read_formulas
from omibench.stages.ocr.formulas.page_marks import read_marks
from omibench.stages.ocr.formulas.text_layer import read_characters


@pytest.fixture
def page() -> pymupdf.Page:
    return pymupdf.open().new_page(width=300, height=200)


def test_a_glyph_has_its_font_origin_and_the_box_of_its_ink(page: pymupdf.Page) -> None:
    page.insert_text((50, 100), "x g", fontsize=20, fontname="tiro")
    marks = read_marks(page)
    assert [g.text for g in marks.glyphs] == ["x", "g"]
    x, g = marks.glyphs
    assert (x.x, x.y, round(x.size)) == (50, 100, 20)
    assert x.box.y1 < 101
    assert g.box.y1 > 103
    assert x.box.y0 > 88
    assert x.serial < g.serial


def test_turned_text_is_no_mark(page: pymupdf.Page) -> None:
    page.insert_text((50, 100), "axis", rotate=90)
    assert read_marks(page).glyphs == ()


def test_bars_are_strokes_thin_rectangles_and_thin_polygons(page: pymupdf.Page) -> None:
    page.draw_line((20, 50), (60, 50), width=0.4)
    page.draw_rect((20, 60, 60, 60.6), fill=(0, 0, 0), color=None)
    page.draw_polyline([(20, 70), (60, 70), (60, 70.5), (20, 70.5)], fill=(0,), color=None)
    page.draw_line((20, 80), (20, 120))
    page.draw_rect((100, 60, 160, 90))
    bars = read_marks(page).bars
    assert [round(bar.y) for bar in bars] == [50, 60, 70]
    assert all((round(bar.x0), round(bar.x1)) == (20, 60) for bar in bars)
    assert all(0.3 < bar.thickness < 0.7 for bar in bars)


def test_a_drawn_root_is_a_path_of_its_shape(page: pymupdf.Page) -> None:
    page.draw_polyline([(20, 60), (23, 58), (28, 70), (34, 50), (60, 50)], width=0.5)
    page.draw_polyline([(100, 50), (110, 70), (120, 50)], width=0.5)
    roots = read_marks(page).roots
    assert [round(root.box.x0) for root in roots] == [20]


def test_small_images_are_pictures(page: pymupdf.Page) -> None:
    pixels = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 30, 12), 0)
    pixels.clear_with(90)
    page.insert_image((50, 90, 80, 102), pixmap=pixels)
    page.insert_image((50, 110, 250, 190), pixmap=pixels, keep_proportion=False)
    (picture,) = read_marks(page).pictures
    assert picture.box == pytest.approx((50, 90, 80, 102), abs=0.1)


def test_a_page_of_too_many_glyphs_is_cut_off(
    page: pymupdf.Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_marks, "MAX_GLYPHS", 3)
    page.insert_text((50, 100), "abcdefgh")
    assert len(read_marks(page).glyphs) == 3


def test_a_letter_as_large_as_the_page_is_no_mark_beside_a_formula(page: pymupdf.Page) -> None:
    page.insert_text((20, 100), "If x = 3 + y", fontname="tiit")
    page.insert_text((50, 150), "A", fontsize=200)
    assert "A" not in {glyph.text for glyph in read_marks(page).glyphs}
    reading = read_formulas(page, *read_characters(page))
    assert [formula.formula.latex for formula in reading.formulas] == ["x=3+y"]


def test_lines_under_a_watermark_are_not_its_scripts(page: pymupdf.Page) -> None:
    page.insert_text((20, 130), "DRAFT", fontsize=75)
    for k in range(6):
        page.insert_text((20, 70 + 13 * k), "If x = 3 + y then", fontname="tiit")
    reading = read_formulas(page, *read_characters(page))
    assert [formula.formula.latex for formula in reading.formulas] == 6 * ["x=3+y"]
