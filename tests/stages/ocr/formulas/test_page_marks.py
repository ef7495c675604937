"""Letters, bars, roots, pictures and objects of a page as marks."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
import pytest
from benchmarks.formulas import FOLDER
from tests.stages.ocr.formulas.set_type import Setting

from omibench.stages.ocr.engines.textlayer import read_lines
from omibench.stages.ocr.formulas import drawings as objects
from omibench.stages.ocr.formulas import page_marks
from omibench.stages.ocr.formulas.drawings import split_objects
from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol, PageMarks
from omibench.stages.ocr.formulas.page_formulas import (
    MAX_CROWD,
    MAX_LINES,
    exceeds_limits,
    read_formulas,
)
from omibench.stages.ocr.formulas.page_marks import Symbols, cut_stretched, find_vectors, read_marks
from omibench.stages.ocr.formulas.painted_glyphs import find_unnamed_mathematics
from omibench.stages.ocr.formulas.regions import find_regions
from omibench.stages.ocr.formulas.text_layer import Character, TextRun, read_characters
from omibench.stages.ocr.layout.layout import Box

# Accents: where they stand, and what text layers make of them.

LETTER = Glyph(
    0, "F", GlyphSymbol("F", "letter"), "CMMI10", 10.0, 60.0, 100.0, Box(60.0, 93.0, 67.0, 100.0)
)

ARROW = replace(LETTER, serial=1, text="→", symbol=GlyphSymbol("\\to", "arrow"))


def test_an_arrow_over_a_letter_is_a_vector_and_one_beside_it_is_none() -> None:
    above = replace(ARROW, box=Box(60.5, 89.5, 66.5, 92.0))
    beside = replace(ARROW, box=Box(70.0, 95.0, 79.0, 99.0))
    assert [g.symbol.latex for g in find_vectors((LETTER, above, beside))] == ["F", "\\vec", "\\to"]


def test_a_page_of_too_many_arrows_is_not_searched_for_vectors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    above = replace(ARROW, box=Box(60.5, 89.5, 66.5, 92.0))
    monkeypatch.setattr(page_marks, "_MOST", 1)
    assert find_vectors((LETTER, above))[1].symbol.latex == "\\vec"
    assert find_vectors((LETTER, above, above)) == (LETTER, above, above)


def test_a_glyph_stretched_over_the_page_is_cut_to_its_clip() -> None:
    page = pymupdf.open().new_page(width=300, height=300)
    content = page.parent.get_new_xref()
    page.parent.update_object(content, "<<>>")
    page.parent.update_stream(content, b"q 0 180 300 30 re W n 0 0 5 5 re f Q")
    page.set_contents(content)
    bar = replace(LETTER, text="|", size=500.0, box=Box(80.0, -900.0, 82.0, 900.0))
    letter, cut = cut_stretched(page, (LETTER, bar))
    assert letter is LETTER
    assert (cut.box, cut.size) == (Box(80.0, 90.0, 82.0, 120.0), 255.0)


def character(text: str, x: float, *, font: str = "CMMI10", glyph_id: int | None = 3) -> Character:
    box = Box(x, 93.0, x + 7, 100.0)
    return Character(0, text, font, 10.0, x, 100.0, box, glyph_id=glyph_id)


def test_unnamed_fonts_beside_one_of_mathematics_are_mathematics_too() -> None:
    prose = [("Times", "a")] * 20
    mathematics = [("Type3 (5 0 R)", "𝑥"), ("Type3 (6 0 R)", "(")]
    assert find_unnamed_mathematics(prose + mathematics) == {"Type3 (5 0 R)", "Type3 (6 0 R)"}
    assert find_unnamed_mathematics([*prose, ("Type3 (6 0 R)", "(")]) == set()
    body = [("Type3 (9 0 R)", "a")] * 20
    assert find_unnamed_mathematics(body + mathematics) == {"Type3 (5 0 R)", "Type3 (6 0 R)"}


# Pages with too much text to be searched for formulas in bounded time.


def run(count: int, step: float) -> TextRun:
    places = [(50 + step * (k % 80), 50 + step * (k // 80)) for k in range(count)]
    box = Box(0, 0, 5, 7)
    return TextRun({}, tuple(Character(k, "x", "F", 10.0, *p, box) for k, p in enumerate(places)))


@pytest.mark.parametrize(
    ("runs", "exceeds"),
    [
        ([run(4000, 6.0)], False),
        ([run(MAX_CROWD, 0.0)], False),
        ([run(MAX_CROWD + 1, 0.0)], True),
        ([run(1, 6.0)] * (MAX_LINES + 1), True),
    ],
)
def test_crowded_text_and_thousands_of_lines_exceed_the_limits(
    runs: list[TextRun], *, exceeds: bool
) -> None:
    assert exceeds_limits(runs) is exceeds


# Formulas that LibreOffice embeds as objects: their frames, and what is in them.

PAPER = FOLDER / "shown/libreoffice-dejavu.pdf"


def set_marks(*words: tuple[str, str], frame: int) -> PageMarks:
    """A row of words with their fonts, one of which is painted in a frame."""
    setting = Setting()
    frames = []
    for number, (word, font) in enumerate(words):
        start = len(setting.glyphs)
        setting.put(word, font=font, gap=0.0)
        boxes = [glyph.box for glyph in setting.glyphs[start:]]
        if number == frame:
            frames.append(Box(boxes[0].x0, boxes[0].y0 - 2, boxes[-1].x1, boxes[-1].y1 + 2))
        setting.x += 3
    return PageMarks(500, 700, tuple(setting.glyphs), frames=tuple(frames))


def test_an_object_is_one_formula_whatever_is_in_it() -> None:
    words = (("that", "Serif"), ("1,2,n", "Serif-Italic"), ("is", "Serif"))
    marks = set_marks(*words, frame=1)
    [region] = find_regions(marks)
    assert "".join(glyph.text for glyph in region.glyphs) == "1,2,n"
    assert region.is_object
    assert not region.display


def test_words_in_a_frame_are_no_formula() -> None:
    marks = set_marks(("see", "Serif"), ("table7", "Serif"), frame=1)
    rest, objects = split_objects(marks)
    assert objects == []
    assert rest == marks


def test_a_page_of_too_many_glyphs_and_frames_is_not_split(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = set_marks(("1,2,n", "Serif-Italic"), frame=0)
    assert len(split_objects(marks)[1]) == 1
    monkeypatch.setattr(objects, "_MOST_PAIRS", len(marks.glyphs) - 1)
    assert split_objects(marks) == (marks, [])


# Formulas of whole pages with the places of their characters.


def test_a_glyph_larger_than_the_page_stays_in_the_text() -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 800), "S", fontname="symb", fontsize=800)
        page.insert_text((72, 700), "a=b", fontname="symb")
        text = " ".join(line.text for line in read_lines(page, 1))
    assert r"$\alpha=\beta$" in text
    assert "S" in text


# Marks of a page: glyphs, bars, drawn roots and small pictures, in PDFs that are drawn here.


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


# Symbols of characters whose names are false in one font.


@pytest.mark.parametrize(
    ("text", "font", "depth", "latex"),
    [
        ("\U0001d70d", "STIXTwoMath-Regular", 0.1, "\\sigma"),
        ("\U0001d70d", "STIXTwoMath-Regular", 2.0, "\\varsigma"),
        ("\U0001d70e", "STIXTwoMath-Regular", 2.0, "\\varsigma"),
        ("\U0001d70d", "XITSMath-Regular", 0.1, "\\varsigma"),
    ],
)
def test_a_sigma_is_final_in_stix_if_it_has_a_descender(
    text: str, font: str, depth: float, latex: str
) -> None:
    box = Box(10, 95, 15, 100 + depth)
    character = Character(0, text, font, 10.0, 10.0, 100.0, box)
    assert Symbols(pymupdf.open().new_page()).identify(character).latex == latex
