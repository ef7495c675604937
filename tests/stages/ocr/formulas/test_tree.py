"""From marks set by hand to LaTeX, and what no input may do."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stages.ocr.formulas.set_type import Setting

from omibench.stages.ocr.formulas.marks import (
    FormulaRegion,
    Glyph,
    GlyphSymbol,
    RootSign,
    Rule,
    SmallPicture,
)
from omibench.stages.ocr.formulas.page_formulas import MOST_MARKS, build_tree, read_formula
from omibench.stages.ocr.formulas.symbols import identify
from omibench.stages.ocr.formulas.tree.nodes import Chemistry, Node, Row, Sign, Words, ends_open
from omibench.stages.ocr.layout.layout import Box

# From marks set by hand to LaTeX, and what no input may do.


def latex(setting: Setting) -> str:
    formula = read_formula(setting.region())
    assert not formula.doubts
    return formula.latex


def test_a_script_near_the_baseline_is_doubtful() -> None:
    formula = read_formula(Setting().put("x").put("2", y=99.5, size=7).region())
    assert formula.doubts == ("a symbol is neither on the baseline nor clearly raised or lowered",)


def test_a_bar_that_nothing_stands_at_is_doubtful() -> None:
    formula = read_formula(Setting().put("AB").bar(100, 150, 92).region())
    assert "a rule could not be placed in the formula" in formula.doubts
    assert "a mark could not be placed in the formula" in formula.doubts


def test_a_full_stop_behind_the_bar_of_a_root_is_outside() -> None:
    setting = Setting().tall("√", 90, 102).put("3", x=16).bar(16, 21, 90.2).put(".", x=19.4)
    assert latex(setting) == "\\sqrt{3}."


def test_a_drawn_root_sign_is_one_as_well() -> None:
    region = Setting().put("x", x=17.5).bar(17, 23, 91).region()
    region = replace(region, roots=(RootSign(9, Box(11, 91, 17, 102)),))
    assert read_formula(region).latex == r"\sqrt{x}"


def test_rows_with_their_relations_under_each_other_are_aligned() -> None:
    setting = Setting().put("a+b=c", y=100).put("d=e", x=21, y=115)
    assert latex(setting) == r"\begin{aligned}a+b & =c \\ d & =e\end{aligned}"


def test_rows_without_an_alignment_are_doubtful() -> None:
    formula = read_formula(Setting().put("a+b", y=100).put("d", x=41, y=115).region())
    assert formula.doubts == ("stacked rows have no alignment",)


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


# Signs of several glyphs: pieces on top of each other, and glyphs over each other.


def glyph(name: str, box: Box, *, font: str = "CMEX10", y: float = 100.0) -> Glyph:
    symbol = identify(font, "\ufffd", name=name)
    return Glyph(0, "\ufffd", symbol, font, 10.0, box.x0, y, box)


def read(
    setting: Setting, *extra: Glyph, bars: tuple[Rule, ...] = ()
) -> tuple[str, tuple[str, ...]]:
    region = setting.region()
    whole = replace(region, glyphs=(*region.glyphs, *extra), bars=(*region.bars, *bars))
    formula = read_formula(whole)
    return formula.latex, formula.doubts


def test_a_piece_without_a_name_belongs_to_the_bracket_that_it_touches() -> None:
    unknown = identify("NewCMMath-Book", "\ufffd")
    pieces = [
        Glyph(0, "\ufffd", unknown, "NewCMMath-Book", 10, 10, 100, Box(10, 80, 14, 95)),
        Glyph(
            0,
            "{",
            identify("NewCMMath-Book", "{"),
            "NewCMMath-Book",
            10,
            10,
            100,
            Box(10, 95, 14, 110),
        ),
    ]
    setting = Setting().put("x", x=20, y=90).put("y", x=20, y=105)
    assert read(setting, *pieces) == (r"\begin{cases}x \\ y\end{cases}", ())


@pytest.mark.parametrize(
    ("first", "second", "written"),
    [
        ("−", "→", r"\longrightarrow"),
        ("=", "⇒", r"\Longrightarrow"),
        ("\u0338", "=", r"\neq"),
        ("\u0338", "∈", r"\notin"),
    ],
)
def test_overlapping_glyphs_are_one_symbol(first: str, second: str, written: str) -> None:
    setting = Setting().put(first, x=20, font="CMSY10").put(second, x=22.5, font="CMSY10")
    assert read(setting) == (written, ())


@pytest.mark.parametrize(("dot", "written"), [(".", r"\ldots"), ("·", r"\cdots")])
def test_three_dots_are_an_ellipsis(dot: str, written: str) -> None:
    setting = Setting().put("a").put(dot * 3, font="CMMI10").put("b")
    assert read(setting) == (f"a{written} b", ())


def test_an_arrow_with_small_letters_on_it_is_a_labelled_one() -> None:
    setting = Setting().put("a").put("→", x=20, font="CMSY10").put("n", x=20.5, y=94, size=7)
    assert read(setting.put("b", x=30)) == (r"a\xrightarrow{n}b", ())


def test_an_accent_alone_is_doubtful() -> None:
    region = FormulaRegion(Box(0, 0, 50, 50), (glyph("hatwide", Box(10, 10, 20, 12)),))
    assert read_formula(region).doubts == ("an accent is not over a letter",)


# Formulas of chemistry, and what looks like them.

ROMAN = "CMR10"


def species(setting: Setting, text: str) -> Setting:
    """`SO_4^{2-}`-like text: `_` lowers and `^` raises the characters up to the next space."""
    level, size = 100.0, 10.0
    for character in text:
        if character == "_":
            level, size = 102.0, 7.0
        elif character == "^":
            level, size = 96.0, 7.0
        elif character == "|":
            level, size = 100.0, 10.0
        else:
            font = "" if character in "()+=-→⇌" else ROMAN
            gap = 0.3 if character in "+→⇌" and size > 7 else 0.05
            setting.x += 2.5 if gap > 0.1 else 0.0
            setting.put(character, y=level, size=size, font=font, gap=gap)
    return setting


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("H_2|O", r"\ce{H2O}"),
        ("Fe^3+", r"\ce{Fe^3+}"),
        ("Na^+", r"\ce{Na+}"),
        ("Ca(OH)_2", r"\ce{Ca(OH)2}"),
        ("2H_2|+O_2|→2H_2|O", r"\ce{2H2 + O2 -> 2H2O}"),
        ("N_2|+3H_2|⇌2NH_3", r"\ce{N2 + 3H2 <=> 2NH3}"),
        ("CO_2|(g)", r"\ce{CO2(g)}"),
    ],
)
def test_molecules_ions_and_reactions_are_chemistry(text: str, written: str) -> None:
    formula = read_formula(species(Setting(), text).region())
    assert (formula.latex, formula.doubts) == (written, ())


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("V_0", r"\mathrm{V}_{0}"),
        ("N_A", r"\mathrm{N}_{\mathrm{A}}"),
        ("K^-1", r"\mathrm{K}^{-1}"),
        ("F_2", r"\ce{F2}"),
        ("P_2", r"\mathrm{P}_{2}"),
        ("sin", r"\sin"),
    ],
)
def test_quantities_and_units_are_none(text: str, written: str) -> None:
    assert read_formula(species(Setting(), text).region()).latex == written


def test_italic_letters_are_no_elements() -> None:
    setting = Setting().put("H").put("2", y=102, size=7).put("O")
    assert read_formula(setting.region()).latex == "H_{2}O"


# Formulas that break off.

LETTER = Sign("a", "letter")


def test_a_function_needs_an_argument_unless_it_is_alone() -> None:
    function = Words("sin", "operator")
    assert ends_open(Row((Sign("+", "operator"), function)))
    assert not ends_open(function)
    assert not ends_open(Row((Sign("A", "letter"), Sign("\\uparrow", "arrow"))))


@pytest.mark.parametrize(
    ("node", "is_open"),
    [
        (Row((LETTER, Sign(r"\cup", "operator"))), True),
        (Row((LETTER, Sign(r"\mapsto", "arrow"))), True),
        (Row((LETTER, Sign(r"\uparrow", "arrow"))), False),
        (Row((LETTER, Sign("!", "operator"))), False),
        (Row((LETTER, LETTER)), False),
        (Chemistry("2H2 +"), True),
        (Chemistry("2H2 + O2 ->"), True),
        (Chemistry("Na+"), False),
    ],
)
def test_formulas_that_end_with_a_sign_that_needs_something(node: Node, *, is_open: bool) -> None:
    assert ends_open(node) == is_open
