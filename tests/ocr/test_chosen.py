"""Printed answers of multiple-choice problems as letters, where that is certain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.ocr.chosen import as_letters
from omibench.problem import Choice

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
        (["C 8 m"], ["C 8 m"]),
        (["A dark star"], ["B"]),
        (["none"], ["D"]),
        (["E"], ["E"]),
        (["CAD"], ["CAD"]),
        (["12"], ["12"]),
    ],
)
def test_answers_as_letters(answer: list[str], letters: list[str]) -> None:
    assert as_letters(answer, CHOICES) == letters


def test_an_open_answer_stays_as_it_is() -> None:
    assert as_letters(["b"], None) == ["b"]


@given(st.lists(st.text(max_size=8), max_size=3))
def test_nothing_is_lost(answer: list[str]) -> None:
    assert len(as_letters(answer, CHOICES)) >= len(answer)
