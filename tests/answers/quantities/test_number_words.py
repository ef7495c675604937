from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.quantity import number_word


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Three", 3), ("zero", 0), ("twenty-one", 21), ("one hundred", 100), ("ninety", 90),
        ("two hundred and five", 205), ("three thousand four hundred", 3400), ("seventeen", 17),
    ],
)  # fmt: skip
def test_numbers_in_words(text: str, value: int) -> None:
    assert number_word(text) == value


@pytest.mark.parametrize(
    "text", ["one of them", "None", "", "ten five", "one two", "and", "hundred", "thirty zero", "3"]
)
def test_phrases_are_no_numbers(text: str) -> None:
    assert number_word(text) is None


@given(st.text(max_size=60))
def test_any_text_returns(text: str) -> None:
    value = number_word(text)
    assert value is None or 0 <= value < 1_000_000
