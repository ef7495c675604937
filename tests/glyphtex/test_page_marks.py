"""Glyphs, bars, roots, pictures and objects of a page as marks, and the characters they are."""

from __future__ import annotations

import string
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.ttLib.tables._g_l_y_f import Glyph as TableGlyph
from tests.glyphtex.set_type import Setting, find_regions, read_marks

from glyphtex import libreoffice, page_marks
from glyphtex.font_programs import EmbeddedFonts
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


def set_unicode(page: pymupdf.Page, code: str, character: str, font: str) -> None:
    """Give the only font of a page a name, and one of its codes a character; both as hex."""
    pdf = page.parent
    ((xref, *_),) = page.get_fonts()
    pdf.xref_set_key(xref, "BaseFont", f"/ABCDEF+{font}")
    table = pdf.get_new_xref()
    pdf.update_object(table, "<<>>")
    pdf.update_stream(
        table,
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def "
        "/CMapType 2 def 1 begincodespacerange <00> <FF> endcodespacerange "
        f"1 beginbfchar <{code}> <{character}> endbfchar endcmap end end".encode(),
    )
    pdf.xref_set_key(xref, "ToUnicode", f"{table} 0 R")


@pytest.mark.parametrize(
    ("claim", "known", "character"),
    [
        ("0020", "𝑥", "𝑥"),  # Word 2010 writes letters of Cambria Math as spaces
        ("0020", None, "\ufffd"),
        ("FFFD", "𝑥", "𝑥"),
        ("FFFD", None, "\ufffd"),
        ("0041", "𝑥", "A"),
    ],
)
def test_a_glyph_with_a_false_or_no_character_is_what_its_font_says(
    monkeypatch: pytest.MonkeyPatch,
    page: pymupdf.Page,
    claim: str,
    known: str | None,
    character: str,
) -> None:
    monkeypatch.setattr(EmbeddedFonts, "character", lambda *_: known)
    page.insert_text((50, 100), "3=Q", fontname="tiro")
    set_unicode(page, "51", claim, "CambriaMath")
    (run,) = read_characters(page, ()).runs
    assert "".join(c.text for c in run.characters) == "3=" + character


def test_lines_of_a_font_without_ink_are_read(page: pymupdf.Page, tmp_path: Path) -> None:
    """Text recognition puts such lines over the picture of a page."""
    letters = string.ascii_letters + string.digits + " .=/?"
    names = [".notdef", *(f"g{ord(letter)}" for letter in letters)]
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(names)
    font.setupCharacterMap({ord(letter): f"g{ord(letter)}" for letter in letters})
    font.setupGlyf({name: TableGlyph() for name in names})
    font.setupHorizontalMetrics(dict.fromkeys(names, (500, 0)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Inkless", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(tmp_path / "inkless.ttf")
    page.insert_font("F0", fontfile=str(tmp_path / "inkless.ttf"))
    lines = ["1. A ball falls.", "Its speed is v = 3 m/s.", "How high is it?"]
    for k, text in enumerate(lines):
        page.insert_text((20, 40 + 50 * k), text, fontname="F0", fontsize=10, render_mode=3)
    read = [line.text for line in read_lines(page, 1)]
    assert read == [lines[0], r"Its speed is $\mathrm{v}=3$ m/s.", lines[2]]


def test_lines_that_begin_at_one_point_keep_their_texts_and_boxes(page: pymupdf.Page) -> None:
    page.insert_text((50, 150), "Prose that starts at one place")
    page.insert_text((50, 150), "Turned prose", rotate=90)
    page.insert_text((50, 180), "x = 3", fontname="tiit")
    wide, tall = [li for li in read_lines(page, 1) if "rose" in li.text]
    assert (wide.text, tall.text) == ("Prose that starts at one place", "Turned prose")
    assert wide.box[2] - wide.box[0] > 100 > tall.box[2] - tall.box[0]


def test_an_object_without_a_visible_mark_is_no_formula(page: pymupdf.Page) -> None:
    page.insert_text((50, 100), "QQ", fontname="tiro")
    set_unicode(page, "51", "2061", "OpenSymbol")
    stream = page.get_contents()[-1]
    content = page.parent.xref_stream(stream)
    page.parent.update_stream(stream, b"q 40 80 60 40 re W n\n" + content + b"\nQ")
    assert libreoffice.find_frames(page)
    assert read_page(page) == []


def test_a_line_of_spaces_does_not_take_the_box_of_a_text(page: pymupdf.Page) -> None:
    page.insert_text((72, 100), " ", fontname="tiit")
    page.insert_text((72, 140), "words between")
    page.insert_text((72, 100), "x = 2 and y = 3", fontname="tiit")
    runs = read_characters(page, ()).runs
    (text,) = [run for run in runs if "".join(c.text for c in run.characters).startswith("x")]
    assert text.raw["bbox"][2] - text.raw["bbox"][0] > 60
