"""Signs of several glyphs: pieces on top of each other, and glyphs over each other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.marks import FormulaRegion, Glyph, Rule
from omibench.stages.ocr.formulas.page_formulas import read_formula
from omibench.stages.ocr.formulas.symbols import identify
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
