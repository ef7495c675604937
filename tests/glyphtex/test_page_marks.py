"""Glyphs, bars, roots, pictures and objects of a page as marks, and the characters they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pymupdf
import pytest
from tests.glyphtex.set_type import Setting, find_regions, read_marks

from glyphtex import libreoffice, page_marks
from glyphtex.libreoffice import correct_signs, split_objects
from glyphtex.marks import Box, Glyph, GlyphSymbol, PageMarks
from glyphtex.page_marks import cut_stretched, find_vectors
from glyphtex.pages import MAX_CROWD, MAX_LINES, exceeds_limits, read_page
from glyphtex.text_layer import (
    Character,
    PaintedAt,
    PaintedGlyph,
    ProseLines,
    TextRun,
    find_missing,
    find_prose,
    list_painted,
    read_characters,
)
from omibench.stages.ocr.engines.textlayer import read_lines


@pytest.fixture
def page() -> pymupdf.Page:
    return pymupdf.open().new_page(width=300, height=200)


# Marks that a page paints.


def test_drawings_and_pictures_are_marks_by_their_shape(page: pymupdf.Page) -> None:
    page.draw_line((20, 50), (60, 50), width=0.4)
    page.draw_rect((20, 60, 60, 60.6), fill=(0, 0, 0), color=None)
    page.draw_polyline([(20, 70), (60, 70), (60, 70.5), (20, 70.5)], fill=(0,), color=None)
    page.draw_line((20, 80), (20, 120))
    page.draw_rect((100, 60, 160, 90))
    page.draw_polyline([(220, 60), (223, 58), (228, 70), (234, 50), (260, 50)], width=0.5)
    page.draw_polyline([(200, 50), (210, 70), (220, 50)], width=0.5)
    pixels = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 30, 12), 0)
    pixels.clear_with(90)
    page.insert_image((50, 90, 80, 102), pixmap=pixels)
    page.insert_image((50, 110, 250, 190), pixmap=pixels, keep_proportion=False)
    page.insert_text((280, 100), "axis", rotate=90)
    marks = read_marks(page)
    assert [round(bar.y) for bar in marks.bars if bar.x0 < 100] == [50, 60, 70]
    assert all(0.3 < bar.thickness < 0.7 for bar in marks.bars)
    assert [round(root.box.x0) for root in marks.roots] == [220]
    assert [round(picture.box.x0) for picture in marks.pictures] == [50]
    assert marks.glyphs == ()


def test_lines_under_a_watermark_are_not_its_scripts(page: pymupdf.Page) -> None:
    page.insert_text((20, 130), "DRAFT", fontsize=75)
    page.insert_text((150, 150), "A", fontsize=200)
    for k in range(6):
        page.insert_text((20, 70 + 13 * k), "If x = 3 + y then", fontname="tiit")
    assert [formula.latex for formula in read_page(page)] == 6 * ["x=3+y"]


def test_a_glyph_larger_than_the_page_stays_in_the_text(page: pymupdf.Page) -> None:
    page.insert_text((72, 180), "S", fontname="symb", fontsize=800)
    page.insert_text((72, 100), "a=b", fontname="symb")
    text = " ".join(line.text for line in read_lines(page, 1))
    assert r"$\alpha=\beta$" in text
    assert "S" in text


LETTER = Glyph(
    0, "F", GlyphSymbol("F", "letter"), "CMMI10", 10.0, 60.0, 100.0, Box(60.0, 93.0, 67.0, 100.0)
)


def test_a_glyph_stretched_over_the_page_is_cut_to_its_clip(page: pymupdf.Page) -> None:
    content = page.parent.get_new_xref()
    page.parent.update_object(content, "<<>>")
    page.parent.update_stream(content, b"q 0 80 300 30 re W n 0 0 5 5 re f Q")
    page.set_contents(content)
    bar = replace(LETTER, text="|", size=500.0, box=Box(80.0, -900.0, 82.0, 900.0))
    letter, cut = cut_stretched(page, (LETTER, bar))
    assert letter is LETTER
    assert cut is not None
    assert (cut.box, cut.size) == (Box(80.0, 90.0, 82.0, 120.0), 255.0)


def test_an_arrow_over_a_letter_is_a_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    arrow = replace(LETTER, serial=1, text="→", symbol=GlyphSymbol("\\to", "arrow"))
    above = replace(arrow, box=Box(60.5, 89.5, 66.5, 92.0))
    beside = replace(arrow, box=Box(70.0, 95.0, 79.0, 99.0))
    assert [g.symbol.latex for g in find_vectors((LETTER, above, beside))] == ["F", "\\vec", "\\to"]
    monkeypatch.setattr(page_marks, "_MOST", 1)
    assert find_vectors((LETTER, above))[1].symbol.latex == "\\vec"
    assert find_vectors((LETTER, above, above)) == (LETTER, above, above)


def test_stretched_signs_have_the_size_of_the_letters_beside_them() -> None:
    row = [("∑", "large", 17.5, 0), ("i", "letter", 7, 11), ("x", "letter", 12, 16)]
    row += [("(", "open", 9.6, 24), ("=", "relation", 12, 32), ("∑", "large", 17.5, 300)]
    glyphs = [
        Glyph(
            k, text, GlyphSymbol(text, kind), "Serif" if kind == "letter" else "OpenSymbol",
            size, x, 100, Box(x, 100 - size, x + 0.6 * size, 100),
        )
        for k, (text, kind, size, x) in enumerate(row)
    ]  # fmt: skip
    assert [g.size for g in correct_signs(glyphs)] == [12, 7, 12, 12, 12, 17.5]


def test_an_object_is_one_formula_unless_it_is_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def embed(word: str, font: str) -> PageMarks:
        setting = Setting().put("that", font="Serif", gap=0.0).put(word, x=40, font=font, gap=0.0)
        boxes = [glyph.box for glyph in setting.glyphs[4:]]
        frame = Box(boxes[0].x0, boxes[0].y0 - 2, boxes[-1].x1, boxes[-1].y1 + 2)
        return replace(setting.page(), frames=(frame,))

    marks = embed("1,2,n", "Serif-Italic")
    [region] = find_regions(marks)
    assert (len(region.glyphs), region.is_object, region.display) == (5, True, False)
    words = embed("table7", "Serif")
    assert split_objects(words) == (words, [])
    monkeypatch.setattr(libreoffice, "_MOST_PAIRS", len(marks.glyphs) - 1)
    assert split_objects(marks) == (marks, [])


def crowd(count: int, step: float) -> TextRun:
    places = [(50 + step * (k % 80), 50 + step * (k // 80)) for k in range(count)]
    box = Box(0, 0, 5, 7)
    return TextRun({}, tuple(Character(k, "x", "F", 10.0, *p, box) for k, p in enumerate(places)))


@pytest.mark.parametrize(
    ("runs", "exceeds"),
    [
        ([crowd(4000, 6.0)], False),
        ([crowd(MAX_CROWD, 0.0)], False),
        ([crowd(MAX_CROWD + 1, 0.0)], True),
        ([crowd(1, 6.0)] * (MAX_LINES + 1), True),
    ],
)
def test_crowded_text_and_thousands_of_lines_exceed_the_limits(
    runs: list[TextRun], *, exceeds: bool
) -> None:
    assert exceeds_limits(runs) is exceeds


# Lines of prose far from all mathematics, whose glyphs are not examined.


def line(
    text: str, y: float, *, font: str = "Times", size: float = 10, **more: Any
) -> dict[str, Any]:
    box = (50.0, y - 0.8 * size, 50 + 0.5 * size * len(text), y + 0.2 * size)
    span = {"text": text, "font": font, "size": size, "flags": 0, "origin": (50.0, y), "bbox": box}
    return {"spans": [span | more], "bbox": box}


def near(formula: dict[str, Any]) -> list[dict[str, Any]]:
    return [line("Far above.", 100), line("Just above.", 285), formula, line("Far below.", 500)]


@pytest.mark.parametrize(
    ("lines", "prose"),
    [
        ([line("A ball falls, (see page 3).", y) for y in (100, 112)], [True, True]),
        (near(line("so E = 3", 300)), [True, False, False, True]),
        (near(line("the angle α", 300)), [True, False, False, True]),
        (near(line("x", 300, font="ABCDEF+CMMI10")), [True, False, False, True]),
        (near(line("of mass m here", 300, flags=2)), [True, False, False, True]),
        (near(line("a \ufffd b", 300)), [True, False, False, True]),
        ([line("Area in m", 100), line("2", 96, size=6)], [False, False]),
        ([line("Heading", 100, size=16), line("Words.", 140)], [True, True]),
        ([line("over a rule", 796), line("Words.", 300)], [False, True]),
        ([line("  ", 100, font="Cambria"), line("Words.", 300)], [False, True]),
        ([line("a", 100, font="Type3 (7 0 R)"), line("Words.", 300)], [False, False]),
        ([line("a", 100)] * 5000, [False] * 5000),
    ],
)
def test_lines_near_mathematics_are_examined_and_distant_ones_are_not(
    lines: list[dict[str, Any]], prose: list[bool]
) -> None:
    assert find_prose(lines, [Box(50, 800, 90, 800)]) == prose


def test_glyphs_of_prose_are_left_out_and_the_others_keep_their_numbers(
    page: pymupdf.Page,
) -> None:
    page.insert_text((20, 50), "A ball falls.")
    page.insert_text((20, 150), "x = 3")
    lines = [li for b in page.get_text("dict")["blocks"] for li in b["lines"]]
    assert list_painted(page, ProseLines(lines[:1])) == list_painted(page)[-5:]


@pytest.mark.parametrize(
    ("text", "prose", "is_missing"),
    [
        ("-", "melted together com\u00ad", False),
        ("−", "melted together com\u00ad", True),
        ("\ufb01", "of a first kind", False),  # the ligature of f and i
        ("\ufb01", "a kid", True),
    ],
)
def test_hyphens_and_ligatures_are_in_the_text_of_their_line(
    text: str, prose: str, is_missing: bool
) -> None:
    glyph = PaintedGlyph(1, text, "Times", 10, 80, 100, 69)
    assert find_missing([glyph], ProseLines([line(prose, 100)])) == [glyph] * is_missing


# Characters whose text layer is false or silent.


@pytest.mark.parametrize("turn", [0, 90, 270])
def test_spaces_of_turned_labels_stay_spaces(page: pymupdf.Page, turn: int) -> None:
    page.insert_text((100, 100), "mass of it (g)", rotate=turn)
    (run,) = read_characters(page, [Box(0, 100, 300, 101)]).runs
    assert "".join(character.text for character in run.characters) == "mass of it (g)"


def test_characters_at_one_origin_keep_their_glyphs(page: pymupdf.Page) -> None:
    for text in ("ab", "xb"):
        page.insert_text((50, 100), text)
    glyphs = {
        (c.text, c.glyph_id)
        for run in read_characters(page, [Box(0, 100, 300, 101)]).runs
        for c in run.characters
    }
    assert len({glyph_id for _, glyph_id in glyphs}) == len(glyphs) == 3
    bar = PaintedGlyph(1, "\ufffd", "F", 10.0, 50.0, 70.0, 5)
    arrow = bar._replace(text="→", x=50.02, glyph_id=6)
    places = PaintedAt([bar, arrow])
    assert places.find((50.02, 70.0), "→") is arrow
    assert places.find((50.0, 70.0), "7") is bar
