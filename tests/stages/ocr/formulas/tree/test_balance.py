"""Formulas that break off."""

from __future__ import annotations

import pytest

from omibench.stages.ocr.formulas.tree.parts import Chemistry, Node, Row, Sign, Words, ends_open

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
