"""Signs that are set as two: the harpoons of an equilibrium, a congruence, a stroked letter."""

from __future__ import annotations

from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.fonts.identify import identify
from omibench.stages.ocr.formulas.marks import Glyph
from omibench.stages.ocr.formulas.reading.harpoons import (
    join_congruences,
    join_harpoons,
    join_strokes,
)
from omibench.stages.ocr.formulas.reading.units import InkField, unit_of_glyph
from omibench.stages.ocr.layout.layout import Box


def test_the_lower_harpoon_and_its_dashes_belong_to_the_upper_one() -> None:
    setting = Setting().put("−⇀", y=98, font="CMSY10").put("↽−", x=10, y=102, font="CMSY10")
    field = InkField(unit_of_glyph(glyph) for glyph in setting.glyphs)
    join_harpoons(field)
    assert [u.glyph.symbol.latex for u in field.units if u.glyph] == ["-", r"\rightharpoonup"]
    upper = list(field.units)[1]
    assert [u.glyph.symbol.latex for u in upper.scripts if u.glyph] == [r"\leftharpoondown", "-"]


def test_a_harpoon_alone_stays_as_it_is() -> None:
    field = InkField(unit_of_glyph(glyph) for glyph in Setting().put("⇀", font="CMSY10").glyphs)
    join_harpoons(field)
    assert [u.scripts for u in field.units] == [[]]


def test_an_equilibrium_is_on_the_baseline_between_its_halves() -> None:
    setting = Setting().put("−⇀", y=98, font="CMSY10").put("↽−", x=10, y=102, font="CMSY10")
    field = InkField(unit_of_glyph(glyph) for glyph in setting.glyphs)
    join_harpoons(field)
    assert [unit.baseline for unit in field.units] == [100, 100]


def test_a_tilde_over_an_equals_sign_belongs_to_it() -> None:
    setting = Setting().put("∼", x=20, y=96.5, font="CMSY10").put("=", x=20)
    setting.put("∼", x=40, y=96.5, font="CMSY10").put("=", x=47)
    field = InkField(unit_of_glyph(glyph) for glyph in setting.glyphs)
    join_congruences(field)
    assert sorted(unit.glyphs[0].text for unit in field.units) == ["=", "=", "∼"]
    assert [s.glyphs[0].text for unit in field.units for s in unit.scripts] == ["∼"]


def test_the_stroke_of_a_letter_belongs_to_it() -> None:
    symbol = identify("CMBX10", "\ufffd", name="suppress")
    stroke = Glyph(0, "\ufffd", symbol, "CMBX10", 10.0, 10, 98, Box(10, 94.5, 13, 95.5))
    setting = Setting().put("h", x=10)
    field = InkField(unit_of_glyph(glyph) for glyph in [stroke, *setting.glyphs])
    join_strokes(field)
    [letter] = field.units
    assert [script.glyphs[0] for script in letter.scripts] == [stroke]
