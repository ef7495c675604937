"""Formulas that break off."""

from __future__ import annotations

import pytest

from omibench.stages.ocr.formulas.tree.balance import ends_open
from omibench.stages.ocr.formulas.tree.nodes import Chemistry, Row, Sign, Words


@pytest.mark.parametrize(
    ("text", "is_open"), [("2H2 +", True), ("2H2 ->", True), ("Na+", False), ("H2O(l)", False)]
)
def test_a_reaction_breaks_off_after_a_sign_but_not_after_a_charge(
    text: str, is_open: bool
) -> None:
    assert ends_open(Chemistry(text)) is is_open


def test_a_function_needs_an_argument_unless_it_is_alone() -> None:
    function = Words("sin", "operator")
    assert ends_open(Row((Sign("+", "operator"), function)))
    assert not ends_open(function)
    assert not ends_open(Row((Sign("A", "letter"), Sign("\\uparrow", "arrow"))))
