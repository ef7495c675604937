"""Which marks of a page are a formula, and its LaTeX."""

from __future__ import annotations

import time
from dataclasses import replace

import pymupdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.glyphtex.set_type import (
    Setting,
    find_regions,
    read_formulas,
    read_marks,
    read_region,
)

from glyphtex.marks import Box, FormulaRegion, Glyph, RootSign, Rule
from glyphtex.regions import place_regions, separate
from glyphtex.row_reader import RowReader
from glyphtex.symbols import identify
from glyphtex.tree import MOST_MARKS, build_tree
from glyphtex.tree.parts import part_of_glyph

# Lines of text: pieces of it with font, size and rise in points.

ROMAN, ITALIC = ("tiro", 10, 0), ("tiit", 10, 0)
RAISED = ("tiro", 7, 4)
SYMBOL = ("symb", 10, 0)


def draw(*pieces: tuple[str, tuple[str, float, float]]) -> list[str]:
    """The formulas of a line of text, their characters from left to right."""
    page = pymupdf.open().new_page(width=500, height=300)
    x = 50.0
    for text, (font, size, rise) in pieces:
        page.insert_text((x, 100 - rise), text, fontname=font, fontsize=size)
        x += pymupdf.get_text_length(text, font, size)
    regions = find_regions(read_marks(page))
    return ["".join(g.text for g in sorted(r.glyphs, key=lambda g: g.x)) for r in regions]


@pytest.mark.parametrize(
    ("pieces", "formulas"),
    [
        ([("I have a cat and 25 well-known books from 2021-2022, page 12.", ROMAN)], []),
        ([("(A) 10 m (B) 25 kg (C) 3.5 J/(mol K) (D) none of these", ROMAN)], []),
        ([("See Fig. 3 and the 1st part; it costs 5 euros (or 6).", ROMAN)], []),
        ([("1 - A  2 - B  3 - C", ROMAN)], []),
        ([("the 2", ROMAN), ("nd", RAISED), (" word", ROMAN), ("1", RAISED)], []),
        ([("1", RAISED), ("meaning a smooth surface", ROMAN)], []),
        ([("14", RAISED), ("C nucleus", ROMAN)], ["14C"]),
        ([("a ball of mass ", ROMAN), ("m", ITALIC), (" falls", ROMAN)], ["m"]),
        ([("the word ", ROMAN), ("a priori", ITALIC), (" here", ROMAN)], []),
        ([("where ", ROMAN), ("c", ITALIC), ("(HA) is known", ROMAN)], ["c(HA)"]),
        ([("x", ITALIC), ("2", ("tiro", 8.5, 4.5)), (" young people", ROMAN)], ["x2"]),
        ([("(A) ", ROMAN), ("±", SYMBOL), ("1 cars", ROMAN)], ["±1"]),
        ([("q", ITALIC), (" = (1 + ", ROMAN), ("p", ITALIC), (")²", ROMAN)], ["q=(1+p)²"]),
    ],
)
def test_formulas_of_a_line(
    pieces: list[tuple[str, tuple[str, float, float]]], formulas: list[str]
) -> None:
    assert draw(*pieces) == formulas


def test_a_rule_is_a_bar_only_where_a_formula_is() -> None:
    page = pymupdf.open().new_page(width=300, height=300)
    for y, cells in ((60, ("Time (s)", "Height (m)")), (74, ("2.58", "7.29"))):
        for x, cell in zip((62, 150), cells, strict=True):
            page.insert_text((x, y), cell, fontname="tiro", fontsize=10)
    page.draw_line((60, 64), (200, 64), width=0.4)  # of a table
    page.insert_text((60, 100), "example.org/page", fontname="tiro", fontsize=10)
    page.draw_line((60, 101.2), (131, 101.2), width=0.5)  # of a link
    page.insert_text((61, 111), "and more of such", fontname="tiro", fontsize=10)
    assert find_regions(read_marks(page)) == []
    for k in range(3):  # choices so close that numerators touch the denominators above
        y = 160 + 23 * k
        page.insert_text((60, y - 3), f"a + {k}", fontname="tiro", fontsize=10)
        page.draw_line((58, y), (84, y), width=0.4)
        page.insert_text((62, y + 9.5), f"b - {k}", fontname="tiro", fontsize=10)
    latex = [formula.latex for formula in read_formulas(read_marks(page))]
    assert latex == [rf"\frac{{\mathrm{{a}}+{k}}}{{\mathrm{{b}}-{k}}}" for k in range(3)]


@pytest.mark.parametrize(
    ("words", "formulas"),
    [
        ([("pH", 2.8), ("=", 2.8), ("7", 3)], ["pH=7"]),
        ([("so", 2.8), ("const", 3)], []),
        ([("x", 2.8), ("≡", 2.8), ("1", 4.4), ("(mod", 1.7), ("m)", 3)], ["x≡1(modm)"]),
        ([("x", 2.8), ("≡", 2.8), ("1", 4.4), ("(see", 1.7), ("m)", 3)], ["x≡1"]),
        ([("1+2+···+n", 0)], ["1+2+···+n"]),
        ([("|a+b|≤|a|+|b|", 0)], ["|a+b|≤|a|+|b|"]),
        ([("(ab)/(cd)", 0)], ["(ab)/(cd)"]),
    ],
)
def test_words_and_brackets_beside_a_formula(
    words: list[tuple[str, float]], formulas: list[str]
) -> None:
    setting = Setting()
    for word, space in words:
        setting.put(word, font="CMR10" if space else "", gap=0.0 if space else 0.05)
        setting.x += space
    row = RowReader([part_of_glyph(glyph) for glyph in setting.glyphs])
    assert [row.text(start, end) for start, end in row.find_intervals()] == formulas


def test_an_embedded_formula_that_overlaps_another_one_is_in_one_of_them() -> None:
    row = [part_of_glyph(glyph) for glyph in Setting().put("x=y").put("z", font="CMR10").glyphs]
    row[3].box, row[3].is_object = row[2].box, True
    assert RowReader(row).find_intervals() == [(0, 4)]


def test_numbers_of_an_element_are_not_those_of_the_word_before_it() -> None:
    setting = Setting().put("the", x=35, font="CMR10", gap=0.0)
    setting.put("235", x=52.4, y=96, size=7, font="CMR8", gap=0.0)
    setting.put("92", x=52.4, y=103, size=7, font="CMR8", gap=0.0).put("U", x=63.2, font="CMR10")
    (formula,) = read_formulas(setting.page())
    assert formula.latex == r"{}_{92}^{235}\mathrm{U}"


def test_stacked_choices_are_separated_by_the_order_in_which_they_are_painted() -> None:
    page = pymupdf.open().new_page(width=300, height=200)
    for y, (label, above, below) in ((100, ("(A)", "x+1", "b")), (113, ("(B)", "c", "y+2"))):
        page.insert_text((50, y), label, fontname="tiro", fontsize=11)
        for text, level in ((above, y - 6), (below, y + 6)):
            width = pymupdf.get_text_length(text, "tiit", 7.7)
            page.insert_text((85 - width / 2, level), text, fontname="tiit", fontsize=7.7)
        page.draw_line((78, y - 3), (92, y - 3), width=0.5)
    marks = read_marks(page)
    formulas = read_formulas(marks)
    assert [formula.latex for formula in formulas] == [r"\frac{x+1}{b}", r"\frac{c}{y+2}"]
    groups = separate(marks, [formula.region for formula in formulas])
    texts = ["".join(glyph.text for glyph in group.glyphs) for group in groups]
    assert texts == ["(A)x+1b", "(B)cy+2"]
    assert [len(group.bars) for group in groups] == [1, 1]


# Formulas set by hand, their LaTeX and their doubts.

NEITHER = "a symbol is neither on the baseline nor clearly raised or lowered"
OPEN = "the formula ends with a sign that needs something after it"


def stretch(text: str, top: float, foot: float, x: float = 10) -> Setting:
    return Setting().tall(text, top, foot, x=x)


@pytest.mark.parametrize(
    ("setting", "latex", "doubts"),
    [
        (Setting().put("sin", font="CMR10").put("x"), r"\sin x", ()),
        (Setting().put("9 ").put("kg", font="CMR10"), r"9\mathrm{kg}", ()),
        (Setting().put("a ").put("for", font="CMR10"), r"a\text{for}", ()),
        (Setting().put("f").put("′", y=96.4, size=7), "f'", ()),
        (Setting().put("a").put("...", font="CMMI10").put("b"), r"a\ldots b", ()),
        (Setting().put("a").put("·", y=95).put("·", y=100, x=20).put("·", y=105, x=24.5), None, ()),
        (Setting().put("H").put("2", y=102, size=7).put("O"), "H_{2}O", ()),
        (Setting().put("x").put("2", y=99.5, size=7), None, (NEITHER,)),
        (Setting().put("v").put("+", font="CMR10"), "v+", (OPEN,)),
        (Setting().put("v").put("+ln", font="CMR10", gap=0.0), r"v+\ln", (OPEN,)),
        (Setting().put("A").put("↑", font="CMSY10"), r"A\uparrow", ()),
        (
            Setting().put("6", x=13.5, y=102.5, size=7).put("C", x=18.0, font="CMR10"),
            None,
            ("a charge number precedes a symbol without its mass number",),
        ),
        (
            Setting().put("a").put("→", x=20, font="CMSY10").put("n", x=20.5, y=94, size=7)
            .put("b", x=30),
            r"a\xrightarrow{n}b", (),
        ),
        (
            Setting().put("a").put("∼", x=20, y=96.5, font="CMSY10").put("=", x=20)
            .put("b", x=30),
            r"a\cong b", (),
        ),
        (
            Setting().put("−", x=20, font="CMSY10").put("→", x=22.5, font="CMSY10"),
            r"\longrightarrow", (),
        ),
        (
            Setting().put("\u0338", x=20, font="CMSY10").put("∈", x=22.5, font="CMSY10"),
            r"\notin", (),
        ),
        (
            Setting().put("a+b=c", y=100).put("d=e", x=21, y=115),
            r"\begin{aligned}a+b & =c \\ d & =e\end{aligned}", (),
        ),
        (
            Setting().put("a+b", y=100).put("d", x=41, y=115),
            None, ("stacked rows have no alignment",),
        ),
        (stretch("√", 90, 102).put("3", x=16).bar(16, 21, 90.2).put(".", x=19.4), "\\sqrt{3}.", ()),
        (
            stretch("√", 91, 102).put("x", x=15.5).bar(15, 21, 91).put("3", x=12, y=95, size=5),
            r"\sqrt[3]{x}", (),
        ),
        (
            Setting().put("n", x=16, y=93).put("A", x=21, y=95, size=5).bar(14, 33, 97.5)
            .tall("√", 99.5, 110, x=22).put("b", x=27, y=109).bar(27, 32, 99.5),
            r"\frac{n_{A}}{\sqrt{b}}", (),
        ),
        (
            stretch("{", 80, 120).put("ab", x=17, y=92, gap=0.0).put("x>7", x=27, y=92)
            .put("c", x=17, y=112).put("x<0", x=27, y=112),
            r"\begin{cases}ab & x>7 \\ c & x<0\end{cases}", (),
        ),
    ],
)  # fmt: skip
def test_marks_as_latex(setting: Setting, latex: str | None, doubts: tuple[str, ...]) -> None:
    formula = read_region(setting.region())
    assert formula.latex == (latex or formula.latex)
    assert formula.doubts == doubts


def test_what_cannot_be_placed_or_named_is_doubtful() -> None:
    formula = read_region(Setting().put("AB").bar(100, 150, 92).region())
    assert "a rule could not be placed in the formula" in formula.doubts
    assert "a mark could not be placed in the formula" in formula.doubts
    box = Box(10, 93, 15, 100)
    unknown = Glyph(0, "\ufffd", identify("F1", "\ufffd"), "F1", 10, 10, 100, box)
    formula = read_region(FormulaRegion(box, (unknown,)))
    assert formula == (formula.__class__)(
        formula.region, "\\square", ("a glyph of font F1 is unknown",)
    )
    assert read_region(FormulaRegion(box, ())).doubts == ("no symbol of the formula could be read",)
    accent = replace(unknown, symbol=identify("CMEX10", "\ufffd", name="hatwide"))
    assert read_region(FormulaRegion(box, (accent,))).doubts == ("an accent is not over a letter",)


def test_a_subscript_of_the_row_above_is_no_index_of_a_root() -> None:
    setting = Setting().put("=a", x=10, y=88).put("i", x=21, y=89.5, size=7).put("=", x=10)
    setting.tall("√", 92, 104, x=22).bar(28, 40, 92).put("x", x=30)
    assert r"\sqrt{x}" in read_region(setting.region()).latex


def test_a_drawn_root_sign_and_a_piece_without_a_name() -> None:
    region = Setting().put("x", x=17.5).bar(17, 23, 91).region()
    region = replace(region, roots=(RootSign(9, Box(11, 91, 17, 102)),))
    assert read_region(region).latex == r"\sqrt{x}"
    font = "NewCMMath-Book"
    pieces = [
        Glyph(0, text, identify(font, text), font, 10, 10, 100, Box(10, top, 14, top + 15))
        for text, top in (("\ufffd", 80), ("{", 95))
    ]
    rows = Setting().put("x", x=20, y=90).put("y", x=20, y=105).region()
    formula = read_region(replace(rows, glyphs=(*rows.glyphs, *pieces)))
    assert (formula.latex, formula.doubts) == (r"\begin{cases}x \\ y\end{cases}", ())


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
        ("H_2|→", r"\ce{H2 ->}"),
        ("V_0", r"\mathrm{V}_{0}"),
        ("N_A", r"\mathrm{N}_{\mathrm{A}}"),
        ("K^-1", r"\mathrm{K}^{-1}"),
        ("F_2", r"\ce{F2}"),
        ("P_2", r"\mathrm{P}_{2}"),
    ],
)
def test_molecules_ions_and_reactions_are_chemistry_and_quantities_are_not(
    text: str, written: str
) -> None:
    setting, level, size = Setting(), 100.0, 10.0
    for character in text:  # `_` lowers and `^` raises the characters up to `|`
        if character in "_^|":
            level, size = {"_": (102.0, 7.0), "^": (96.0, 7.0), "|": (100.0, 10.0)}[character]
            continue
        is_wide = character in "+→⇌" and size > 7
        setting.x += 2.5 if is_wide else 0.0
        font = "" if character in "()+=-→⇌" else "CMR10"
        setting.put(character, y=level, size=size, font=font, gap=0.3 if is_wide else 0.05)
    formula = read_region(setting.region())
    assert (formula.latex, formula.doubts) == (written, (OPEN,) if text.endswith("→") else ())


# What no input may do.

_BOXES = st.tuples(st.floats(0, 200), st.floats(0, 200), st.floats(0.1, 30), st.floats(0.1, 30))


@st.composite
def _glyphs(draw: st.DrawFn) -> Glyph:
    x, y, width, height = draw(_BOXES)
    text = draw(st.sampled_from("aZ1+=(){}[]|√∑∫→⃗ˆ′.\ufffd⎛⎜⎝⏟"))
    font = draw(st.sampled_from(["CMMI10", "CMR10", "Arial"]))
    size = draw(st.sampled_from([5.0, 7.0, 10.0, 0.0, 24.0]))
    box = Box(x, y - height, x + width, y)
    return Glyph(0, text, identify(font, text), font, size, x, y, box)


_BARS = st.builds(lambda b: Rule(0, b[0], b[0] + 3 * b[2], b[1], 0.4), _BOXES)
_ROOTS = st.builds(lambda b: RootSign(0, Box(b[0], b[1], b[0] + b[2], b[1] + b[3])), _BOXES)
_REGIONS = st.builds(
    FormulaRegion,
    box=st.just(Box(0, 0, 300, 300)),
    glyphs=st.lists(_glyphs(), max_size=14).map(tuple),
    bars=st.lists(_BARS, max_size=4).map(tuple),
    roots=st.lists(_ROOTS, max_size=2).map(tuple),
)


@settings(max_examples=150, deadline=None)
@given(_REGIONS)
def test_whatever_stands_on_a_page_is_written_or_doubted(region: FormulaRegion) -> None:
    formula = read_region(region)
    assert formula.latex
    plain = formula.latex.replace("\\{", "").replace("\\}", "")
    assert plain.count("{") == plain.count("}")
    letters = sum(g.symbol.latex in {"a", "Z", "1"} for g in region.glyphs)
    if sum(map(formula.latex.count, "aZ1")) < letters:
        assert formula.doubts


def test_roots_within_roots_without_end_are_written_as_a_row() -> None:
    setting = Setting()
    for k in range(300):
        setting.tall("√", 92, 104, x=12.0 * k).bar(12.0 * k + 5, 3700, 92).put("a")
    glyphs = [replace(glyph, font="OpenSymbol", italic=True) for glyph in setting.glyphs]
    frame = Box(-20, 60, 3800, 130)
    page = replace(setting.page(), width=4000, glyphs=tuple(glyphs), frames=(frame,))
    (place,) = place_regions(page).places
    _, doubts = build_tree(place.region, place.parts)
    assert place.region.is_object
    formula = read_region(setting.region())
    assert formula.latex.count("a") == 300
    assert formula.doubts == doubts == ("the formula is nested too deeply to be built",)


def test_marks_over_each_other_take_bounded_time() -> None:
    setting = Setting()
    for number in range(400):
        setting.put("x", x=10.0 + number % 3, y=100 - number % 50, size=10 - number % 7)
        setting.bar(10, 12 + number % 9, 100 - number % 40)
    start = time.process_time()
    assert read_region(setting.region()).doubts
    for _ in range(MOST_MARKS):
        setting.put("x", x=10.0)
    assert read_region(setting.region()).doubts == ("the formula has too many marks to be built",)
    assert time.process_time() - start < 15


def test_a_bar_of_a_root_in_pieces_is_one() -> None:
    setting = Setting().tall("√", 88, 104, x=12).put("a+b", x=18)
    setting.bar(17, 23, 88).bar(23, 35, 88)
    formula = read_region(setting.region())
    assert (formula.latex, formula.doubts) == (r"\sqrt{a+b}", ())


def test_an_ordinal_after_a_formula_is_no_factor() -> None:
    assert draw(("the ", ROMAN), ("n+1", ITALIC), ("st term", ROMAN)) == ["n+1"]


def test_a_colon_before_an_equals_sign_has_its_operand() -> None:
    assert draw(("so 0 := ", ROMAN), ("x", ITALIC), (" holds", ROMAN)) == ["0:=x"]


def test_a_sign_over_a_letter_is_its_accent_and_beside_it_an_operator() -> None:
    over = Setting().put("x", x=20).put("∼", x=20, y=93, font="CMSY10").put("=2", x=28)
    beside = Setting().put("x", x=20).put("∼", x=28, font="CMSY10").put("2", x=36)
    assert [read_region(each.region()).latex for each in (over, beside)] == [
        r"\tilde{x}=2",
        r"x\sim2",
    ]
