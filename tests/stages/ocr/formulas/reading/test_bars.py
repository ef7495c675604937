"""Tall bars: their pieces, and what is between two of them."""

from __future__ import annotations

from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.fonts.identify import identify
from omibench.stages.ocr.formulas.marks import Glyph
from omibench.stages.ocr.formulas.reading.bars import join_bar_fences, join_bars
from omibench.stages.ocr.formulas.reading.units import InkField, RowUnit, unit_of_glyph
from omibench.stages.ocr.layout.layout import Box


def piece(text: str, x: float, top: float, bottom: float) -> Glyph:
    font = "STIXTwoMath"
    return Glyph(0, text, identify(font, text), font, 10.0, x, bottom, Box(x, top, x + 1, bottom))


def read(glyphs: list[Glyph], *, fences: bool = False) -> list[str]:
    """The units of a page as text, the pieces of bars joined."""
    field = InkField(unit_of_glyph(glyph) for glyph in glyphs)
    join_bars(field)
    if fences:
        join_bar_fences(field)
    return sorted("".join(g.text for g in unit.glyphs) for unit in field.units)


def test_bars_and_root_signs_that_overlap_are_one() -> None:
    for sign in "|√":
        assert read([piece(sign, 10, 80 + 5 * k, 86 + 5 * k) for k in range(3)]) == [sign * 3]


def test_bars_in_two_rows_or_columns_are_two() -> None:
    assert read([piece("|", 10, 80, 90), piece("|", 10, 94, 104)]) == ["|", "|"]
    assert read([piece("|", 10, 80, 90), piece("|", 14, 85, 95)]) == ["|", "|"]


def test_a_determinant_is_one_unit_with_its_bars() -> None:
    entries = Setting().put("ab", x=13, y=90).put("cd", x=13, y=104).glyphs
    bars = [piece("|", x, top, top + 14) for x in (10, 25) for top in (80, 93)]
    [text] = read([*entries, *bars], fences=True)
    assert sorted(text) == sorted("||||abcd")


def test_a_single_tall_bar_encloses_nothing() -> None:
    entries = Setting().put("ab", x=13, y=90).glyphs
    assert read([*entries, piece("|", 10, 80, 107)], fences=True) == ["a", "b", "|"]


def test_bars_of_one_line_enclose_no_rows() -> None:
    field = InkField(unit_of_glyph(g) for g in (piece("|", 10, 80, 90), piece("|", 30, 80, 90)))
    join_bar_fences(field)
    assert all(isinstance(unit, RowUnit) and unit.glyph for unit in field.units)
