"""What makes a formula doubtful, and formulas over several lines."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
import pytest
from tests.glyphtex.set_type import Setting, read_formulas

from glyphtex import formula_doubts as doubts
from glyphtex.formula_doubts import Leftover, make_page
from glyphtex.marks import Formula, FormulaRegion, Glyph, PageMarks, Rule, unite
from glyphtex.page_marks import DrawnMarks
from glyphtex.pages import read_formulas as read_page
from glyphtex.regions import TAKEN, TORN, find_torn, place_regions
from glyphtex.row_reader import RowReader
from glyphtex.text_layer import PaintedGlyph, read_characters
from glyphtex.tree import nodes
from glyphtex.tree.nodes import (
    Accent,
    Chemistry,
    Fraction,
    Node,
    Root,
    Row,
    Script,
    Sign,
    Words,
)
from glyphtex.tree.parts import part_of_glyph

X, Y, CAPITAL = Sign("x", "letter"), Sign("2", "digit"), Sign("A", "letter")
CUP = Row((X, Sign(r"\cup", "operator")))


@pytest.mark.parametrize(
    ("node", "found"),
    [
        (Script(Fraction(X, Y), sup=Y), [nodes.SCRIPT]),
        (Script(X, sup=Y), []),
        (Accent("\\overrightarrow", Script(CAPITAL, sub=Y)), [nodes.ACCENT]),
        (Accent("\\overrightarrow", Row((CAPITAL, CAPITAL))), []),
        (Accent("\\overleftrightarrow", Row((CAPITAL, CAPITAL))), [nodes.ARROW]),
        (Row((Accent("\\vec", CAPITAL), CAPITAL)), [nodes.VECTOR]),
        (Row((Accent("\\vec", CAPITAL), X)), []),
        (Root(CUP), [nodes.OPEN]),
        (Fraction(Y, CUP), [nodes.OPEN]),
    ],
)
def test_constructs_that_are_often_misread(node: Node, found: list[str]) -> None:
    assert list(nodes.find_constructs(node)) == found
    assert list(nodes.find_constructs(Row((X, node)))) == found


@pytest.mark.parametrize(
    ("node", "is_open"),
    [
        (CUP, True),
        (Row((X, Sign(r"\uparrow", "arrow"))), False),
        (Row((X, Sign("!", "operator"))), False),
        (Row((X, X)), False),
        (Row((X, Words("sin", "operator"))), True),
        (Words("sin", "operator"), False),
        (Chemistry("2H2 +"), True),
        (Chemistry("Na+"), False),
    ],
)
def test_formulas_that_break_off(node: Node, *, is_open: bool) -> None:
    assert nodes.ends_open(node) == is_open


# Formulas beside other marks of a page.


def cut(glyphs: list[Glyph], *, bars: tuple[Rule, ...] = ()) -> FormulaRegion:
    return FormulaRegion(unite(glyph.box for glyph in glyphs), tuple(glyphs), bars)


def mark(glyphs: list[Glyph], *bars: Rule) -> PageMarks:
    return PageMarks(600, 800, tuple(glyphs), bars)


def test_marks_painted_between_those_of_a_formula_make_both_formulas_doubtful() -> None:
    glyphs = Setting().put("abcd").glyphs
    torn = [cut([glyphs[0], glyphs[3]]), cut(glyphs[1:3])]
    assert sorted(find_torn(torn, glyphs)) == [(0, TORN), (1, TAKEN)]
    assert list(find_torn([cut(glyphs[:2]), cut(glyphs[2:])], glyphs)) == []


def test_rules_that_no_formula_has() -> None:
    glyphs = Setting().put("ab").put("x", x=24, y=94).put("y", x=24, y=107).glyphs
    region, bar = cut(glyphs[:2]), Rule(0, 23, 30, 97.0, 0.4)
    marks = mark(glyphs, bar)
    assert list(doubts.find_unused(make_page([region], marks))) == [(0, doubts.UNUSED)]
    owned = replace(region, bars=(bar,))
    assert list(doubts.find_unused(make_page([owned], marks))) == []
    ground = replace(bar, x1=90)
    assert list(doubts.find_unused(make_page([region], mark(glyphs, ground)))) == []
    over = Rule(0, glyphs[0].box.x0, glyphs[1].box.x1, glyphs[0].box.y0 - 1, 0.4)
    (found,) = doubts.find_overlines(make_page([], mark(glyphs[:2], over)))
    assert found.text == "ab"
    under = replace(over, y=101.0)
    assert list(doubts.find_overlines(make_page([], mark(glyphs[:2], under)))) == []


def test_formulas_that_overlap_touch_or_hold_other_symbols() -> None:
    def find(*regions: FormulaRegion) -> set[tuple[int, str]]:
        return set(doubts.find_neighbours(make_page(regions, mark(glyphs))))

    glyphs = Setting().put("a+b").glyphs
    left, right = cut(glyphs[:2]), cut(glyphs[2:])
    assert find(left, right) == {(0, doubts.SPLIT), (1, doubts.SPLIT)}
    over = replace(right, box=left.box)
    assert {(0, doubts.OVERLAP), (1, doubts.OVERLAP)} <= find(left, over)
    assert (0, doubts.INSIDE) in find(cut([glyphs[0], glyphs[2]]))
    assert (0, doubts.LONE_SIGN) in find(cut(glyphs[1:2]))


@pytest.mark.parametrize(
    ("setting", "count", "found"),
    [
        (Setting().put("ab").put("∼", font="CMSY10"), 2, [(0, doubts.SYMBOL)]),
        (Setting().put("ab").put("7", y=96, size=7, font="CMR7"), 2, [(0, doubts.SMALL)]),
        (Setting().put("ab").put("∼", font="CMSY10"), 0, ["a", "b", "∼"]),
        (Setting().put("A+", font="NewCMMath-Book"), 0, ["+"]),
        (Setting().put("A+", font="NewCMMath-Book").put("B", font="CMR10"), 0, []),
        (Setting().put("6⋅", font="NewCMMath-Book"), 0, ["⋅"]),
        (Setting().put("tan", font="CMR10", gap=0.0).put("49", x=26.5, font="CMR10"), 0, ["tan4"]),
        (Setting().put("sin", font="CMR10", gap=0.0).put("(a", x=26.5, font="CMR10"), 0, []),
        (Setting().put("log", font="CMR10", gap=0.0).put("of", x=26.5, font="CMR10"), 0, []),
        (Setting().put("6", gap=0.0).put("7", y=96, size=7, font="CMR7"), 0, ["67"]),
    ],
)
def test_mathematics_in_no_formula_is_a_doubt_of_the_formula_beside_it_or_stays(
    setting: Setting, count: int, found: list[object]
) -> None:
    regions = [cut(setting.glyphs[:count])] if count else []
    left = doubts.find_left(make_page(regions, setting.page()))
    assert [each.text if isinstance(each, Leftover) else each for each in left] == found


def test_a_glyph_that_the_text_layer_lacks() -> None:
    page = pymupdf.open().new_page()
    page.insert_text((50, 100), "x = 3 holds", fontname="tiro", fontsize=10)
    runs, painted = read_characters(page, ())
    hat = PaintedGlyph(1, "⃗", "F", 10.0, 50.0, 70.0, 5)
    twice = painted[0]._replace(x=painted[0].x + 0.4)
    assert doubts.find_vanished([*painted, hat, twice], runs) == [hat]
    for y, near, far in ((70.0, (), ["⃗"]), (99.0, (doubts.VANISHED,), [])):
        drawn = DrawnMarks([], [], is_partial=False)
        reading = read_page(page, runs, [*painted, hat._replace(y=y)], drawn, ())
        assert [formula.formula.doubts for formula in reading.formulas] == [near]
        assert [leftover.text for leftover in reading.vanished] == far


@pytest.mark.parametrize(
    ("text", "parts", "gap", "found"),
    [
        ("a=b+c", [(0, 3)], 0.3, {doubts.OPERATOR}),
        ("a=b+c", [(2, 5)], 0.3, {doubts.OPERATOR}),
        ("a=b+c", [(0, 5)], 0.3, set()),
        ("f(x)", [(0, 1)], 0.05, {doubts.BRACKET}),
        ("(a+b)", [(1, 4)], 0.05, set()),
        ("a+b|", [(0, 3)], 0.05, {doubts.BRACKET}),
        ("7a+b", [(1, 4)], 0.05, {doubts.TOUCHES}),
        ("7a+b", [(1, 4)], 0.3, set()),
        ("a×b", [(1, 3)], 0.3, {doubts.BEGINS, doubts.SYMBOL}),
        ("a3.5b", [(3, 5)], 0.05, {doubts.BEGINS}),
        ("a+b", [(0, 1), (2, 3)], 0.2, {doubts.OPERATOR, doubts.SPLIT}),
        ("(a,b)", [(1, 2), (3, 4)], 0.05, {doubts.LIST}),
    ],
)
def test_what_is_printed_beside_a_formula_in_its_row(
    text: str, parts: list[tuple[int, int]], gap: float, found: set[str]
) -> None:
    row = RowReader([part_of_glyph(glyph) for glyph in Setting().put(text, gap=gap).glyphs])
    assert {doubt for _, doubt in doubts.find_beside(row, parts)} == found


MODULUS = Setting().put("(", font="EUFM10", gap=0.0).put("mod", font="CMR10", gap=0.0)
MODULUS.put("m", x=MODULUS.x + 1.8, gap=0.0).put(")", font="EUFM10")


def set_rows(upper: str, lower: str, x: float, y: float, gap: float = 0.2) -> Setting:
    return Setting().put(upper, x=100, gap=gap).put(lower, x=x, y=y, gap=gap)


@pytest.mark.parametrize(
    ("setting", "count", "found"),
    [
        (set_rows("a=b+c", "d=f+g", 100, 115), 1, set()),
        (set_rows("a=b+c", "d=f+g", 100.6, 115), 2, {doubts.ROWS}),
        (set_rows("a=b+c", "d=f+g", 120, 115), 2, set()),
        (set_rows("(a+b)c=d", "(a−b)c=e", 100, 115, 0.1), 2, {doubts.ROWS}),
        (set_rows("(a+b)c=d", "(a−b)c=e", 100, 119, 0.1), 2, set()),
        (Setting().put("=b+c", gap=0.2), 1, {doubts.BEGINS}),
        (MODULUS, 1, {doubts.BEGINS}),
    ],
)
def test_rows_that_may_be_one_formula(setting: Setting, count: int, found: set[str]) -> None:
    places = place_regions(setting.page()).places
    assert len(places) == count
    assert {doubt for _, doubt in doubts.find_cut(places)} == found


# Formulas that are broken at the end of a line, and lines that only look so.

LEFT, LEADING = 20.0, 12.0
LONG = "which was measured by the students in the second part of the"
MANY = " + ".join("abcdefghkmnpqrstuvwxyz")


def set_line(setting: Setting, line: str, y: float, *, x: float) -> None:
    """Words in roman type; what is between bars is mathematics."""
    setting.put("", x=x)
    for k, part in enumerate(line.split("|")):
        for word in filter(None, part.split(" ")):
            setting.put(word, y=y, font="" if k % 2 else "CMR10", gap=0.0)
            setting.x += 2.5 if k % 2 else 3.3


def read(*lines: str) -> list[Formula]:
    """The formulas of lines in one column."""
    setting = Setting()
    for k, line in enumerate(lines):
        set_line(setting, line, 100 + k * LEADING, x=LEFT)
    return read_formulas(setting.page())


@pytest.mark.parametrize(
    ("lines", "formula"),
    [
        ((f"{LONG} |a = b +|", "|c + d| holds"), "a=b+c+d"),
        ((f"{LONG} value |x =|", "|12| of it"), "x=12"),
        ((f"{LONG} law |f (x +|", "|y ) = z| holds"), "f(x+y)=z"),
        ((f"{LONG} case |x =|", "|−b| for it"), "x=-b"),
        ((f"{LONG} case |a + b|", "|= c| for it"), "a+b=c"),
        ((f"{LONG} |a = b +|", f"|{MANY} −|", "|e| holds"), f"a=b+{MANY.replace(' ', '')}-e"),
        ((f"{LONG} value |f (x,|", "|y ) = z| holds"), "f(x,y)=z"),
        (("(A) |a + b =|", "|c|"), "a+b=c"),
        (("It is known that", f"|{MANY} −|", "|e|"), f"{MANY.replace(' ', '')}-e"),
    ],
)
def test_a_formula_is_read_over_the_end_of_its_line(lines: tuple[str, ...], formula: str) -> None:
    (reading,) = read(*lines)
    assert (reading.latex, reading.doubts) == (formula, ())
    assert len(reading.boxes) > 1


@pytest.mark.parametrize(
    "lines",
    [
        (f"{LONG} part |a = b +|", "of |c + d| holds"),  # prose between
        (f"{LONG} part |a = b +|", "(a) the mass |m|"),  # a label
        (f"{LONG} part |a = b +|", "a mass |m| falls"),  # an article
        (f"{LONG} part |a = b|", "- |c| falls"),  # a bullet
        (f"{LONG} part |a = b|", "|−c| falls"),  # a sign
        (f"{LONG} part |a = b|", "|∴ c| falls"),  # a conclusion
        (f"{LONG} part |a = b|.", "|c = d| falls"),
        (f"{LONG} part |a,|", "|b = c| and others"),
        ("|a = b +|", "|c + d|"),  # rows of a display
        (f"{LONG} table", "so |3 + 4 =|", "|5 + 6| holds"),  # fits into the line above
    ],
)
def test_what_is_not_certainly_one_formula_stays_apart(lines: tuple[str, ...]) -> None:
    assert not any(formula.region.following for formula in read(*lines))


def test_columns_side_by_side_are_read_apart() -> None:
    setting = Setting()
    for k, line in enumerate((f"{LONG} |a = b +|", "|c + d| holds for all of these masses")):
        set_line(setting, line, 100 + k * LEADING, x=LEFT)
    edge = max(glyph.box.x1 for glyph in setting.glyphs)
    for k in range(2):
        set_line(setting, "|u = v| in the other column", 100 + k * LEADING, x=edge + 9)
    formulas = read_formulas(replace(setting.page(), width=900))
    assert [formula.latex for formula in formulas] == ["a=b+c+d", "u=v", "u=v"]
