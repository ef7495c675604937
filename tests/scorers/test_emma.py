from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.items import make_item

from omibench.answers.scorers.emma import fast_extract, is_equal, score, words_to_number


@given(st.text(alphabet="\\boxed{}text answer is:AB.1\n ", max_size=200))
def test_every_text_is_extracted_from_or_not(text: str) -> None:
    answer, method = fast_extract(text)
    assert answer == "" or method != "none"


@given(st.text(max_size=60))
def test_every_answer_equals_itself(text: str) -> None:
    assert is_equal(text, text)


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("b", "B"), ("B: 2.26", "B"), ("C. because", "C"), (" -2.5e3 ", "-2.5e3"),
        (r"\boxed{A} then \boxed{\text{D}}", "D"), (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        ("The correct answer is D. It holds.", "d"), ("Final answer is\n\nB", "b"),
        ("Answer: 12", "12"), ("nothing here", ""), (r"\boxed{unclosed", ""),
    ],
)  # fmt: skip
def test_the_patterns_in_their_order(response: str, answer: str) -> None:
    assert fast_extract(response)[0] == answer


def test_the_text_of_the_gold_option_counts_too() -> None:
    assert score(make_item(r"\boxed{70 cm}", "B", ["50 cm", "70 cm"])).verdict == 1
    assert score(make_item(r"\boxed{50 cm}", "B", ["50 cm", "70 cm"])).verdict == 0


def test_numbers_are_equal_when_rounded_to_two_decimals() -> None:
    assert is_equal(r"\frac{1}{2}", "0.501")
    assert not is_equal("0.5", "0.51")
    assert not is_equal("x", "y")


@pytest.mark.parametrize(
    ("text", "value"),
    [("three", 3), ("twenty-one", 21), ("two hundred and five", 205), ("one of them", 1),
     ("three thousand two", 3002), ("nothing", None), ("million million", None)],
)  # fmt: skip
def test_number_words_anywhere(text: str, value: int | None) -> None:
    assert words_to_number(text) == value


@pytest.mark.parametrize(
    ("response", "gold", "options", "verdict"),
    [
        (r"\boxed{D: 1.12}", "D", ["1", "2", "3", "1.12"], 0),
        (r"\boxed{\text{(A)}}", "A", ["1", "2"], 0),
        ("The answer is **d**", "D", ["1", "2", "3", "4"], 0),
        ("3e-7", "7.5e-6", None, 1),
        ("The answer is one of these", "1", None, 1),
        (r"\boxed{e}", "2.72", None, 1),
    ],
)
def test_known_weaknesses_stay(
    response: str, gold: str, options: list[str] | None, verdict: float
) -> None:
    assert score(make_item(response, gold, options)).verdict == verdict


def test_failures_keep_their_outcome() -> None:
    assert score(make_item("", "5")).outcome == "empty"
    assert score(make_item("I cannot see the picture.", "5")).outcome == "refused"
    assert score(make_item("Hmm.", "5")).outcome == "unparsed"
