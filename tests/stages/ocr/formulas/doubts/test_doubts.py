"""Each doubt is raised where its reason is printed, and not elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
import pytest
from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas import formula_doubts as neighbours
from omibench.stages.ocr.formulas import formula_doubts as rules
from omibench.stages.ocr.formulas import regions as order
from omibench.stages.ocr.formulas.formula_doubts import (
    SMALL,
    SYMBOL,
    VANISHED,
    doubt_vanished,
    find_doubts,
    find_left,
    find_vanished,
)
from omibench.stages.ocr.formulas.marks import FormulaRegion, Glyph, PageMarks, Rule
from omibench.stages.ocr.formulas.page_formulas import PageFormulas, read_formulas
from omibench.stages.ocr.formulas.painted_glyphs import PaintedGlyph
from omibench.stages.ocr.formulas.regions import place_regions
from omibench.stages.ocr.formulas.text_layer import read_characters
from omibench.stages.ocr.formulas.tree import parts as constructs
from omibench.stages.ocr.formulas.tree.parts import Accent, Fraction, Node, Root, Row, Script, Sign
from omibench.stages.ocr.layout.layout import Box

X, Y = Sign("x", "letter"), Sign("2", "digit")
CAPITAL = Sign("A", "letter")


def make_region(glyphs: list[Glyph], *, bars: tuple[Rule, ...] = ()) -> FormulaRegion:
    box = glyphs[0].box
    for glyph in glyphs:
        box = box.union(glyph.box)
    return FormulaRegion(box, tuple(glyphs), bars)


def find_page_doubts(setting: Setting) -> set[str]:
    """The doubts of all formulas of a page on which only the marks of a setting are."""
    marks = PageMarks(600, 800, tuple(setting.glyphs), tuple(setting.bars))
    return {d for doubts in find_doubts(place_regions(marks), marks).formulas for d in doubts}


def read_text(text: str) -> PageFormulas:
    page = pymupdf.open().new_page()
    page.insert_text((50, 100), text, fontname="tiro", fontsize=10)
    return read_formulas(page, *read_characters(page))


def test_marks_painted_between_those_of_a_formula_make_both_formulas_doubtful() -> None:
    glyphs = Setting().put("abcd").glyphs
    torn, taken = make_region([glyphs[0], glyphs[3]]), make_region(glyphs[1:3])
    assert sorted(order.find_torn([torn, taken], glyphs)) == [(0, order.TORN), (1, order.TAKEN)]
    whole = [make_region(glyphs[:2]), make_region(glyphs[2:])]
    assert list(order.find_torn(whole, glyphs)) == []


def test_words_and_punctuation_beside_a_formula_are_no_reason() -> None:
    setting = Setting().put("we see", font="CMR10").put("a=b+c", x=60, gap=0.2)
    setting.put(", and", font="CMR10")
    assert find_page_doubts(setting) == set()


def test_a_rule_beside_a_formula_that_no_formula_has() -> None:
    glyphs = Setting().put("ab").put("x", x=24, y=94).put("y", x=24, y=107).glyphs
    region = make_region(glyphs[:2])
    bar = Rule(0, 23, 30, 97.0, 0.4)
    marks = PageMarks(600, 800, tuple(glyphs), (bar,))
    assert list(rules.find_unused([region], marks)) == [(0, rules.UNUSED)]
    assert list(rules.find_unused([replace(region, bars=(bar,))], marks)) == []
    ground = replace(marks, bars=(replace(bar, x1=90),))
    assert list(rules.find_unused([region], ground)) == []


def test_a_rule_over_letters_of_text_may_be_an_overline() -> None:
    glyphs = Setting().put("AB").glyphs
    over = Rule(0, glyphs[0].box.x0, glyphs[1].box.x1, glyphs[0].box.y0 - 1, 0.4)
    (found,) = rules.find_overlines([over], glyphs)
    assert found.text == "AB"
    under = replace(over, y=101.0)
    assert rules.find_overlines([under], glyphs) == []


def test_formulas_that_overlap_or_touch() -> None:
    glyphs = Setting().put("abc").glyphs
    left, right = make_region(glyphs[:2]), make_region(glyphs[2:])
    found = set(neighbours.find_neighbours([left, right], glyphs))
    assert found == {(0, neighbours.SPLIT), (1, neighbours.SPLIT)}
    over = replace(right, box=left.box)
    found = set(neighbours.find_neighbours([left, over], glyphs))
    assert {(0, neighbours.OVERLAP), (1, neighbours.OVERLAP)} <= found


def test_a_symbol_within_a_formula_and_a_sign_alone() -> None:
    glyphs = Setting().put("a+b").glyphs
    ends = make_region([glyphs[0], glyphs[2]])
    assert (0, neighbours.INSIDE) in set(neighbours.find_neighbours([ends], glyphs))
    sign = make_region([glyphs[1]])
    assert (0, neighbours.LONE_SIGN) in set(neighbours.find_neighbours([sign], glyphs[1:2]))


def test_mathematics_in_no_formula_is_a_doubt_of_the_formula_beside_it_or_stays() -> None:
    setting = Setting().put("ab").put("∼", font="CMSY10")
    region = make_region(setting.glyphs[:2])
    assert find_left([region], setting.glyphs).doubts == [(0, SYMBOL)]
    alone = find_left([], setting.glyphs)
    assert alone.doubts == []
    assert [leftover.text for leftover in alone.rest] == ["a", "b", "∼"]


def test_a_sign_at_the_end_of_a_line_is_mathematics_in_no_formula() -> None:
    math = "NewCMMath-Book"
    setting = Setting().put("A+", font=math)
    assert [leftover.text for leftover in find_left([], setting.glyphs).rest] == ["+"]
    setting.put("B", font="CMR10")
    assert find_left([], setting.glyphs).rest == []
    product = Setting().put("6⋅", font=math)
    assert [leftover.text for leftover in find_left([], product.glyphs).rest] == ["⋅"]


def test_a_smaller_symbol_beside_a_formula() -> None:
    setting = Setting().put("ab").put("7", y=96, size=7, font="CMR7")
    region = make_region(setting.glyphs[:2])
    assert find_left([region], setting.glyphs).doubts == [(0, SMALL)]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("the value of tan 49 is known", ["tan4"]),
        ("se queda sin 3 de ellos", ["sin3"]),
        ("the log of the ship has 49 pages", []),
        ("3/4 of 12.5 % - 7 × 5 + 2 = 37", []),
    ],
)
def test_functions_in_text_are_mathematics_in_no_formula(text: str, left: list[str]) -> None:
    assert [leftover.text for leftover in read_text(text).rest] == left


@pytest.mark.parametrize(
    ("node", "doubts"),
    [
        (Script(Fraction(X, Y), sup=Y), [constructs.SCRIPT]),
        (Script(X, sup=Y), []),
        (Accent("\\overrightarrow", Script(CAPITAL, sub=Y)), [constructs.ACCENT]),
        (Accent("\\overrightarrow", Row((CAPITAL, CAPITAL))), []),
        (Accent("\\overleftrightarrow", Row((CAPITAL, CAPITAL))), [constructs.ARROW]),
        (Row((Accent("\\vec", CAPITAL), CAPITAL)), [constructs.VECTOR]),
        (Row((Accent("\\vec", CAPITAL), X)), []),
    ],
)
def test_constructs_that_are_often_misread(node: Node, doubts: list[str]) -> None:
    assert list(constructs.find_constructs(node)) == doubts
    assert list(constructs.find_constructs(Row((X, node)))) == doubts


def test_a_glyph_that_the_text_layer_lacks() -> None:
    page = pymupdf.open().new_page()
    page.insert_text((50, 100), "x = 3 holds", fontname="tiro", fontsize=10)
    runs, painted = read_characters(page)
    assert find_vanished(painted, runs) == []
    hat = PaintedGlyph(1, "⃗", "F", 10.0, 50.0, 70.0, 5)
    twice = painted[0]._replace(x=painted[0].x + 0.4)
    assert find_vanished([*painted, hat, twice], runs) == [hat]
    region = FormulaRegion(Box(52, 60, 80, 72), ())
    ((near, _),) = doubt_vanished([region], [hat])
    assert near == 0
    ((far, leftover),) = doubt_vanished([], [hat])
    assert (far, leftover.text) == (None, "⃗")
    assert VANISHED


def test_a_radicand_that_ends_with_an_operator() -> None:
    open_end = Row((X, Sign("\\cdot", "operator")))
    assert constructs.OPEN in set(constructs.find_constructs(Root(open_end)))
    assert constructs.OPEN in set(constructs.find_constructs(Fraction(Y, open_end)))
    assert constructs.OPEN not in set(constructs.find_constructs(Fraction(Y, Row((X, Y)))))
