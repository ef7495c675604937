"""Which answers of a key are definite."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.schemas.problem import Choice
from omibench.stages.filter.reasons.computed import (
    ambiguous_options,
    ambiguous_text,
    asks_for_several,
    option_letters,
)

CHOICES = [Choice(label=label, text=f"{i} cm") for i, label in enumerate("ABCDE", 1)]
letters = st.lists(st.sampled_from("ABCDE"), min_size=1, max_size=4, unique=True)


@given(
    letters,
    st.sampled_from([" or ", ", ", "/", " and ", "; ", "", " "]),
    st.sampled_from(["{}", "({})", "{}.", "{})"]),
)
def test_letters_come_back_however_they_are_joined(
    chosen: list[str], joint: str, form: str
) -> None:
    assert option_letters(joint.join(form.format(letter) for letter in chosen)) == chosen


@given(letters)
def test_more_than_one_letter_is_ambiguous_in_either_form(chosen: list[str]) -> None:
    joined, listed = [" or ".join(chosen)], chosen
    for answer in (joined, listed):
        evidence = ambiguous_options(answer, CHOICES, "Which is the longest?")
        assert (evidence is None) == (len(chosen) == 1)
        assert ambiguous_options(answer, CHOICES, "Select all that apply.") is None


@given(st.text())
def test_any_text_can_be_parsed(text: str) -> None:
    found = option_letters(text)
    assert found is None or all(len(letter) == 1 and letter.isupper() for letter in found)
    ambiguous_text(text, "es")


@pytest.mark.parametrize("answer", [["F"], ["B", "F"], ["none"], ["7 cm"], ["?"]])
def test_an_answer_must_be_among_the_choices(answer: list[str]) -> None:
    assert ambiguous_options(answer, CHOICES, "Which is the longest?")


def test_an_answer_may_be_the_text_of_a_choice_or_one_truth_value_each() -> None:
    assert ambiguous_options(["3 cm"], CHOICES, "Which?") is None
    assert ambiguous_options(["TRUE", "FALSE"], CHOICES[:2], "Judge each statement.") is None


@pytest.mark.parametrize(
    ("answer", "language"),
    [
        ("3 m or 5 m", "en"), ("3 m o 5 m", "es"), ("3 m oder 5 m", "de"), ("3 m ou 5 m", "fr"),
        ("3 m或5 m", "zh"), ("12 m?", "en"), ("see solution", "en"), ("siehe Lösung", "de"),
        ("12 m (see page 4)", "en"), ("cancelled", "en"), ("ANULADA", "pt"), ("n/a", "en"),
        ("answers may vary", "en"), ("略", "zh"), ("either the frog or the newt", "en"),
    ],
)  # fmt: skip
def test_ambiguous_text(answer: str, language: str) -> None:
    assert ambiguous_text(answer, language)


@pytest.mark.parametrize(
    ("answer", "language"),
    [
        ("12 m", "en"), ("x = 1 or x = 2", "en"), ("o", "en"), ("TRUE", "en"), ("CF_4", "en"),
        ("$\\frac{a}{b}$", "en"), ("the cells oversee growth", "en"), ("3 o 5", "en"),
        ("The species dies out because no prey or refuge is left on either island", "en"),
        ("The current varies as a sine", "en"), ("ferroelectric", "en"), ("le vide", "fr"),
    ],
)  # fmt: skip
def test_definite_text(answer: str, language: str) -> None:
    assert ambiguous_text(answer, language) is None


def test_a_solution_set_is_of_one_variable() -> None:
    assert ambiguous_text("x = 1 or y = 2", "en")


@pytest.mark.parametrize(
    "statement",
    [
        "Choose all the options that apply.", "Which of these are true? Mark all that are.",
        "Select two of the statements.", "One or more answers may be right.",
        "Marque todas las afirmaciones que sean correctas.", "不定项选择",
    ],
)  # fmt: skip
def test_asks_for_several(statement: str) -> None:
    assert asks_for_several(statement)


@pytest.mark.parametrize("statement", ["Which graph fits?", "Find all forces on the cart."])
def test_asks_for_one(statement: str) -> None:
    assert not asks_for_several(statement)
