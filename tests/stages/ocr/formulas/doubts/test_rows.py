"""Doubts from what stands in the row of a formula, or in the next one."""

from __future__ import annotations

import pytest
from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas import formula_doubts as beside
from omibench.stages.ocr.formulas import formula_doubts as rows
from omibench.stages.ocr.formulas.marks import PageMarks
from omibench.stages.ocr.formulas.regions import place_regions
from omibench.stages.ocr.formulas.row_reader import RowReader
from omibench.stages.ocr.formulas.units import unit_of_glyph


def find_doubts(text: str, start: int, end: int, *, gap: float = 0.05) -> set[str]:
    """The doubts of a formula that is a part of a text without spaces."""
    setting = Setting().put(text, gap=gap)
    row = RowReader([unit_of_glyph(glyph) for glyph in setting.glyphs])
    return {doubt for _, doubt in beside.find_beside(row, [(start, end)])}


@pytest.mark.parametrize(
    ("text", "part", "gap", "doubts"),
    [
        ("a=b+c", (0, 3), 0.3, {beside.OPERATOR}),
        ("a=b+c", (2, 5), 0.3, {beside.OPERATOR}),
        ("a=b+c", (0, 5), 0.3, set()),
        ("f(x)", (0, 1), 0.05, {beside.BRACKET}),
        ("(a+b)", (1, 4), 0.05, set()),
        ("a+b|", (0, 3), 0.05, {beside.BRACKET}),
        ("7a+b", (1, 4), 0.05, {beside.TOUCHES}),
        ("7a+b", (1, 4), 0.3, set()),
        ("a×b", (1, 3), 0.3, {beside.BEGINS, beside.SYMBOL}),
        ("a:b", (2, 3), 0.3, set()),
        ("a3.5b", (3, 5), 0.05, {beside.BEGINS}),
    ],
)
def test_what_is_printed_beside_a_formula(
    text: str, part: tuple[int, int], gap: float, doubts: set[str]
) -> None:
    assert find_doubts(text, *part, gap=gap) == doubts


def test_two_formulas_with_an_operator_or_a_comma_in_brackets_between_them() -> None:
    split = Setting().put("a+b", gap=0.2)
    row = RowReader([unit_of_glyph(glyph) for glyph in split.glyphs])
    assert (0, beside.SPLIT) in set(beside.find_beside(row, [(0, 1), (2, 3)]))
    pair = Setting().put("(a,b)")
    row = RowReader([unit_of_glyph(glyph) for glyph in pair.glyphs])
    assert (1, beside.LIST) in set(beside.find_beside(row, [(1, 2), (3, 4)]))


def test_rows_with_their_relations_exactly_under_each_other_are_one_formula() -> None:
    setting = Setting().put("a=b+c", x=100, gap=0.2).put("=f+g", x=109, y=115, gap=0.2)
    first, last = (setting.glyphs[k].box.x0 for k in (1, 5))
    setting = Setting().put("a=b+c", x=100, gap=0.2)
    setting.put("=f+g", x=109 + first - last, y=115, gap=0.2)
    places = place_regions(PageMarks(600, 800, tuple(setting.glyphs)))
    assert [len(place.region.glyphs) for place in places] == [9]
    assert set(rows.find_cut(places)) == set()


def test_rows_with_their_relations_nearly_under_each_other_may_be_one_formula() -> None:
    def find(x: float) -> set[str]:
        setting = Setting().put("a=b+c", x=100, gap=0.2).put("d=f+g", x=x, y=115, gap=0.2)
        marks = PageMarks(600, 800, tuple(setting.glyphs))
        return {doubt for _, doubt in rows.find_cut(place_regions(marks))}

    assert find(100) == set()
    assert find(100.6) == {rows.ROWS}
    assert find(120) == set()


def test_a_formula_that_begins_with_a_relation() -> None:
    setting = Setting().put("=b+c", gap=0.2)
    marks = PageMarks(600, 800, tuple(setting.glyphs))
    assert {doubt for _, doubt in rows.find_cut(place_regions(marks))} == {beside.BEGINS}


def test_a_formula_that_is_only_a_modulus() -> None:
    setting = Setting().put("(", font="EUFM10", gap=0.0).put("mod", font="CMR10", gap=0.0)
    setting.put("m", x=setting.x + 1.8, gap=0.0).put(")", font="EUFM10")
    marks = PageMarks(600, 800, tuple(setting.glyphs))
    assert {doubt for _, doubt in rows.find_cut(place_regions(marks))} == {beside.BEGINS}


def test_close_rows_with_long_left_sides_may_be_one_formula() -> None:
    def find(y: float) -> list[str]:
        setting = Setting().put("(a+b)c=d", x=100, gap=0.1).put("(a−b)c=e", x=100, y=y, gap=0.1)
        places = place_regions(PageMarks(600, 800, tuple(setting.glyphs)))
        assert len(places) == 2
        return [doubt for _, doubt in rows.find_cut(places)]

    assert find(115) == [rows.ROWS, rows.ROWS]
    assert find(119) == []
