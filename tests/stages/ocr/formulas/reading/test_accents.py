"""Accents: where they stand, and what text layers make of them."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
import pytest

from omibench.stages.ocr.formulas import page_marks as vectors
from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol
from omibench.stages.ocr.formulas.page_marks import cut_stretched, find_vectors
from omibench.stages.ocr.formulas.painted_glyphs import find_unnamed_mathematics
from omibench.stages.ocr.formulas.text_layer import Character
from omibench.stages.ocr.layout.layout import Box

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
    monkeypatch.setattr(vectors, "_MOST", 1)
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
