"""Ways of numbering problems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.ocr.structure.numbering import read_number


@pytest.mark.parametrize(
    ("text", "value", "style", "rest"),
    [
        ("1. A ball", 1, "plain", "A ball"),
        ("12) A ball", 12, "plain", "A ball"),
        ("3、地球", 3, "plain", "地球"),
        ("6.（仅高年组）恒星", 6, "plain", "（仅高年组）恒星"),
        ("Problem 3. A ball", 3, "word", "A ball"),
        ("PROBLEM 3: A ball", 3, "word", "A ball"),
        ("Problema 4. Una bola", 4, "word", "Una bola"),
        ("Questão 17 - Uma bola", 17, "word", "Uma bola"),
        ("Aufgabe 2: Ein Ball", 2, "word", "Ein Ball"),
        ("Ej. 1: Una bola", 1, "word", "Una bola"),
        ("Theory Problem 1 A ball", 1, "word", "A ball"),
        ("Question 1 of 8: A ball", 1, "word", "A ball"),
        ("Question 1 of 8 balls", 1, "word", "of 8 balls"),
        ("问题1：地球", 1, "word", "地球"),
        ("第5题 地球", 5, "di", "地球"),
        ("第十二题 地球", 12, "di", "地球"),
        ("例3 地球", 3, "example", "地球"),
        ("Q7. A ball", 7, "letter", "A ball"),
        ("(D1.2) A ball", 1, "code", "(D1.2) A ball"),
        ("Data Analysis 2: The hole", 2, "heading", "The hole"),
    ],
)
def test_the_number_of_a_line(text: str, value: int, style: str, rest: str) -> None:
    number = read_number(text)
    assert number is not None
    assert (number.value, number.style, text[number.end :]) == (value, style, rest)


@pytest.mark.parametrize(
    "text",
    [
        "1.5 kg of water",
        "2021 was a year",
        "(1) a part",
        "(a) a part",
        "A. a choice",
        "25 QUESTIONS",
    ],
)
def test_what_is_no_number_of_a_problem(text: str) -> None:
    assert read_number(text) is None


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    number = read_number(text)
    assert number is None or (0 < number.value <= 999 and number.end <= len(text))
