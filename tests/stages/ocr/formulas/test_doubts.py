"""What makes a formula doubtful, and formulas over several lines."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
import pytest
from tests.stages.ocr.formulas.set_type import Setting

from omibench.stages.ocr.formulas import formula_doubts
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
from omibench.stages.ocr.formulas.page_formulas import PageFormulas, read_formula, read_formulas
from omibench.stages.ocr.formulas.painted_glyphs import PaintedGlyph
from omibench.stages.ocr.formulas.regions import find_regions, place_regions
from omibench.stages.ocr.formulas.row_reader import RowReader
from omibench.stages.ocr.formulas.text_layer import read_characters
from omibench.stages.ocr.formulas.tree import nodes as constructs
from omibench.stages.ocr.formulas.tree.nodes import Accent, Fraction, Node, Root, Row, Script, Sign
from omibench.stages.ocr.formulas.units import unit_of_glyph
from omibench.stages.ocr.layout.layout import Box

# Each doubt is raised where its reason is printed, and not elsewhere.

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
    assert list(formula_doubts.find_unused([region], marks)) == [(0, formula_doubts.UNUSED)]
    assert list(formula_doubts.find_unused([replace(region, bars=(bar,))], marks)) == []
    ground = replace(marks, bars=(replace(bar, x1=90),))
    assert list(formula_doubts.find_unused([region], ground)) == []


def test_a_rule_over_letters_of_text_may_be_an_overline() -> None:
    glyphs = Setting().put("AB").glyphs
    over = Rule(0, glyphs[0].box.x0, glyphs[1].box.x1, glyphs[0].box.y0 - 1, 0.4)
    (found,) = formula_doubts.find_overlines([over], glyphs)
    assert found.text == "AB"
    under = replace(over, y=101.0)
    assert formula_doubts.find_overlines([under], glyphs) == []


def test_formulas_that_overlap_or_touch() -> None:
    glyphs = Setting().put("abc").glyphs
    left, right = make_region(glyphs[:2]), make_region(glyphs[2:])
    found = set(formula_doubts.find_neighbours([left, right], glyphs))
    assert found == {(0, formula_doubts.SPLIT), (1, formula_doubts.SPLIT)}
    over = replace(right, box=left.box)
    found = set(formula_doubts.find_neighbours([left, over], glyphs))
    assert {(0, formula_doubts.OVERLAP), (1, formula_doubts.OVERLAP)} <= found


def test_a_symbol_within_a_formula_and_a_sign_alone() -> None:
    glyphs = Setting().put("a+b").glyphs
    ends = make_region([glyphs[0], glyphs[2]])
    assert (0, formula_doubts.INSIDE) in set(formula_doubts.find_neighbours([ends], glyphs))
    sign = make_region([glyphs[1]])
    assert (0, formula_doubts.LONE_SIGN) in set(formula_doubts.find_neighbours([sign], glyphs[1:2]))


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


# Doubts from what stands in the row of a formula, or in the next one.


def find_row_doubts(text: str, start: int, end: int, *, gap: float = 0.05) -> set[str]:
    """The doubts of a formula that is a part of a text without spaces."""
    setting = Setting().put(text, gap=gap)
    row = RowReader([unit_of_glyph(glyph) for glyph in setting.glyphs])
    return {doubt for _, doubt in formula_doubts.find_beside(row, [(start, end)])}


@pytest.mark.parametrize(
    ("text", "part", "gap", "doubts"),
    [
        ("a=b+c", (0, 3), 0.3, {formula_doubts.OPERATOR}),
        ("a=b+c", (2, 5), 0.3, {formula_doubts.OPERATOR}),
        ("a=b+c", (0, 5), 0.3, set()),
        ("f(x)", (0, 1), 0.05, {formula_doubts.BRACKET}),
        ("(a+b)", (1, 4), 0.05, set()),
        ("a+b|", (0, 3), 0.05, {formula_doubts.BRACKET}),
        ("7a+b", (1, 4), 0.05, {formula_doubts.TOUCHES}),
        ("7a+b", (1, 4), 0.3, set()),
        ("a×b", (1, 3), 0.3, {formula_doubts.BEGINS, formula_doubts.SYMBOL}),
        ("a:b", (2, 3), 0.3, set()),
        ("a3.5b", (3, 5), 0.05, {formula_doubts.BEGINS}),
    ],
)
def test_what_is_printed_beside_a_formula(
    text: str, part: tuple[int, int], gap: float, doubts: set[str]
) -> None:
    assert find_row_doubts(text, *part, gap=gap) == doubts


def test_two_formulas_with_an_operator_or_a_comma_in_brackets_between_them() -> None:
    split = Setting().put("a+b", gap=0.2)
    row = RowReader([unit_of_glyph(glyph) for glyph in split.glyphs])
    assert (0, formula_doubts.SPLIT) in set(formula_doubts.find_beside(row, [(0, 1), (2, 3)]))
    pair = Setting().put("(a,b)")
    row = RowReader([unit_of_glyph(glyph) for glyph in pair.glyphs])
    assert (1, formula_doubts.LIST) in set(formula_doubts.find_beside(row, [(1, 2), (3, 4)]))


def test_rows_with_their_relations_exactly_under_each_other_are_one_formula() -> None:
    setting = Setting().put("a=b+c", x=100, gap=0.2).put("=f+g", x=109, y=115, gap=0.2)
    first, last = (setting.glyphs[k].box.x0 for k in (1, 5))
    setting = Setting().put("a=b+c", x=100, gap=0.2)
    setting.put("=f+g", x=109 + first - last, y=115, gap=0.2)
    places = place_regions(PageMarks(600, 800, tuple(setting.glyphs)))
    assert [len(place.region.glyphs) for place in places] == [9]
    assert set(formula_doubts.find_cut(places)) == set()


def test_rows_with_their_relations_nearly_under_each_other_may_be_one_formula() -> None:
    def find(x: float) -> set[str]:
        setting = Setting().put("a=b+c", x=100, gap=0.2).put("d=f+g", x=x, y=115, gap=0.2)
        marks = PageMarks(600, 800, tuple(setting.glyphs))
        return {doubt for _, doubt in formula_doubts.find_cut(place_regions(marks))}

    assert find(100) == set()
    assert find(100.6) == {formula_doubts.ROWS}
    assert find(120) == set()


def test_a_formula_that_begins_with_a_relation() -> None:
    setting = Setting().put("=b+c", gap=0.2)
    marks = PageMarks(600, 800, tuple(setting.glyphs))
    assert {doubt for _, doubt in formula_doubts.find_cut(place_regions(marks))} == {
        formula_doubts.BEGINS
    }


def test_a_formula_that_is_only_a_modulus() -> None:
    setting = Setting().put("(", font="EUFM10", gap=0.0).put("mod", font="CMR10", gap=0.0)
    setting.put("m", x=setting.x + 1.8, gap=0.0).put(")", font="EUFM10")
    marks = PageMarks(600, 800, tuple(setting.glyphs))
    assert {doubt for _, doubt in formula_doubts.find_cut(place_regions(marks))} == {
        formula_doubts.BEGINS
    }


def test_close_rows_with_long_left_sides_may_be_one_formula() -> None:
    def find(y: float) -> list[str]:
        setting = Setting().put("(a+b)c=d", x=100, gap=0.1).put("(a−b)c=e", x=100, y=y, gap=0.1)
        places = place_regions(PageMarks(600, 800, tuple(setting.glyphs)))
        assert len(places) == 2
        return [doubt for _, doubt in formula_doubts.find_cut(places)]

    assert find(115) == [formula_doubts.ROWS, formula_doubts.ROWS]
    assert find(119) == []


# Formulas that are broken at the end of a line, and lines that only look so.

LEFT = 20.0

LEADING = 12.0

LONG = "which was measured by the students in the second part of the"

MANY = " + ".join("abcdefghkmnpqrstuvwxyz")


def set_line(setting: Setting, line: str, y: float, *, x: float) -> None:
    """Words in roman type; what is between bars is mathematics."""
    setting.put("", x=x)
    for k, part in enumerate(line.split("|")):
        for word in part.split(" "):
            if k % 2:
                setting.put(word, y=y, gap=0.0)
                setting.x += 2.5
            elif word:
                setting.put(word, y=y, font="CMR10", gap=0.0)
                setting.x += 3.3


def read(*lines: str) -> list[FormulaRegion]:
    """The formulas of lines in one column."""
    setting = Setting()
    for k, line in enumerate(lines):
        set_line(setting, line, 100 + k * LEADING, x=LEFT)
    return find_regions(PageMarks(600, 800, tuple(setting.glyphs)))


def read_latex(*lines: str) -> list[str]:
    return [read_formula(region).latex for region in read(*lines)]


@pytest.mark.parametrize(
    ("lines", "formulas"),
    [
        ((f"{LONG} |a = b +|", "|c + d| holds"), ["a=b+c+d"]),
        ((f"{LONG} value |x =|", "|12| of it"), ["x=12"]),
        ((f"{LONG} law |f (x +|", "|y ) = z| holds"), ["f(x+y)=z"]),
        ((f"{LONG} case |x =|", "|−b| for it"), ["x=-b"]),
        ((f"{LONG} case |a ⇒|", "|b = c| for it"), ["a\\Rightarrow b=c"]),
        ((f"{LONG} case |a + b|", "|= c| for it"), ["a+b=c"]),
        ((f"{LONG} case |a|", "|+ b = c| for it"), ["a+b=c"]),
        ((f"{LONG} |a = b +|", f"|{MANY} −|", "|e| holds"), [f"a=b+{MANY.replace(' ', '')}-e"]),
        ((f"{LONG} value |f (x,|", "|y ) = z| holds"), ["f(x,y)=z"]),
        (("(A) |a + b =|", "|c|"), ["a+b=c"]),
        (("It is known that", f"|{MANY} −|", "|e|"), [f"{MANY.replace(' ', '')}-e"]),
    ],
)
def test_a_formula_is_read_over_the_end_of_its_line(
    lines: tuple[str, ...], formulas: list[str]
) -> None:
    assert read_latex(*lines) == formulas


@pytest.mark.parametrize(
    "lines",
    [
        (f"{LONG} part |a = b +|", "of |c + d| holds"),  # prose between
        (f"{LONG} part |a = b +|", "(a) the mass |m|"),  # a label
        (f"{LONG} part |a = b +|", "2. the mass |m|"),
        (f"{LONG} part |a = b +|", "a mass |m| falls"),  # an article
        (f"{LONG} part |a = b|", "- |c| falls"),  # a bullet
        (f"{LONG} part |a = b|", "|−c| falls"),  # a sign
        (f"{LONG} part |a = b|", "|∴ c| falls"),  # a conclusion
        (f"{LONG} part |a = b|.", "|c = d| falls"),
        (f"{LONG} part (with |a,|", "|b ) and others"),
        (f"{LONG} part |a,|", "|b = c| and others"),
        ("|a = b +|", "|c + d|"),  # rows of a display
    ],
)
def test_what_is_not_certainly_one_formula_stays_apart(lines: tuple[str, ...]) -> None:
    assert not any(region.following for region in read(*lines))


def test_what_would_have_fitted_into_the_line_above_is_another_formula() -> None:
    regions = read(f"{LONG} table", "so |3 + 4 =|", "|5 + 6| holds")
    assert not any(region.following for region in regions)


def test_a_wide_space_separates_no_words_from_a_broken_formula() -> None:
    setting = Setting()
    set_line(setting, "in the reaction", 100, x=LEFT)
    set_line(setting, "|a = b +|", 100, x=setting.x + 20)
    set_line(setting, "|c + d|", 112, x=LEFT)
    (region,) = find_regions(PageMarks(600, 800, tuple(setting.glyphs)))
    assert read_formula(region).latex == "a=b+c+d"


def test_a_broken_formula_has_a_box_in_each_line_and_no_doubts() -> None:
    (region,) = read(f"{LONG} |f (x +|", "|y ) = z| holds")
    first, second = region.boxes
    assert (second.x0, second.y0 > first.y1, first.x0 > 300) == (LEFT, True, True)
    assert "".join(glyph.text for line in region.lines for glyph in line.glyphs) == "f(x+y)=z"
    assert read_formula(region).doubts == ()


def test_columns_side_by_side_are_read_apart() -> None:
    setting = Setting()
    for k, line in enumerate((f"{LONG} |a = b +|", "|c + d| holds for all of these masses")):
        set_line(setting, line, 100 + k * LEADING, x=LEFT)
    edge = max(glyph.box.x1 for glyph in setting.glyphs)
    for k in range(2):
        set_line(setting, "|u = v| in the other column", 100 + k * LEADING, x=edge + 9)
    regions = find_regions(PageMarks(900, 800, tuple(setting.glyphs)))
    assert [read_formula(region).latex for region in regions] == ["a=b+c+d", "u=v", "u=v"]
