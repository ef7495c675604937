"""Accents: where they stand, and what text layers make of them."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
import pytest

from omibench.stages.ocr.formulas.glyphs.characters import Character, TextRun
from omibench.stages.ocr.formulas.glyphs.combining import PaintedGlyph, place_combining
from omibench.stages.ocr.formulas.glyphs.stretched import cut_stretched
from omibench.stages.ocr.formulas.glyphs.true_characters import find_unnamed_mathematics
from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol, PageMarks
from omibench.stages.ocr.formulas.reading import vectors
from omibench.stages.ocr.formulas.reading.regions import find_regions
from omibench.stages.ocr.formulas.reading.vectors import find_vectors
from omibench.stages.ocr.layout.layout import Box

LETTER = Glyph(
    0, "F", GlyphSymbol("F", "letter"), "CMMI10", 10.0, 60.0, 100.0, Box(60.0, 93.0, 67.0, 100.0)
)
ARROW = replace(LETTER, serial=1, text="→", symbol=GlyphSymbol("\\to", "arrow"))


def test_an_accent_over_a_tall_letter_is_in_the_region_of_the_letter() -> None:
    symbol = GlyphSymbol("\\vec", "accent")
    accent = replace(LETTER, text="\u20d7", symbol=symbol, y=97.2, box=Box(61.0, 90.0, 66.0, 92.0))
    [region] = find_regions(PageMarks(300, 300, (LETTER, accent)))
    assert len(region.glyphs) == 2


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


def test_an_accent_without_width_is_put_to_the_letter_under_it() -> None:
    page = pymupdf.open().new_page()
    painted = PaintedGlyph(7, "\u20d7", "CMMI10", 10.0, 61.0, 97.0, 55)
    moved = character("\u20d7", 80.0, glyph_id=None)
    run = TextRun({}, (character("F", 60.0), character("r", 70.0), moved))
    [placed] = place_combining(page, [run], [painted])
    assert [c.text for c in placed.characters] == ["F", "\u20d7", "r"]
    assert 61 < placed.characters[1].box.x0 < placed.characters[1].box.x1 < 66
    # MuPDF had put it into the letter, or lost it.
    [placed] = place_combining(page, [TextRun({}, (character("F\u20d7"[0], 60.0),))], [painted])
    assert [c.text for c in placed.characters] == ["F", "\u20d7"]
    composed = TextRun({}, (character("ẋ", 60.0),))
    [placed] = place_combining(page, [composed], [painted._replace(text="\u0307")])
    assert [c.text for c in placed.characters] == ["x", "\u0307"]


def test_accents_of_prose_stay_where_they_are() -> None:
    page = pymupdf.open().new_page()
    prose = TextRun(
        {}, (character("e", 60.0, font="Times"), character("\u0301", 66.0, font="Times"))
    )
    painted = PaintedGlyph(7, "\u0301", "Times", 10.0, 61.0, 97.0, 55)
    assert place_combining(page, [prose], [painted]) == [prose]


def test_unnamed_fonts_beside_one_of_mathematics_are_mathematics_too() -> None:
    prose = [("Times", "a")] * 20
    mathematics = [("Type3 (5 0 R)", "𝑥"), ("Type3 (6 0 R)", "(")]
    assert find_unnamed_mathematics(prose + mathematics) == {"Type3 (5 0 R)", "Type3 (6 0 R)"}
    assert find_unnamed_mathematics([*prose, ("Type3 (6 0 R)", "(")]) == set()
    body = [("Type3 (9 0 R)", "a")] * 20
    assert find_unnamed_mathematics(body + mathematics) == {"Type3 (5 0 R)", "Type3 (6 0 R)"}
