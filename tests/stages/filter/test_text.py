"""Statements without pictures, words counted, and a form in which copies are equal."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import example, given
from hypothesis import strategies as st

from omibench.schemas.problem import Choice, Problem
from omibench.stages.filter.candidate import comparison_text, normalise, statement_text

Make = Callable[..., Problem]


@example("IMAGE,0")
@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(alphabet="abcdefgh XYZ\n", max_size=60))
def test_case_and_spacing_do_not_count(text: str) -> None:
    assert normalise(text.upper()) == normalise("  " + text.replace(" ", " \n ") + " ")


def test_signs_and_digits_count() -> None:
    assert normalise("x + 1") != normalise("x - 1")
    assert normalise("1.5 cm") != normalise("15 cm")
    assert normalise("x − 1.") == normalise("x - 1")


def test_numbers_of_figures_do_not_count() -> None:
    assert normalise("Figures 1 and 2 show") == normalise("FIGURES 11 and 12, show")
    assert normalise("a cart of 2 kg") != normalise("a cart of 3 kg")


def test_statement_without_marks_and_captions(make: Make) -> None:
    question = (
        "See Figures 1 and 2.\n[IMAGE0]\nFigure 1: The\nspeed.\n[IMAGE1]\nFigure 2: The r0ad.\nEnd."
    )
    text = statement_text(make(question=question))
    assert text.split() == ["See", "Figures", "1", "and", "2.", "End."]


def test_choices_are_compared(make: Make) -> None:
    choices = [Choice(label="A", text="1 m"), Choice(label="B", text="2 m")]
    other = [Choice(label="A", text="1 m"), Choice(label="B", text="3 m")]
    one, two = make(choices=choices), make(choices=other)
    assert comparison_text(one) != comparison_text(two)
    assert comparison_text(one) == comparison_text(make(choices=choices))


def test_formulas_count_in_their_normal_form() -> None:
    assert normalise(r"Let $\dfrac12 x^2$ be.") == normalise(r"let \(\frac{1}{2}x^{2}\) be")
    assert normalise(r"$x_1 = \frac{a}{b}$") != normalise(r"$x_1 = \frac{b}{a}$")
    assert normalise("$x^{2}$") != normalise("$x^{3}$")
