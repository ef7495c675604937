"""The two harpoons of an equilibrium are one arrow."""

from __future__ import annotations

from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.reading.harpoons import join_harpoons
from omibench.stages.ocr.formulas.reading.units import InkField, unit_of_glyph


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
