from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.formulas.latex import plain_mhchem


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"\ce{SO4^2-}", "SO4^{2-}"), (r"\ce{Cr2O7^{2-}}", "Cr2O7^{2-}"), (r"\ce{Na+}", "Na+"),
        (r"\ce{CuSO4.5H2O}", r"CuSO4 \cdot 5H2O"), (r"\ce{A -> B}", r"A \to  B"),
        (r"\ce{A <=>[k_1][k_2] B}", r"A \rightleftharpoons  B"), (r"\ce{AgCl v}", "AgCl"),
        (r"\ce{Cl^.}", "Cl•"), (r"so \ce{H2} and \ce{O2}", "so H2 and O2"), (r"\ce{H2", r"\ce{H2"),
    ],
)  # fmt: skip
def test_mhchem_in_plain_latex(text: str, plain: str) -> None:
    assert plain_mhchem(text) == plain


@given(st.text(alphabet="\\ce{}HO2->^.+ ", max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(plain_mhchem(text), str)
