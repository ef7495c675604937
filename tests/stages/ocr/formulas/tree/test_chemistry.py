"""Formulas of chemistry, and what looks like them."""

from __future__ import annotations

import pytest
from tests.stages.ocr.formulas.tree.set_type import Setting

from omibench.stages.ocr.formulas.page_formulas import read_formula

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
