"""Words, numbers and brackets that belong to the formula beside them."""

from __future__ import annotations

import pytest
from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.row_reader import RowReader
from omibench.stages.ocr.formulas.units import unit_of_glyph


def read(*words: tuple[str, float]) -> list[str]:
    """The formulas of a row of words in upright type, each with the space after it in points."""
    setting = Setting()
    for word, space in words:
        setting.put(word, font="CMR10", gap=0.0)
        setting.x += space
    row = RowReader([unit_of_glyph(glyph) for glyph in setting.glyphs])
    return [row.text(start, end) for start, end in row.find_intervals()]


@pytest.mark.parametrize(
    ("words", "formulas"),
    [
        ([("pH", 2.8), ("=", 2.8), ("7", 3)], ["pH=7"]),
        ([("x", 2.8), ("=", 2.8), ("const", 3)], ["x=const"]),
        ([("so", 2.8), ("const", 3)], []),
        ([("x", 2.8), ("≡", 2.8), ("1", 4.4), ("(mod", 1.7), ("m)", 3)], ["x≡1(modm)"]),
        ([("x", 2.8), ("≡", 2.8), ("1", 4.4), ("(see", 1.7), ("m)", 3)], ["x≡1"]),
    ],
)
def test_words_beside_relations(words: list[tuple[str, float]], formulas: list[str]) -> None:
    assert read(*words) == formulas


def read_mathematics(text: str, *, font: str = "", gap: float = 0.05) -> list[str]:
    """The formulas of a row in the fonts of Computer Modern."""
    setting = Setting().put(text, font=font, gap=gap)
    row = RowReader([unit_of_glyph(glyph) for glyph in setting.glyphs])
    return [row.text(start, end) for start, end in row.find_intervals()]


@pytest.mark.parametrize("text", ["1+2+···+n", "|a+b|≤|a|+|b|", "V↑", "x≡1", "(ab)/(cd)"])
def test_a_formula_is_whole(text: str) -> None:
    assert read_mathematics(text) == [text]


def test_a_bracket_behind_a_slanted_capital_closes_the_formula() -> None:
    setting = Setting().put("[R", gap=0.0).put(",", gap=0.0, font="CMMI10").put("V", gap=0.0)
    setting.put("]", x=setting.x + 2.6)
    row = RowReader([unit_of_glyph(glyph) for glyph in setting.glyphs])
    assert row.find_intervals() == [(0, 5)]


def test_an_arrow_of_two_glyphs_joins_what_is_on_both_sides() -> None:
    setting = Setting().put("x", gap=0.3).put("↦", gap=-0.5, font="CMSY10")
    setting.put("→", font="CMSY10", gap=0.3).put("y")
    row = RowReader([unit_of_glyph(glyph) for glyph in setting.glyphs])
    assert row.find_intervals() == [(0, 4)]


def test_an_arrow_after_a_letter_ends_the_formula() -> None:
    setting = Setting().put("l").put("↑", font="NewCMMath-Book")
    setting.x += 3
    setting.put("of", font="CMR10")
    row = RowReader([unit_of_glyph(glyph) for glyph in setting.glyphs])
    assert [row.text(start, end) for start, end in row.find_intervals()] == ["l↑"]


def test_an_embedded_formula_that_overlaps_another_one_is_in_one_of_them() -> None:
    setting = Setting().put("x=y").put("z", font="CMR10")
    row = [unit_of_glyph(glyph) for glyph in setting.glyphs]
    row[3].box = row[2].box
    row[3].is_object = True
    assert RowReader(row).find_intervals() == [(0, 4)]
