"""What font programs say of their glyphs."""

from __future__ import annotations

import pymupdf
import pytest

from omibench.stages.ocr.formulas.font_programs import NO_FACTS, EmbeddedFonts


@pytest.fixture
def page() -> pymupdf.Page:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_font(fontname="F0", fontbuffer=pymupdf.Font("helv").buffer)
    page.insert_text((72, 100), "x√|", fontname="F0", fontsize=20)
    return pymupdf.open(stream=document.tobytes())[0]


def test_a_glyph_has_the_name_and_the_ink_of_its_font_program(page: pymupdf.Page) -> None:
    fonts = EmbeddedFonts(page)
    trace = page.get_texttrace()[0]
    letter, *_, bar = (fonts.facts(trace["font"], glyph[1]) for glyph in trace["chars"])
    assert (letter.name, bar.name) == ("x", "bar")
    assert letter.ink is not None
    assert bar.ink is not None
    assert 0.4 < letter.ink.y1 < 0.6
    assert letter.ink.y0 == pytest.approx(0, abs=0.02)
    assert bar.ink.y0 < -0.1 < 0.7 < bar.ink.y1
    assert bar.ink.width < 0.15


def test_of_a_font_that_is_not_embedded_nothing_is_known(page: pymupdf.Page) -> None:
    assert EmbeddedFonts(page).facts("Times", 1) == NO_FACTS
    assert EmbeddedFonts(page).facts(page.get_texttrace()[0]["font"], -1) == NO_FACTS


def test_a_font_that_is_no_font_is_left_out() -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_font(fontname="F0", fontbuffer=pymupdf.Font("helv").buffer)
    page.insert_text((72, 100), "x", fontname="F0")
    descriptor = next(
        xref
        for xref in range(1, document.xref_length())
        if document.xref_get_key(xref, "Type")[1] == "/FontDescriptor"
    )
    stream = next(
        int(document.xref_get_key(descriptor, key)[1].split()[0])
        for key in ("FontFile", "FontFile2", "FontFile3")
        if document.xref_get_key(descriptor, key)[0] == "xref"
    )
    document.update_stream(stream, b"no font at all")
    page = document[0]
    font = page.get_texttrace()[0]
    assert EmbeddedFonts(page).facts(font["font"], font["chars"][0][1]) == NO_FACTS
