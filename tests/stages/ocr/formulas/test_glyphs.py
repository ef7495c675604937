"""Glyphs as a page paints them, and the characters that they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf
import pytest

from omibench.stages.ocr.formulas.font_programs import EmbeddedFonts
from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol, Kind
from omibench.stages.ocr.formulas.page_marks import correct_signs
from omibench.stages.ocr.formulas.painted_glyphs import (
    PaintedAt,
    PaintedGlyph,
    ProseLines,
    TrueCharacters,
    find_missing,
    find_prose,
    list_painted,
)
from omibench.stages.ocr.formulas.text_layer import read_runs
from omibench.stages.ocr.formulas.units import Role, RowUnit, role_of
from omibench.stages.ocr.layout.layout import Box

# Signs of LibreOffice's OpenSymbol.


def glyph(text: str, kind: Kind, size: float, x: float, font: str = "LiberationSerif") -> Glyph:
    box = Box(x, 100 - size, x + 0.6 * size, 100)
    return Glyph(0, text, GlyphSymbol(text, kind), font, size, x, 100, box)


def test_stretched_signs_have_the_size_of_the_letters_beside_them() -> None:
    glyphs = [
        glyph("∑", "large", 17.5, 0, "OpenSymbol"),
        glyph("i", "letter", 7, 11),
        glyph("x", "letter", 12, 16),
        glyph("(", "open", 9.6, 24, "OpenSymbol"),
        glyph("=", "relation", 12, 32, "OpenSymbol"),
    ]
    assert [g.size for g in correct_signs(glyphs)] == [12, 7, 12, 12, 12]
    assert [g.box for g in correct_signs(glyphs)] == [g.box for g in glyphs]


def test_signs_of_other_fonts_and_signs_alone_keep_their_size() -> None:
    alone = glyph("∑", "large", 17.5, 0, "OpenSymbol")
    far = glyph("x", "letter", 12, 300)
    assert correct_signs([alone, far]) == (alone, far)
    other = glyph("(", "open", 17.5, 0, "CMEX10")
    assert correct_signs([other, glyph("x", "letter", 10, 12)])[0] == other


# Glyphs that a page paints, and lines of prose that hold all glyphs of a span.

LINE = {"bbox": (72.0, 90.0, 300.0, 104.0), "spans": [{"text": "of a first kind"}]}


def span(text: str, x: float = 80.0, y: float = 100.0) -> dict[str, Any]:
    return {"chars": tuple((ord(c), 7, (x + 5 * k, y), ()) for k, c in enumerate(text))}


@pytest.mark.parametrize(
    ("painted", "is_held"),
    [
        (span("first"), True),
        (span("\ufb01rst"), True),  # the ligature of f and i
        (span("last"), False),
        (span("first", x=290), False),
        (span("first", y=120), False),
        (span(""), False),
    ],
)
def test_a_line_holds_a_span_in_its_box_that_has_only_its_characters(
    painted: dict[str, Any], is_held: bool
) -> None:
    assert ProseLines([LINE]).hold_all(painted) is is_held
    assert not ProseLines([]).hold_all(painted)


def test_glyphs_of_prose_are_left_out_and_the_others_keep_their_numbers() -> None:
    page = pymupdf.open().new_page()
    page.insert_text((72, 100), "A ball falls.")
    page.insert_text((72, 300), "x = 3")
    lines = [li for b in page.get_text("dict")["blocks"] for li in b["lines"]]
    every = list_painted(page)
    kept = list_painted(page, ProseLines(lines[:1]))
    assert "".join(glyph.text for glyph in every) == "A ball falls.x = 3"
    assert kept == every[-5:]


def painted(text: str, x: float, glyph_id: int = 5) -> PaintedGlyph:
    return PaintedGlyph(1, text, "F", 10.0, x, 70.0, glyph_id)


def test_of_two_glyphs_in_one_place_the_one_with_the_text_is_found() -> None:
    bar, arrow = painted("\ufffd", 50.0, 5), painted("→", 50.02, 6)
    places = PaintedAt([bar, arrow])
    assert places.find((50.02, 70.0), "→") is arrow
    assert places.find((50.0, 70.0), "7") is bar


# Lines of prose far from all mathematics, whose glyphs are not examined.


def line(
    text: str, y: float, *, font: str = "Times", size: float = 10, **more: Any
) -> dict[str, Any]:
    box = (50.0, y - 0.8 * size, 50 + 0.5 * size * len(text), y + 0.2 * size)
    span = {"text": text, "font": font, "size": size, "flags": 0, "origin": (50.0, y), "bbox": box}
    return {"spans": [span | more], "bbox": box}


def test_words_alone_are_prose() -> None:
    assert (
        find_prose([line("A ball falls, (see page 3).", y) for y in (100, 112, 124)], [])
        == [True] * 3
    )


@pytest.mark.parametrize(
    "formula",
    [
        line("so E = 3", 300),
        line("the angle α", 300),
        line("x", 300, font="ABCDEF+CMMI10"),
        line("of mass m here", 300, flags=2),
        line("a \ufffd b", 300),
    ],
)
def test_lines_near_a_formula_are_examined_and_distant_ones_are_not(
    formula: dict[str, Any],
) -> None:
    lines = [line("Far above.", 100), line("Just above.", 285), formula, line("Far below.", 500)]
    assert find_prose(lines, []) == [True, False, False, True]


def test_a_smaller_line_beside_a_larger_one_may_be_a_script() -> None:
    assert find_prose([line("Area in m", 100), line("2", 96, size=6)], []) == [False, False]
    assert find_prose([line("Heading", 100, size=16), line("Words.", 140)], []) == [True, True]


def test_lines_beside_a_rule_are_examined() -> None:
    lines = [line("distance", 100), line("time", 114), line("Words.", 300)]
    assert find_prose(lines, [Box(50, 104, 90, 104)]) == [False, False, True]


def test_fonts_of_spaces_alone_and_fonts_without_names_are_examined() -> None:
    assert find_prose([line("  ", 100, font="Cambria"), line("Words.", 300)], []) == [False, True]
    assert (
        find_prose([line("a", 100, font="Type3 (7 0 R)"), line("Words.", 300)], []) == [False] * 2
    )


def test_a_page_of_thousands_of_lines_is_examined_as_a_whole() -> None:
    assert not any(find_prose([line("a", 100)] * 5000, [Box(0, 0, 9, 9)]))


def test_a_hyphen_at_the_end_of_a_line_is_not_missing() -> None:
    lines = [line("melted together com\u00ad", 300)]
    hyphen, minus = (PaintedGlyph(1, text, "Times", 10, 100, 300, 69) for text in "-−")
    assert find_missing([hyphen], ProseLines(lines)) == []
    assert find_missing([minus], ProseLines(lines)) == [minus]


def test_a_ligature_is_read_as_its_letters() -> None:
    lines = [{"bbox": (72.0, 90.0, 300.0, 104.0), "spans": [{"text": "of a first kind"}]}]
    ligature = PaintedGlyph(5, "\ufb01", "CMR10", 10.0, 90.0, 100.0, 7)
    long = PaintedGlyph(6, "\ufb03", "CMR10", 10.0, 90.0, 100.0, 8)
    assert find_missing([ligature, long], ProseLines(lines)) == []
    kid = ProseLines([{**lines[0], "spans": [{"text": "a kid"}]}])
    assert find_missing([ligature], kid) == [ligature]


# Characters whose text layer is false or silent.

KNOWN = {7: "𝑥", 8: "\ue123", 9: " "}


@pytest.fixture
def characters(monkeypatch: pytest.MonkeyPatch) -> TrueCharacters:
    monkeypatch.setattr(EmbeddedFonts, "character", lambda _, __, glyph_id: KNOWN.get(glyph_id))
    return TrueCharacters(pymupdf.open().new_page())


@pytest.mark.parametrize(
    ("text", "font", "glyph_id", "has_ink", "character"),
    [
        (" ", "Cambria Math", 7, True, "𝑥"),
        (" ", "Cambria Math", 6, True, "\ufffd"),
        (" ", "Cambria Math", 9, True, "\ufffd"),
        (" ", "Cambria Math", 7, False, " "),
        (" ", "Arial", None, True, " "),
        ("\ufffd", "F1", 7, True, "𝑥"),
        ("\ufffd", "F1", 8, True, "\ufffd"),
        ("x", "Type3 (5 0 R)", 7, True, "𝑥"),
        ("x", "Type3 (5 0 R)", 6, True, "x"),
        ("x", "Arial", 7, True, "x"),
    ],
)
def test_a_character_is_what_its_glyph_is(
    characters: TrueCharacters,
    text: str,
    font: str,
    glyph_id: int | None,
    has_ink: bool,
    character: str,
) -> None:
    assert characters.find(text, font, glyph_id, has_ink=has_ink) == character


def test_formulas_that_word_maps_to_spaces_are_read(shared_data: Path) -> None:
    papers = [*(shared_data / "exam_pdfs").glob("*IJSO-2012*.pdf")]
    if not papers:
        pytest.skip("needs the papers of shared/data/exam_pdfs")
    with pymupdf.open(papers[0]) as document:
        runs = read_runs(document[0])
    texts = ["".join(c.text for c in run.characters) for run in runs]
    assert any("𝑚𝑣" in text for text in texts)
    assert not any("\ufffd" in text for text in texts)


@pytest.mark.parametrize("turn", [0, 90, 270])
def test_spaces_of_turned_labels_stay_spaces(turn: int) -> None:
    page = pymupdf.open().new_page()
    page.insert_text((100, 300), "mass of it (g)", rotate=turn)
    (run,) = read_runs(page)
    assert "".join(character.text for character in run.characters) == "mass of it (g)"


@pytest.mark.parametrize(
    ("font", "kind", "role"),
    [
        ("Times", "unknown", "other"),
        ("CMMI10", "unknown", "math"),
        ("Times", "operator", "operator"),
    ],
)
def test_what_a_font_of_words_does_not_explain_is_no_formula(
    font: str, kind: Kind, role: Role
) -> None:
    box = Box(0, 0, 5, 10)
    glyph = Glyph(0, "\ufffd", GlyphSymbol("\\square", kind), font, 10, 0, 10, box)
    assert role_of(RowUnit(box, 10, 7.5, (glyph,))) == role


def test_characters_at_one_origin_keep_their_glyphs() -> None:
    page = pymupdf.open().new_page()
    for text in ("ab", "xb"):
        page.insert_text((50, 100), text)
    glyphs = [(c.text, c.glyph_id) for run in read_runs(page) for c in run.characters]
    assert len({glyph_id for _, glyph_id in glyphs}) == len({text for text, _ in glyphs}) == 3
