"""Normal forms: one for each answer, however it is written, and never one for two."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.items import choices_of

from omibench.answers.compare import normalise_answer

CHOICES = choices_of(["red", "blue", "2 mol"])


def normalise(text: str) -> str:
    return normalise_answer(text, "open")


@pytest.mark.parametrize(
    "answers",
    [
        ("1/2", "0.50", r"$\frac{1}{2}$", ".5", "½"),
        ("50 cm", "0.5 m", r"50\,\mathrm{cm}", "0.50 metres"),
        ("1,234", "1234", "1.234e3", r"1.234 \times 10^{3}"),
        (r"12+2\sqrt{3}", "12 + 2√3", r"$ 12 + 2 \sqrt 3 $"),
        ("TRUE, FALSE", "True,false"),
        ("Increases", "increases."),
    ],
)
def test_answers_in_another_dress_are_one(answers: tuple[str, ...]) -> None:
    assert len({normalise(answer) for answer in answers}) == 1


@pytest.mark.parametrize(
    "answers",
    [
        ("x=1.5", "x=1.6"), ("TRUE,TRUE", "TRUE,FALSE"), ("0.5", "0.5 m", "0.5 s", "50 %"),
        ("R", "r"), ("CO", "Co"), ("a+b", "a-b"), ("1, 2", "2, 1"), ("-3", "3"), ("3", "3 ± 0.1"),
        ("12345678901234567", "12345678901234568"), ("$ $", "?"),
    ],
)  # fmt: skip
def test_different_answers_stay_different(answers: tuple[str, ...]) -> None:
    assert len({normalise(answer) for answer in answers}) == len(answers)


def test_long_answers_are_compared_to_their_end() -> None:
    long = "0123456789 " * 1000
    assert normalise(f"{long} a") == normalise(f"{long}\na") != normalise(f"{long} b")


@pytest.mark.parametrize("text", ["B", "(B)", r"\text{B}", "b", "B: blue", "blue", "**B**"])
def test_a_choice_is_its_label(text: str) -> None:
    assert normalise_answer(text, "mcq", CHOICES) == "B"


def test_several_choices_are_a_set_and_what_names_none_is_text() -> None:
    assert normalise_answer("C, A", "mcq", CHOICES) == normalise_answer("AC", "mcq", CHOICES)
    assert normalise_answer("green", "mcq", CHOICES) == "green"


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_two_numbers_are_one_answer_exactly_where_they_are_equal(a: int, b: int) -> None:
    plain, dressed = f"{a / 1000:.3f} kg", rf"${b / 1000:g}\ \text{{kg}}$"
    same = Fraction(plain.split(maxsplit=1)[0]) == Fraction(f"{b / 1000:g}")
    assert (normalise(plain) == normalise(dressed)) is same


@given(st.text(max_size=60), st.sampled_from(["open", "mcq"]))
def test_any_text_has_a_normal_form_and_only_nothing_is_empty(text: str, kind: str) -> None:
    assume(text)
    assert normalise_answer(text, kind, CHOICES)  # type: ignore[arg-type]
