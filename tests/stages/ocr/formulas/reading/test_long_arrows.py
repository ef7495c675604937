"""Arrows of dashes over several letters."""

from __future__ import annotations

from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.fonts.identify import identify
from omibench.stages.ocr.formulas.marks import Glyph
from omibench.stages.ocr.formulas.reading.long_arrows import join_long_arrows
from omibench.stages.ocr.formulas.reading.units import InkField, unit_of_glyph
from omibench.stages.ocr.layout.layout import Box


def sign(text: str, x0: float, x1: float, y: float) -> Glyph:
    symbol = identify("CMSY10", text)
    return Glyph(0, text, symbol, "CMSY10", 10.0, x0, y, Box(x0, y - 3, x1, y))


def test_an_arrow_of_dashes_is_one_with_its_letters() -> None:
    letters = Setting().put("ABC=D").glyphs
    arrow = [sign("−", 10, 16, 92), sign("−", 14, 20, 92), sign("→", 18, 26, 92)]
    field = InkField(unit_of_glyph(glyph) for glyph in [*letters, *arrow])
    join_long_arrows(field)
    assert sorted(len(unit.glyphs) for unit in field.units) == [1, 1, 6]


def test_an_arrow_in_a_row_takes_no_letters() -> None:
    glyphs = [*Setting().put("AB", y=112).glyphs, sign("−", 10, 16, 92), sign("→", 14, 21, 92)]
    field = InkField(unit_of_glyph(glyph) for glyph in glyphs)
    join_long_arrows(field)
    assert len(field.units) == 4
