from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.items import make_item

from omibench.rule_books.usnco_v import score

OPTIONS = ["1 mol", "2 mol", "3 mol", "4 mol"]


@pytest.mark.parametrize(
    ("response", "letter"),
    [("B", "B"), ("(C)", "C"), ("We compare both. So \\boxed{D}", "D"), ("Answer: A.", "A")],
)
def test_a_standalone_letter_is_taken(response: str, letter: str) -> None:
    verdict = score(make_item(response, letter, OPTIONS))
    assert (verdict.extracted, verdict.verdict) == (letter, 1.0)


@pytest.mark.parametrize("response", ["E", "b", "BAD", "I don't know", "2 mol", "CO2 and NaCl"])
def test_anything_else_is_invalid_and_wrong(response: str) -> None:
    verdict = score(make_item(response, "B", OPTIONS))
    assert (verdict.extracted, verdict.verdict, verdict.outcome) == (None, 0.0, "unparsed")


def test_known_weaknesses_stay() -> None:
    assert score(make_item("A simple titration.", "A", OPTIONS)).verdict == 1
    assert score(make_item("B. Option A is wrong.", "B", OPTIONS)).verdict == 0


def test_open_answers_are_outside_this_rule() -> None:
    assert score(make_item("B", "B")).outcome == "unparsed"


@given(st.text(max_size=200))
def test_any_text_returns(text: str) -> None:
    assert score(make_item(text, "B", OPTIONS)).verdict in (0.0, 1.0)
