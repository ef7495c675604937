"""Words, numbers and brackets that belong to the formula beside them."""

from __future__ import annotations

import pytest
from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.reading.growth import RowReader
from omibench.stages.ocr.formulas.reading.units import unit_of_glyph


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
