"""Printed answers of multiple-choice problems as letters, where that is certain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.schemas.problem import Choice
from omibench.stages.ocr.structure.keys import as_letters, read_words_behind_letter

CHOICES = [
    Choice(label=label, text=text)
    for label, text in [("A", "5 m"), ("B", "a dark star"), ("C", "7 m"), ("D", "none")]
]


@pytest.mark.parametrize(
    ("answer", "letters"),
    [
        (["B"], ["B"]),
        (["b"], ["B"]),
        (["(c)"], ["C"]),
        (["a, d"], ["A", "D"]),
        (["ACD"], ["A", "C", "D"]),
        (["C) 7 m"], ["C"]),
        (["C 7 m."], ["C"]),
        (["C 8 m"], []),
        (["C) 8 m"], ["C"]),
        (["C) 5 m"], []),
        (["A dark star"], ["B"]),
        (["none"], ["D"]),
        (["E"], []),
        (["CAD"], ["CAD"]),
        (["B or D"], ["B or D"]),
        (["12"], []),
        (["F = ma holds"], []),
        (["C. Because it has three atoms."], ["C"]),
        (["b) since the others are too short"], ["B"]),
        (["D", "as above"], ["D"]),
        (["A - the law of mass"], ["A"]),
        (["C：因为光速不变"], ["C"]),
        (["C. None of the others"], []),
        (["C. 5 m, as is known"], []),
        (["A: true, B: false"], []),
        (["A: T", "B: F"], []),
        (["A) True B) False C) True"], []),
        (["A: is wrong since it falls"], []),
        (["A-B bonds break"], []),
        (["E. coli has none"], []),
        (["Because A is wrong"], []),
    ],
)
def test_answers_as_letters(answer: list[str], letters: list[str]) -> None:
    assert as_letters(answer, CHOICES) == letters


def test_an_open_answer_stays_as_it_is() -> None:
    assert as_letters(["b"], None) == ["b"]


def test_the_genus_of_a_choice_is_no_letter() -> None:
    species = zip("ABC", ["C. elegans", "E. coli", "none"], strict=True)
    named = [Choice(label=label, text=text) for label, text in species]
    assert as_letters(["C. elegans"], named) == ["A"]
    assert as_letters(["C. elegans because of its short life"], named) == []


def test_words_behind_the_letter_are_told_apart() -> None:
    assert (
        read_words_behind_letter(["C. Because it falls", "as above"], CHOICES)
        == "Because it falls; as above"
    )
    assert (
        read_words_behind_letter(["C"], CHOICES)
        == read_words_behind_letter(["C. Because it falls"], None)
        == ""
    )


@given(st.lists(st.text("ABCDEabcd.:);- mst", max_size=12), max_size=3))
def test_what_is_given_is_what_a_choice_is_called(answer: list[str]) -> None:
    given_letters = "".join(as_letters(answer, CHOICES))
    assert set("".join(given_letters).upper()) & set("ABCDE") <= set("ABCD")
    assert read_words_behind_letter(answer, CHOICES) in "; ".join(answer)


FORMULAS = [
    Choice(label=label, text=text)
    for label, text in [
        ("A", r"$\frac{1}{2}$"),
        ("B", r"$2\pi\sqrt{\frac{l}{g}}$"),
        ("C", r"$v_{0}$ of the ball"),
        ("D", r"$V_{0}$ of the ball"),
        ("E", r"$3\times 10^{8}\,\mathrm{m/s}$"),
    ]
]


@pytest.mark.parametrize(
    ("answer", "letters"),
    [
        ("0.5", ["A"]),
        (r"$\dfrac12$", ["A"]),
        (r"$-\frac{1}{2}$", []),
        (r"$2 \pi \sqrt{l/g}$", ["B"]),
        (r"B) $2\pi\sqrt{l/g}$", ["B"]),
        (r"$2\pi\sqrt{\frac{g}{l}}$", []),
        ("$v_0$ of the ball", ["C"]),
        ("$V_0$ of the ball", ["D"]),
        (r"$3\cdot10^{8}$ m/s", ["E"]),
    ],
)
def test_a_formula_of_the_key_names_the_choice_that_says_the_same(
    answer: str, letters: list[str]
) -> None:
    assert as_letters([answer], FORMULAS) == letters


def test_a_value_that_two_choices_have_names_none() -> None:
    choices = [Choice(label="A", text=r"$\frac{1}{2}$"), Choice(label="B", text=r"$0.5$")]
    assert as_letters(["50/100"], choices) == []
    assert as_letters([r"$\frac12$"], choices) == ["A"]
