"""Scripts belong to the letters of their own row."""

from __future__ import annotations

from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.blocks import find_units
from omibench.stages.ocr.formulas.marks import PageMarks
from omibench.stages.ocr.formulas.unit_scripts import attach_scripts


def find_scripts(setting: Setting) -> dict[str, str]:
    """The scripts of each letter or block that has some, both as text from left to right."""
    marks = PageMarks(600, 800, tuple(setting.glyphs), tuple(setting.bars))
    units = attach_scripts(list(find_units(marks).units))
    return {
        "".join(glyph.text for glyph in unit.glyphs): "".join(
            script.glyphs[0].text for script in sorted(unit.scripts, key=lambda s: s.box[:2])
        )
        for unit in units
        if unit.scripts
    }


def test_numbers_before_an_element_are_not_scripts_of_the_word_before_it() -> None:
    setting = Setting().put("of", font="CMR10", gap=0.0)
    setting.x += 2.5
    start = setting.x
    setting.put("0", y=96, size=7, font="CMR8", gap=0.0)
    setting.put("−1", x=start, y=102.5, size=7, font="CMR8", gap=0.0).put("e", font="CMR10")
    assert find_scripts(setting) == {"e": "0−1"}


def test_numbers_before_an_element_are_not_scripts_of_the_next_row() -> None:
    setting = Setting().put("3", x=10, y=103, size=7, font="CMR8").put("e", x=14, font="CMR10")
    assert find_scripts(setting.put("u", x=5.5, y=112, font="CMR10")) == {"e": "3"}
