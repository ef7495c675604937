"""Lines that no typeset paper has, set by hand: each is read by a rule that no other line needs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.glyphtex.set_type import Setting, read_formulas, read_region

from glyphtex.libreoffice import split_objects
from glyphtex.marks import Box, RootSign, Rule

ROMAN = "CMR10"


def read(setting: Setting) -> list[str]:
    """The formulas of a page as LaTeX."""
    return [formula.latex for formula in read_formulas(setting.page())]


def test_the_script_of_a_script_of_a_limit_is_in_the_limit() -> None:
    setting = Setting().tall("∑", 88, 104, x=21)
    setting.put("x∈A", x=16, y=110, size=7).put("i", x=28, y=112, size=5)
    setting.put("1", x=30.6, y=114, size=5).put("x", x=36)
    formula = read_region(setting.region())
    assert (formula.latex, formula.doubts) == (r"\sum_{x\in A_{i_{1}}}x", ())
    assert read(setting) == [formula.latex]


@pytest.mark.parametrize(
    ("words", "formulas"),
    [
        (["||x|−1|"], ["||x|-1|"]),
        (["|x−|y||"], ["|x-|y||"]),
        (["|x|", "and", "|y|", "a"], ["|x|", "|y|"]),
    ],
)
def test_a_bar_after_others_closes_them(words: list[str], formulas: list[str]) -> None:
    setting = Setting()
    for word in words:
        for character in word:
            letters = "" if "|" in word else ROMAN
            setting.put(character, font="CMSY10" if character in "|−" else letters, gap=0.02)
        setting.x += 3
    assert read(setting) == formulas


def test_italic_letters_after_a_fraction_are_its_factors() -> None:
    setting = Setting().put("so", font="Times", gap=0.0)
    setting.put("a", x=31, y=95, font="Times-Italic").bar(30, 37, 97)
    setting.put("b", x=31, y=106, font="Times-Italic").put("mv", x=39, font="Times-Italic")
    setting.put("is", x=60, font="Times", gap=0.0)
    setting.glyphs = [replace(g, italic=g.font == "Times-Italic") for g in setting.glyphs]
    assert read(setting) == [r"\frac{a}{b}mv"]


def test_prose_in_the_brackets_of_an_isotope_is_no_formula() -> None:
    setting = Setting().put("see", font=ROMAN, gap=0.0).put("(", x=28)
    setting.put("14", x=33, y=96, size=7, gap=0.0).put("C", x=40.4, font=ROMAN)
    setting.put("decays", x=49, font=ROMAN, gap=0.0).put(")", x=79)
    assert read(setting) == [r"({}^{14}\mathrm{C}"]


def test_two_scripts_in_brackets_with_nothing_else_are_a_binomial() -> None:
    setting = Setting().put("the", font=ROMAN, gap=0.0).put("(", x=30)
    setting.put("n", x=35.5, y=95, size=7).put("k", x=35.5, y=104, size=7).put(")", x=39.5)
    assert read(setting) == [r"\binom{n}{k}"]


def test_a_formula_is_broken_before_a_symbol_with_a_script_or_a_function() -> None:
    setting = Setting().put("burns in", font=ROMAN, gap=0.0)
    setting.put("C", x=60, font=ROMAN).put("+", x=68).put("O", x=76, font=ROMAN)
    setting.put("2", x=81, y=102, size=7).put("→", x=90, font="CMSY10")
    setting.put("CO", x=10, y=112, font=ROMAN, gap=0.0).put("2", x=20, y=114, size=7)
    setting.put("here", x=30, y=112, font=ROMAN, gap=0.0)
    assert read(setting) == [r"\ce{C + O2 -> CO2}"]
    setting = Setting().put("so that", font=ROMAN, gap=0.0).put("f", x=60).put("=", x=70)
    setting.put("sin", x=10, y=112, font=ROMAN, gap=0.0)
    setting.put("here", x=40, y=112, font=ROMAN, gap=0.0)
    assert read(setting) == [r"f=\sin"]


@pytest.mark.parametrize(
    ("number", "word", "formulas"),
    [("1", "is", []), ("14", "C", [r"{}^{14}\mathrm{C}"])],
)
def test_a_footnote_mark_after_a_comma_is_no_script_of_the_next_word(
    number: str, word: str, formulas: list[str]
) -> None:
    setting = Setting().put("cats,", font=ROMAN, gap=0.0)
    setting.put(number, x=35.5, y=96, size=7, gap=0.0)
    setting.put(word, x=setting.x + (2.2 if word == "is" else 0.3), font=ROMAN, gap=0.0)
    assert read(setting) == formulas


def test_an_object_has_the_rules_and_roots_that_are_painted_with_it() -> None:
    setting = Setting().put("ab", x=12, y=95).put("words", x=40, font=ROMAN).put("xy", x=12, y=108)
    glyphs = tuple(replace(g, serial=10 * g.serial, font="OpenSymbol") for g in setting.glyphs)
    frames = (Box(5, 93, 25, 112), Box(5, 85, 25, 99))  # both hold both rules and roots
    own, other = (Rule(serial, 12, 18, 97, 0.4) for serial in (5, 75))
    root, other_root = (RootSign(serial, Box(7, 92, 12, 98)) for serial in (6, 76))
    page = replace(setting.page(), glyphs=glyphs, frames=frames)
    page = replace(page, bars=(own, other), roots=(root, other_root))
    _, objects = split_objects(page)
    assert [("".join(g.text for g in o.glyphs), o.bars, o.roots) for o in objects] == [
        ("xy", (other,), (other_root,)),
        ("ab", (own,), (root,)),
    ]


def test_a_minus_sign_over_a_letter_is_a_bar() -> None:
    setting = Setting().put("x", x=20).put("−", x=20, y=93, font="CMSY10").put("=2", x=28)
    assert read(setting) == [r"\bar{x}=2"]
    beside = Setting().put("x", x=20).put("−", x=28, font="CMSY10").put("2", x=36)
    assert read(beside) == ["x-2"]


def test_a_minus_sign_over_an_index_is_an_exponent() -> None:
    setting = Setting().put("A", x=20).put("x", x=25.5, y=103, size=7)
    setting.put("−", x=25.5, y=96, size=7, font="CMSY10").put("=2", x=32)
    assert read(setting) == ["A_{x}^{-}=2"]
