"""Signs that are set as two: the harpoons of an equilibrium, a congruence, a stroked letter."""

from __future__ import annotations

from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.joined_signs import join_strokes
from omibench.stages.ocr.formulas.marks import Glyph
from omibench.stages.ocr.formulas.symbols import identify
from omibench.stages.ocr.formulas.units import InkField, unit_of_glyph
from omibench.stages.ocr.layout.layout import Box


def test_the_stroke_of_a_letter_belongs_to_it() -> None:
    symbol = identify("CMBX10", "\ufffd", name="suppress")
    stroke = Glyph(0, "\ufffd", symbol, "CMBX10", 10.0, 10, 98, Box(10, 94.5, 13, 95.5))
    setting = Setting().put("h", x=10)
    field = InkField(unit_of_glyph(glyph) for glyph in [stroke, *setting.glyphs])
    join_strokes(field)
    [letter] = field.units
    assert [script.glyphs[0] for script in letter.scripts] == [stroke]
