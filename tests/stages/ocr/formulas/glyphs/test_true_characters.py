"""Characters whose text layer is false or silent."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from omibench.stages.ocr.formulas.font_programs import EmbeddedFonts
from omibench.stages.ocr.formulas.marks import Glyph, GlyphSymbol, Kind
from omibench.stages.ocr.formulas.painted_glyphs import TrueCharacters
from omibench.stages.ocr.formulas.text_layer import read_runs
from omibench.stages.ocr.formulas.units import Role, RowUnit, role_of
from omibench.stages.ocr.layout.layout import Box

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
