"""The place of a response's final letter, and where its answer begins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.extraction.extract import (
    LetterMissing,
    LetterPlace,
    find_declared_option,
    find_letter_place,
)
from omibench.schemas.problem import Choice

CHOICES = [
    Choice(label=label, text=text)
    for label, text in zip("ABCD", ("ice", "water", "steam", "fog"), strict=True)
]


@pytest.mark.parametrize(
    ("before_answer", "announcement", "after"),
    [
        ("", "", ""),
        ("", "(", ")"),
        ("", "**", "**"),
        ("", "Option ", "."),
        ("", "The answer is ", " because A and B boil at 100 °C."),
        ("Ice floats, so A is out.\n", "Answer: ", ""),
        ("Ice floats, so A is out. ", "The answer is ", "."),
        ("First look at B.\n\n", "### Final answer\n\n", ""),
        ("First look at B.\n\n", "**Answer:** **", "**"),
        ("First look at B. It melts.\n", "Thus the answer is:\n\\[\n\\boxed{\\text{", "}}\n\\]"),
        ("B is likely.\n\n", "The answer is (B).\n\n\\boxed{", "}"),
        ("<think>\nThe answer is B.\n</think>\n\nIt melts.\n", "Final answer: ", "\n"),
        ("A does not fit. C neither.\n", "Therefore, option ", " fits best."),
        ("C is too warm.\nD is too cold.\n", "", ""),
    ],
)
def test_the_letter_and_the_answer_are_found(
    before_answer: str, announcement: str, after: str
) -> None:
    text = f"{before_answer}{announcement}B{after}"
    place = find_letter_place(text, CHOICES)
    assert isinstance(place, LetterPlace)
    assert place.letter == text[place.start] == "B"
    assert text[: place.start] == before_answer + announcement
    assert text[: place.answer_start] == before_answer


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no option is declared (empty)"),
        ("It depends on many things that the picture does not show.", "no option is declared"),
        ("The answer is A and C.", "several options are declared (AC)"),
        ("The answer is water.", "option B is declared by its text, not by its letter"),
    ],
)
def test_a_response_without_a_place_says_why(text: str, reason: str) -> None:
    place = find_letter_place(text, CHOICES)
    assert isinstance(place, LetterMissing)
    assert reason in place.reason


@given(st.text(st.sampled_from("ABab .:\n*(){}\\boxedanswerthe is"), max_size=200))
def test_a_place_holds_its_letter_behind_the_start_of_the_answer(text: str) -> None:
    place = find_letter_place(text, CHOICES)
    if isinstance(place, LetterPlace):
        assert text[place.start] == place.letter
        assert 0 <= place.answer_start <= place.start


def test_a_declaration_is_a_box_or_a_cue_and_no_mention() -> None:
    assert find_declared_option("So the answer is B. Let me check.", CHOICES) == "B"
    assert find_declared_option("\\boxed{C}", CHOICES) == "C"
    assert find_declared_option("Option B is too warm.", CHOICES) is None
    assert find_declared_option("So the answer is", CHOICES) is None
