"""Worked solutions: the answer they state and the part that is explanation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.structure.segment import ProblemBlock
from omibench.stages.ocr.structure.solutions import (
    PrintedQuestion,
    read_heading_answers,
    read_solutions,
)

Column = Callable[..., list[Line]]
ASKED = {
    "1": PrintedQuestion(
        "A ball rolls down a smooth slope of thirty degrees. How fast is it?", "(A) 1 (B) 2"
    ),
    "2": PrintedQuestion(
        "A rod hangs from two threads. Which one is cut first?", "(A) left (B) right"
    ),
}


@pytest.mark.parametrize(
    ("last", "answer"),
    [
        ("It moves. Answer: 5 m/s", ["5 m/s"]),
        ("It moves. Answer: B", ["B"]),
        ("Respuesta: (a) 1 J; (b) 2 K", ["(a) 1 J", "(b) 2 K"]),
        ("答案：C", ["C"]),
        ("The answer is not simple.", None),
    ],
)
def test_the_stated_answer(column: Column, last: str, answer: list[str] | None) -> None:
    lines = column(
        "1. A ball rolls down a smooth …", "Energy is kept.", last, "2. A rod hangs", "No."
    )
    key, _ = read_solutions(lines, ASKED, frozenset())
    assert key.get("1") == answer
    assert key.get("2") is None


def test_the_repeated_question_is_no_part_of_the_explanation(column: Column) -> None:
    lines = column(
        "1. A ball rolls down a smooth slope of thirty",
        "degrees. How fast is it?",
        "Energy is kept, so it goes at 5 m/s.",
        "2. A rod hangs from two threads. Which one is cut first?",
        "Solution: Neither of them.",
    )
    _, texts = read_solutions(lines, ASKED, frozenset())
    assert texts == {"1": "Energy is kept, so it goes at 5 m/s.", "2": "Neither of them."}


def test_marks_items_and_letters_in_blanks(column: Column) -> None:
    marked = column("1. A ball", "(A) 1", "(B) 2 ←CORRECT", "(C) 3", "2. Item a) because")
    key, _ = read_solutions(marked, ASKED, frozenset())
    assert (key.get("1"), key.get("2")) == (["B"], ["A"])
    repeated = "1. A ball rolls down a smooth slope of thirty degrees. How fast is it? ( B )"
    blank = column(repeated, "2. A rod hangs.")
    key, texts = read_solutions(blank, ASKED, frozenset())
    assert (key.get("1"), key.get("2"), texts) == (["B"], None, {})


def test_two_letters_in_blanks_are_no_answer(column: Column) -> None:
    key, _ = read_solutions(column("1. A ball A or B? ( B )", "2. A rod"), ASKED, frozenset())
    assert key.get("1") is None


@pytest.mark.parametrize("words", ["With $pV=C$ it is 5 m/s.", "From A it goes at 5 m/s."])
def test_a_letter_of_an_explanation_is_no_answer(column: Column, words: str) -> None:
    lines = column("1. A ball rolls down a smooth slope of thirty degrees.", words, "2. A rod")
    key, texts = read_solutions(lines, ASKED, frozenset())
    assert key.get("1") is None
    assert texts["1"] == words
    key, _ = read_solutions(column(f"1. {words}", "2. A rod"), ASKED, frozenset())
    assert key.get("1") is None


def test_a_paper_is_a_list_of_solutions_when_most_blocks_say_so(column: Column) -> None:
    heads = ["1) E", "2) ANULADA", "3) Item b) because", "4) words"]
    blocks = [ProblemBlock(str(k + 1), [line], end=3) for k, line in enumerate(column(*heads))]
    key = read_heading_answers(blocks)
    assert (key.get("1"), key.get("2"), key.get("3"), key.cancelled) == (["E"], None, ["B"], {"2"})
    assert len(read_heading_answers([blocks[0], *([blocks[3]] * 3)])) == 0


@pytest.mark.parametrize(
    ("heads", "answers"),
    [
        (["1) E Embora haja", "2) A – todos", "3) (C) because", "4) B. It is"], "EACB"),
        (["1) A ball falls", "2) A rod hangs", "3) A car", "4) How far"], ""),
        (["1) A ball falls", "2) B is a point", "3) A car", "4) A stone"], ""),
        (["1) A", "2) B", "3) C because", "4) Why"], "ABC"),
    ],
)
def test_letters_before_words_are_answers_when_they_differ(
    column: Column, heads: list[str], answers: str
) -> None:
    key = read_heading_answers(
        [ProblemBlock(str(k + 1), [line], end=3) for k, line in enumerate(column(*heads))]
    )
    assert [key.get(str(k + 1)) for k in range(len(key))] == [[letter] for letter in answers]


def test_choices_that_follow_a_stem_are_no_answers(column: Column) -> None:
    blocks = [
        ProblemBlock(str(k), [*column(f"{k}) (A) one", "(B) two", "(C) three")], end=3)
        for k in (1, 2, 3)
    ]
    assert len(read_heading_answers(blocks)) == 0
