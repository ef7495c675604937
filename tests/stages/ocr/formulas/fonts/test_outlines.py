"""Letters of Type 3 fonts by their outlines."""

from __future__ import annotations

import pymupdf
import pytest

from omibench.stages.ocr.formulas import font_programs as outlines
from omibench.stages.ocr.formulas.font_programs import EmbeddedFonts, hash_outline, read_letters

TRIANGLE = b"500 0 10 -700 490 0 d1\n10 0 m\n490 0 l\n250 -700 l\nh\nf\n"
SQUARE = b"500 0 10 -400 410 0 d1\n10 0 m\n410 0 l\n410 -400 l\n10 -400 l\nh\nf\n"


def draw_page(triangle: bytes = TRIANGLE, matrix: str = ".001 0 0 -.001 0 0") -> pymupdf.Page:
    """A page with a triangle and a square of a Type 3 font without a name."""
    document = pymupdf.open()
    page = document.new_page()
    numbers = [document.get_new_xref() for _ in range(3)]
    for xref, procedure in zip(numbers, (triangle, SQUARE), strict=False):
        document.update_object(xref, "<<>>")
        document.update_stream(xref, procedure)
    document.update_object(
        numbers[2],
        f"<</Type/Font/Subtype/Type3/FontMatrix[{matrix}]/FontBBox[0 0 500 -700]/FirstChar 65"
        f"/LastChar 66/Widths[500 500]/Encoding<</Type/Encoding/Differences[65/gA/gB]>>"
        f"/CharProcs<</gA {numbers[0]} 0 R/gB {numbers[1]} 0 R>>>>",
    )
    document.xref_set_key(page.xref, "Resources", f"<</Font<</F0 {numbers[2]} 0 R>>>>")
    content = document.get_new_xref()
    document.update_object(content, "<<>>")
    document.update_stream(content, b"BT /F0 20 Tf 72 700 Td (AB) Tj ET")
    page.set_contents(content)
    return pymupdf.open(stream=document.tobytes())[0]


def find_font(page: pymupdf.Page) -> tuple[str, list[int]]:
    span = page.get_texttrace()[0]
    return span["font"], [glyph[1] for glyph in span["chars"]]


def test_a_known_outline_is_a_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(outlines.LETTERS, hash_outline(TRIANGLE, -1), "𝛥")
    page = draw_page()
    font, glyphs = find_font(page)
    assert font.startswith("Type3 (")
    characters = [EmbeddedFonts(page).character(font, glyph) for glyph in glyphs]
    assert characters == ["𝛥", None]


def test_an_outline_is_the_same_at_every_scale() -> None:
    double = b"20 0 m\n980 0 l\n500 1400 l\nh\nf\n"
    assert hash_outline(double, 0.5) == hash_outline(TRIANGLE, -1) != hash_outline(SQUARE, -1)
    assert hash_outline(b"q 10 0 0 10 0 0 cm /Im Do Q", 1) == ""


def test_numbers_without_an_operator_are_read_once() -> None:
    # Twenty times the longest procedure: a search that begins again at each number takes minutes.
    assert hash_outline(b"1 " * 200_000, 1) == hash_outline(b"1" * 400_000, 1) == ""


@pytest.mark.parametrize(
    ("triangle", "matrix"),
    [
        (b"0 0 d0 1.2.3 . m", "1 0 0 1 0 0"),
        (TRIANGLE, "1 0 0 nan 0 0"),
        (TRIANGLE, "1 0 0 inf 0 0"),
    ],
)
def test_points_that_are_no_numbers_have_no_letter(triangle: bytes, matrix: str) -> None:
    page = draw_page(triangle)
    xref = page.get_fonts()[0][0]
    page.parent.xref_set_key(xref, "FontMatrix", f"({matrix})")
    assert read_letters(page.parent, xref) == {}


@pytest.mark.parametrize("matrix", ["a b c d e f", "", "1 2"])
def test_a_broken_font_tells_nothing(matrix: str) -> None:
    page = draw_page(matrix=matrix)
    fonts = [font[0] for font in page.get_fonts()]
    assert all(read_letters(page.parent, xref) == {} for xref in [*fonts, 1])


def test_letters_of_the_table_are_letters_of_mathematics() -> None:
    assert len(outlines.LETTERS) == 2 * 52 + 2 * 26 + 2 * 52
    assert all(ord(letter) > 0x2000 for letter in outlines.LETTERS.values())
