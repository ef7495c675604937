"""Signs of several glyphs: pieces on top of each other, and glyphs over each other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.fonts.identify import identify
from omibench.stages.ocr.formulas.marks import FormulaRegion, Glyph, Rule
from omibench.stages.ocr.formulas.tree.formula import read_formula
from omibench.stages.ocr.layout.layout import Box


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


def test_a_bracket_of_pieces_is_one() -> None:
    left = [
        glyph("parenlefttp", Box(10, 80, 14, 90)),
        glyph("parenleftex", Box(10, 90, 12, 100)),
        glyph("parenleftbt", Box(10, 100, 14, 110)),
    ]
    right = [
        replace(g, symbol=identify("CMEX10", "", name=n), box=g.box._replace(x0=34, x1=38))
        for g, n in zip(left, ("parenrighttp", "parenrightex", "parenrightbt"), strict=True)
    ]
    setting = Setting().put("a", x=20, y=88).put("b", x=20, y=105).bar(19, 27, 95)
    assert read(setting, *left, *right) == (r"\left(\frac{a}{b}\right)", ())


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


def test_a_brace_of_tips_and_rules_takes_its_label() -> None:
    tips = [
        glyph("bracehtipupleft", Box(10, 103, 14, 106)),
        glyph("bracehtipdownright", Box(17, 104, 20, 107)),
        glyph("bracehtipdownleft", Box(20, 104, 23, 107)),
        glyph("bracehtipupright", Box(26, 103, 30, 106)),
    ]
    bars = (Rule(0, 13, 18, 105, 0.4), Rule(0, 22, 27, 105, 0.4))
    setting = Setting().put("a+b", x=12).put("n", x=18.5, y=114, size=7)
    assert read(setting, *tips, bars=bars) == (r"\underbrace{a+b}_{n}", ())


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


def test_an_arrow_as_wide_as_the_letters_below_it_is_theirs() -> None:
    arrow = glyph("arrowright", Box(10, 89, 20, 92), font="CMSY10", y=91)
    assert read(Setting().put("AB"), arrow) == (r"\overrightarrow{AB}", ())


def test_an_arrow_with_small_letters_on_it_is_a_labelled_one() -> None:
    setting = Setting().put("a").put("→", x=20, font="CMSY10").put("n", x=20.5, y=94, size=7)
    assert read(setting.put("b", x=30)) == (r"a\xrightarrow{n}b", ())


def test_a_wide_hat_stands_over_all_its_letters() -> None:
    hat = glyph("hatwidest", Box(10, 88, 26, 92))
    assert read(Setting().put("ABC"), hat) == (r"\widehat{ABC}", ())


def test_an_accent_alone_is_doubtful() -> None:
    region = FormulaRegion(Box(0, 0, 50, 50), (glyph("hatwide", Box(10, 10, 20, 12)),))
    assert read_formula(region).doubts == ("an accent is not over a letter",)


def test_pieces_of_a_shaft_are_not_heads_of_an_arrow() -> None:
    head = identify("XITSMath-Regular", "\u20d7")
    shaft = identify("XITSMath-Regular", "\u20d6")
    arrow = [
        Glyph(0, "\u20d6", shaft, "XITSMath-Regular", 10, x, 98, Box(x, 88, x + 4, 88.6))
        for x in (10, 13.5)
    ]
    arrow.append(Glyph(0, "\u20d7", head, "XITSMath-Regular", 10, 16, 98, Box(16, 87, 20.5, 89.2)))
    assert read(Setting().put("AB"), *arrow) == (r"\overrightarrow{AB}", ())
