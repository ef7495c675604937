"""From marks set by hand to LaTeX, and what no input may do."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.fonts.identify import identify
from omibench.stages.ocr.formulas.marks import (
    FormulaRegion,
    Glyph,
    GlyphSymbol,
    RootSign,
    Rule,
    SmallPicture,
)
from omibench.stages.ocr.formulas.tree.formula import MOST_MARKS, build_tree, read_formula
from omibench.stages.ocr.layout.layout import Box


def latex(setting: Setting) -> str:
    formula = read_formula(setting.region())
    assert not formula.doubts
    return formula.latex


def test_letters_on_one_baseline_stand_in_a_row() -> None:
    assert latex(Setting().put("a+b=c")) == "a+b=c"


@pytest.mark.parametrize(
    ("y", "written"), [(96.4, "x^{2}"), (101.5, "x_{2}"), (95.0, "x^{2}"), (103.0, "x_{2}")]
)
def test_smaller_type_off_the_baseline_is_a_script(y: float, written: str) -> None:
    assert latex(Setting().put("x").put("2", y=y, size=7)) == written


def test_scripts_over_each_other_belong_to_one_letter() -> None:
    setting = Setting().put("x").put("2", x=15.5, y=96, size=7).put("i", x=15.5, y=102.5, size=7)
    assert latex(setting) == "x_{i}^{2}"


def test_scripts_of_scripts_are_nested() -> None:
    setting = Setting().put("x").put("y", y=96.4, size=7).put("z", y=93.9, size=5)
    assert latex(setting) == "x^{y^{z}}"
    setting = Setting().put("x").put("i", y=101.5, size=7).put("2", y=99.6, size=5)
    assert latex(setting) == "x_{i^{2}}"


def test_a_script_near_the_baseline_is_doubtful() -> None:
    formula = read_formula(Setting().put("x").put("2", y=99.5, size=7).region())
    assert formula.doubts == ("a symbol is neither on the baseline nor clearly raised or lowered",)


def test_numbers_on_the_left_are_those_of_an_isotope() -> None:
    setting = Setting().put("14", x=10, y=96, size=7).put("6", x=13.5, y=102.5, size=7)
    assert latex(setting.put("C", x=18.0, font="CMR10")) == r"{}_{6}^{14}\mathrm{C}"


def test_a_bar_with_letters_on_both_sides_is_a_fraction() -> None:
    setting = Setting().put("x=").put("a+b", x=24, y=93).put("c", x=29, y=107).bar(23, 41, 97.5)
    assert latex(setting) == r"x=\frac{a+b}{c}"


def test_fractions_nest_by_the_widths_of_their_bars() -> None:
    setting = Setting().put("a", x=15, y=80).bar(14, 21, 84.5).put("b", x=15, y=94)
    assert latex(setting.put("c", x=15, y=110).bar(12, 23, 99.5)) == r"\frac{\frac{a}{b}}{c}"


def test_a_sign_and_brackets_beside_a_bar_are_no_part_of_its_fraction() -> None:
    setting = Setting().put("−", x=18, font="CMSY10").put("a", x=25.5, y=93)
    setting.put("b", x=25.5, y=107).bar(23.5, 32, 98.5)
    assert latex(setting) == r"-\frac{a}{b}"
    setting = Setting().tall("(", 85, 110, x=18).put("a", x=24.5, y=93).put("b", x=24.5, y=107)
    assert latex(setting.bar(23, 31, 97.5).tall(")", 85, 110, x=30.5)) == (
        r"\left(\frac{a}{b}\right)"
    )


def test_a_bar_over_letters_is_an_overline_and_one_below_an_underline() -> None:
    assert latex(Setting().put("AB").bar(10, 20.5, 92)) == r"\overline{AB}"
    assert latex(Setting().put("AB").bar(10, 20.5, 102)) == r"\underline{AB}"


def test_a_bar_that_nothing_stands_at_is_doubtful() -> None:
    formula = read_formula(Setting().put("AB").bar(100, 150, 92).region())
    assert "a rule could not be placed in the formula" in formula.doubts
    assert "a mark could not be placed in the formula" in formula.doubts


def test_a_root_holds_what_its_bar_covers() -> None:
    setting = Setting().tall("√", 91, 102, x=10).put("x+1", x=15.5).put("y", x=34).bar(15, 32, 91)
    assert latex(setting) == r"\sqrt{x+1}y"


def test_a_full_stop_behind_the_bar_of_a_root_is_outside() -> None:
    setting = Setting().tall("√", 90, 102).put("3", x=16).bar(16, 21, 90.2).put(".", x=19.4)
    assert latex(setting) == "\\sqrt{3}."


def test_a_slash_that_has_grown_stands_on_the_line() -> None:
    setting = Setting().put("a").tall("/", 84, 111).put("b")
    assert latex(setting) == "a/b"


def test_a_small_number_in_the_crook_of_a_root_is_its_index() -> None:
    setting = Setting().tall("√", 91, 102, x=12).put("x", x=17.5).bar(17, 23, 91)
    assert latex(setting.put("3", x=10.5, y=95.5, size=5)) == r"\sqrt[3]{x}"


def test_a_drawn_root_sign_is_one_as_well() -> None:
    region = Setting().put("x", x=17.5).bar(17, 23, 91).region()
    region = replace(region, roots=(RootSign(9, Box(11, 91, 17, 102)),))
    assert read_formula(region).latex == r"\sqrt{x}"


def test_limits_stand_below_and_above_their_operator() -> None:
    setting = Setting().tall("∑", 90, 104, x=20).put("n", x=21, y=87, size=7)
    setting.put("i=1", x=16.5, y=112, size=7).put("i", x=30)
    assert latex(setting) == r"\sum_{i=1}^{n}i"


def test_the_name_of_a_function_takes_its_limit() -> None:
    setting = Setting().put("lim", font="CMR10").put("n", x=15.5, y=108, size=7).put("a", x=30)
    assert latex(setting) == r"\lim_{n}a"


def test_tall_brackets_hold_what_stands_between_them() -> None:
    setting = Setting().tall("(", 85, 110).put("a", x=17.5, y=93).put("b", x=17.5, y=107)
    setting.bar(17, 23, 97.5).tall(")", 85, 110, x=24).put("2", x=30, y=87, size=7)
    assert latex(setting) == r"\left(\frac{a}{b}\right)^{2}"


def test_rows_and_columns_between_tall_brackets_are_a_matrix() -> None:
    setting = Setting().tall("(", 85, 112).put("a", x=17, y=94).put("b", x=32, y=94)
    setting.put("c", x=17, y=107).put("d", x=32, y=107).tall(")", 85, 112, x=39)
    assert latex(setting) == r"\begin{pmatrix}a & b \\ c & d\end{pmatrix}"


def test_rows_after_a_brace_without_a_partner_are_cases() -> None:
    setting = Setting().put("f=").tall("{", 85, 112, x=24).put("x", x=31, y=94)
    setting.put("a=1", x=50, y=94).put("y", x=31, y=107).put("a=2", x=50, y=107)
    assert latex(setting) == r"f=\begin{cases}x & a=1 \\ y & a=2\end{cases}"


def test_rows_with_their_relations_under_each_other_are_aligned() -> None:
    setting = Setting().put("a+b=c", y=100).put("d=e", x=21, y=115)
    assert latex(setting) == r"\begin{aligned}a+b & =c \\ d & =e\end{aligned}"


def test_rows_without_an_alignment_are_doubtful() -> None:
    formula = read_formula(Setting().put("a+b", y=100).put("d", x=41, y=115).region())
    assert formula.doubts == ("stacked rows have no alignment",)


def test_an_accent_stands_over_its_letter() -> None:
    vector = identify("CMMI10", "\u20d7", name="vector")
    setting = Setting().put("ab")
    glyph = Glyph(9, "\u20d7", vector, "CMMI10", 10, 15.5, 100, Box(16, 89.5, 20, 92.5))
    region = setting.region()
    region = replace(region, glyphs=(*region.glyphs, glyph))
    assert read_formula(region).latex == r"a\vec{b}"


@pytest.mark.parametrize(
    ("setting", "written"),
    [
        (Setting().put("sin", font="CMR10").put("x"), r"\sin x"),
        (Setting().put("9 ").put("kg", font="CMR10"), r"9\mathrm{kg}"),
        (Setting().put("a ").put("for", font="CMR10"), r"a\text{for}"),
        (
            Setting().put("H", font="CMR10").put("2", y=101.5, size=7).put("O", font="CMR10"),
            r"\ce{H2O}",
        ),
        (Setting().put("Fe", font="CMR10").put("3+", y=96, size=7), r"\ce{Fe^3+}"),
        (Setting().put("f").put("′", y=96.4, size=7), "f'"),
        (Setting().put("6.02").put("×10").put("23", y=96.4, size=7), r"6.02\times10^{23}"),
    ],
)
def test_upright_letters_are_words_units_or_elements(setting: Setting, written: str) -> None:
    assert latex(setting) == written


def test_what_cannot_be_read_is_a_square_with_a_doubt() -> None:
    unknown = Glyph(
        0, "\ufffd", GlyphSymbol("\\square", "unknown"), "F1", 10, 10, 100, Box(10, 93, 15, 100)
    )
    formula = read_formula(FormulaRegion(Box(0, 0, 99, 99), (unknown,)))
    assert formula.latex == "\\square"
    assert formula.doubts == ("a glyph of font F1 is unknown",)
    assert read_formula(FormulaRegion(Box(0, 0, 99, 99), ())).doubts


def test_a_picture_in_a_formula_is_doubtful() -> None:
    region = replace(Setting().put("x").region(), pictures=(SmallPicture(1, Box(1, 1, 9, 9)),))
    assert read_formula(region).doubts == ("the formula contains a small picture",)


_BOXES = st.tuples(st.floats(0, 200), st.floats(0, 200), st.floats(0.1, 30), st.floats(0.1, 30))
_TEXTS = st.sampled_from("aZ1+=(){}[]|√∑∫→⃗ˆ′.\ufffd⎛⎜⎝⏟")


@st.composite
def _glyphs(draw: st.DrawFn) -> Glyph:
    x, y, width, height = draw(_BOXES)
    text = draw(_TEXTS)
    font = draw(st.sampled_from(["CMMI10", "CMR10", "Arial"]))
    size = draw(st.sampled_from([5.0, 7.0, 10.0, 0.0, 24.0]))
    box = Box(x, y - height, x + width, y)
    return Glyph(0, text, identify(font, text), font, size, x, y, box)


_REGIONS = st.builds(
    FormulaRegion,
    box=st.just(Box(0, 0, 300, 300)),
    glyphs=st.lists(_glyphs(), max_size=14).map(tuple),
    bars=st.lists(
        st.builds(
            lambda x, y, width: Rule(0, x, x + width, y, 0.4),
            st.floats(0, 200),
            st.floats(0, 200),
            st.floats(0, 100),
        ),
        max_size=4,
    ).map(tuple),
    roots=st.lists(
        st.builds(lambda b: RootSign(0, Box(b[0], b[1], b[0] + b[2], b[1] + b[3])), _BOXES),
        max_size=2,
    ).map(tuple),
)


@settings(max_examples=150, deadline=None)
@given(_REGIONS)
def test_whatever_stands_on_a_page_is_written_or_doubted(region: FormulaRegion) -> None:
    formula = read_formula(region)
    assert formula.latex
    assert formula.latex.count("{") - formula.latex.count("\\{") == (
        formula.latex.count("}") - formula.latex.count("\\}")
    )
    letters = sum(g.symbol.latex in {"a", "Z", "1"} for g in region.glyphs)
    if sum(formula.latex.count(letter) for letter in "Z1") + formula.latex.count("a") < letters:
        assert formula.doubts


def test_thousands_of_marks_are_refused_at_once() -> None:
    setting = Setting()
    for _ in range(MOST_MARKS + 1):
        setting.put("x", x=10.0)
    start = time.process_time()
    _, doubts = build_tree(setting.region())
    assert time.process_time() - start < 5
    assert doubts == ("the formula has too many marks to be built",)


def test_marks_over_each_other_take_bounded_time() -> None:
    setting = Setting()
    for number in range(400):
        setting.put("x", x=10.0 + number % 3, y=100 - number % 50, size=10 - number % 7)
        setting.bar(10, 12 + number % 9, 100 - number % 40)
    start = time.process_time()
    assert read_formula(setting.region()).doubts
    assert time.process_time() - start < 10


@pytest.mark.parametrize("signs", ["=", "+", "⇒", "→", "+ln"])
def test_a_formula_that_breaks_off_is_doubtful(signs: str) -> None:
    setting = Setting().put("v").put(signs, font="CMR10", gap=0.0)
    doubts = read_formula(setting.region()).doubts
    assert doubts == ("the formula ends with a sign that needs something after it",)


def test_a_charge_number_without_a_mass_number_is_doubtful() -> None:
    setting = Setting().put("6", x=13.5, y=102.5, size=7).put("C", x=18.0, font="CMR10")
    formula = read_formula(setting.region())
    assert formula.doubts == ("a charge number precedes a symbol without its mass number",)


def test_a_bar_before_an_equals_sign_closes_a_modulus() -> None:
    setting = Setting().put("|x|", gap=0.0)
    setting.x -= 1
    assert read_formula(setting.put("=2").region()).latex == "|x|=2"


def test_conditions_of_cases_begin_at_one_place_without_a_space() -> None:
    setting = Setting().tall("{", 80, 120, x=10)
    setting.put("ab", x=17, y=92, gap=0.0).put("x>7", x=27, y=92)
    setting.put("c", x=17, y=112).put("x<0", x=27, y=112)
    reading = read_formula(setting.region())
    assert reading.latex == r"\begin{cases}ab & x>7 \\ c & x<0\end{cases}"
    assert reading.doubts == ()


def test_rows_of_cases_without_a_visible_condition_are_doubtful() -> None:
    setting = Setting().tall("{", 80, 120, x=10)
    setting.put("2x>7", x=17, y=92, gap=0.0).put("5x<0", x=17, y=112, gap=0.0)
    assert read_formula(setting.region()).doubts == ("a row of cases has no condition",)


def test_two_rows_in_the_parentheses_of_an_object_are_doubtful() -> None:
    setting = Setting().tall("(", 82, 118, x=10).put("n", x=17, y=94).put("k", x=17, y=106.5)
    region = setting.tall(")", 82, 118, x=23).region()
    assert read_formula(region).latex == r"\begin{pmatrix}n \\ k\end{pmatrix}"
    embedded = read_formula(replace(region, is_object=True))
    assert embedded.latex == r"\binom{n}{k}"
    assert embedded.doubts == ("two rows in parentheses may be a binomial or a column",)


def test_an_index_right_before_the_bar_of_a_root_is_not_under_it() -> None:
    setting = Setting().tall("√", 91, 102, x=10).put("x", x=15.5).bar(15, 21, 91)
    assert latex(setting.put("3", x=12, y=95, size=5)) == r"\sqrt[3]{x}"


def test_a_subscript_above_a_fraction_bar_is_no_index_of_the_root_below_it() -> None:
    setting = Setting().put("n", x=16, y=93).put("A", x=21, y=95, size=5).bar(14, 33, 97.5)
    setting.tall("√", 99.5, 110, x=22).put("b", x=27, y=109).bar(27, 32, 99.5)
    assert latex(setting) == r"\frac{n_{A}}{\sqrt{b}}"


def test_a_matrix_of_one_column_with_an_index_is_not_a_binomial() -> None:
    setting = Setting().tall("(", 85, 112).put("6", x=18, y=94).put("m", x=16.5, y=106.5)
    setting.put("9", x=22, y=108.5, size=7).tall(")", 85, 112, x=26)
    assert latex(setting) == r"\begin{pmatrix}6 \\ m_{9}\end{pmatrix}"


def test_a_tilde_over_an_equals_sign_is_on_its_baseline() -> None:
    setting = Setting().put("a").put("∼", x=20, y=96.5, font="CMSY10").put("=", x=20)
    assert latex(setting.put("b", x=30)) == r"a\cong b"


def test_a_reaction_that_ends_with_its_arrow_is_doubtful() -> None:
    setting = Setting().put("H", font="CMR10", gap=0.0).put("2", y=101.5, size=7, font="CMR8")
    setting.put("→", x=setting.x + 3, font="CMSY10")
    formula = read_formula(setting.region())
    assert formula.latex == r"\ce{H2 ->}"
    assert formula.doubts == ("the formula ends with a sign that needs something after it",)


def test_a_subscript_of_the_row_above_is_no_index_of_a_root() -> None:
    setting = Setting().put("=a", x=10, y=88).put("i", x=21, y=89.5, size=7)
    setting.put("=", x=10).tall("√", 92, 104, x=22).bar(28, 40, 92).put("x", x=30)
    assert r"\sqrt{x}" in read_formula(setting.region()).latex
