"""Signs of several pieces of which the text layer has the first."""

from __future__ import annotations

from typing import Any

import pymupdf
import pytest

from omibench.stages.ocr.formulas.fonts.embedded import EmbeddedFonts, GlyphFacts
from omibench.stages.ocr.formulas.glyphs.assembled import join_assembled
from omibench.stages.ocr.formulas.glyphs.characters import Character, TextRun
from omibench.stages.ocr.formulas.glyphs.combining import PaintedGlyph
from omibench.stages.ocr.layout.layout import Box

FONT = "NewCMMath-Book"
INK = Box(0.1, 0.0, 0.3, 1.0)


@pytest.fixture(autouse=True)
def same_outlines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every glyph is one type size high."""
    monkeypatch.setattr(EmbeddedFonts, "facts", lambda *_: GlyphFacts(None, INK))


def join(*painted: tuple[str, float, float]) -> tuple[Character, list[PaintedGlyph]]:
    """The bracket that the text layer has, and the glyphs left after its pieces are joined."""
    glyphs = [
        PaintedGlyph(k, text, FONT, 10, x, y, 80 + k) for k, (text, x, y) in enumerate(painted)
    ]
    raw: dict[str, Any] = {}
    run = TextRun(raw, (Character(0, "[", FONT, 10, 50, 100, Box(50, 90, 55, 100)),))
    with pymupdf.open() as document:
        [joined], rest = join_assembled(document.new_page(), [run], glyphs)
    return joined.characters[0], rest


def test_a_bracket_is_as_tall_as_its_pieces() -> None:
    bracket, rest = join(("[", 50, 100), ("\ufffd", 50, 90), ("[", 50, 80))
    assert (bracket.box.y0, bracket.box.y1) == (70, 100)
    assert [glyph.serial for glyph in rest] == [0]


def test_an_arrow_is_as_long_as_its_pieces() -> None:
    arrow, _ = join(("[", 50, 100), ("\ufffd", 54, 100), ("\ufffd", 58, 100))
    assert (arrow.box.x0, arrow.box.x1) == (50, 61)


@pytest.mark.parametrize(
    "other", [("x", 50.0, 90.0), ("\ufffd", 60.0, 80.0), ("\ufffd", 50.0, 20.0)]
)
def test_other_glyphs_are_no_pieces(other: tuple[str, float, float]) -> None:
    bracket, rest = join(("[", 50, 100), other)
    assert bracket.box == Box(50, 90, 55, 100)
    assert len(rest) == 2
