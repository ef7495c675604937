from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.chemistry import ELEMENTS, same_chemistry
from omibench.answers.formulas.latex import tidy

SPELLINGS = [
    ("H₂SO₄", "H_2SO_4", "H2SO4", r"\ce{H2SO4}", r"\mathrm{H_2SO_4}", r"\text{H}_2\text{SO}_4"),
    ("SO₄²⁻", r"\ce{SO4^2-}", "SO_4^{2-}", "SO_4^{-2}", "SO42-"),
    ("[Fe(CN)₆]⁴⁻", r"\ce{[Fe(CN)6]^4-}", "[Fe(CN)_6]^{4-}", "[Fe(CN)6]4-"),
    ("CuSO₄·5H₂O", r"\ce{CuSO4.5H2O}", r"CuSO_4 \cdot 5H_2O", "CuSO4*5H2O"),
    ("Fe³⁺", "Fe^{3+}", "Fe3+", "Fe(III)", r"\ce{Fe^3+}"),
    ("²³⁵U", "^{235}_{92}U", r"\ce{^{235}U}", "U-235", r"\ce{^235_92U}", r"{}_{92}^{235}U",
     "uranium-235", r"{}^{235}\mathrm{U}"),
    (r"\ce{^{0}_{-1}e}", "e^-", r"\beta^-", "electron"), (r"^{4}_{2}He", r"\alpha"),
    ("2 H₂ + O₂ → 2 H₂O", r"\ce{2H2 + O2 -> 2H2O}", "O2+2H2->2H2O",
     r"H_2 + \frac{1}{2}O_2 \to H_2O"),
    ("N₂ + 3H₂ ⇌ 2NH₃", r"\ce{N2 + 3H2 <=>[Fe] 2NH3}", r"3H_2 + N_2 \rightleftharpoons 2NH_3"),
    ("Cl₂ + 2e⁻ → 2Cl⁻", "Cl_2 + 2e^- \\to 2Cl^-", r"\ce{Cl2 + 2e- -> 2Cl-}"),
]  # fmt: skip


@pytest.mark.parametrize("spellings", SPELLINGS)
def test_one_formula_in_many_spellings(spellings: tuple[str, ...]) -> None:
    for gold in spellings:
        for pred in spellings:
            assert tidy(gold) == tidy(pred) or same_chemistry(tidy(gold), tidy(pred)), (gold, pred)


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        ("H2O", "H2O2"), ("CO", "Co"), ("NO2", "N2O"), ("SO4^2-", "SO3^2-"), ("SO4^2-", "SO4^-"),
        ("Fe^{3+}", "Fe^{2+}"), ("Fe^{3+}", "Fe"), ("CuSO4·5H2O", "CuSO4·7H2O"),
        ("C2H5OH", "C2H6O"), ("^{14}C", "^{12}C"), ("NaCl(aq)", "NaCl(s)"), ("Ca(OH)2", "CaOH2"),
        ("2H2 + O2 → 2H2O", "H2 + O2 → H2O"), ("2H2 + O2 → 2H2O", "2H2O → 2H2 + O2"),
        ("2H2 + O2 → 2H2O", "2H2 + O2 → 2H2O + O2"), ("A → B", "B → A"),
        ("x + y", "y + x"), ("sp^2", "sp^3"), ("", "H2O"), ("P V", "N R T"),
    ],
)  # fmt: skip
def test_other_formulas_and_other_texts(gold: str, pred: str) -> None:
    assert not same_chemistry(tidy(gold), tidy(pred))


@given(st.text(alphabet="HOCNa2+-^_{}()[]→ .\\ce", max_size=40))
def test_every_text_gets_an_answer(text: str) -> None:
    assert same_chemistry(tidy(text), "H_{2}O") in (True, False, None)


ATOMS = st.tuples(st.sampled_from(sorted(ELEMENTS)), st.integers(1, 20))


@given(st.lists(ATOMS, min_size=1, max_size=5))
def test_another_count_is_another_formula(atoms: list[tuple[str, int]]) -> None:
    formula = "".join(f"{name}_{{{count}}}" for name, count in atoms)
    other = "".join(f"{name}_{{{count + 1}}}" for name, count in atoms)
    assert same_chemistry(tidy(formula), tidy(rf"\ce{{{formula}}}")) is not False
    assert not same_chemistry(tidy(formula), tidy(other))


def test_there_are_118_elements_and_heavy_hydrogen() -> None:
    assert len(ELEMENTS) == 119
