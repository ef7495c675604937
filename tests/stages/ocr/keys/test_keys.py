"""Answers from tables, grids and lists."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from omibench.stages.ocr.layout.layout import Box, Line
from omibench.stages.ocr.structure.key_tables import read_key
from omibench.stages.ocr.structure.keys import parse_answer

Maker = Callable[..., Line]


def table(*rows: tuple[str, ...], step: float = 80) -> list[Line]:
    """Cells of rows, `step` points apart."""
    return [
        Line(1, Box(60 + step * c, 20.0 * r, 70 + step * c, 20.0 * r + 10), text, 10,
             baseline=20.0 * r + 8)
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
        if text
    ]  # fmt: skip


def answers(lines: list[Line], count: int = 9) -> dict[int, list[str] | None]:
    key = read_key(lines, [str(number) for number in range(1, count + 1)])
    return {number: key.get(str(number)) for number in range(1, count + 1)}


def test_a_table_of_numbers_and_answers() -> None:
    rows = [
        ("Problem", "Answer"),
        ("1", "B"),
        ("2", "0.20 A"),
        ("3", "—"),
        ("4", "(a) 5 J; (b) 7 K"),
    ]
    assert answers(table(*rows), 5) == {
        1: ["B"], 2: ["0.20 A"], 3: None, 4: ["(a) 5 J", "(b) 7 K"], 5: None,
    }  # fmt: skip


def test_an_answer_that_wraps_in_its_cell() -> None:
    rows = [("1", "a long answer that"), ("", "goes on"), ("2", "B")]
    assert answers(table(*rows), 2) == {1: ["a long answer that goes on"], 2: ["B"]}


def test_numbers_that_are_no_problems_are_ignored() -> None:
    assert answers(table(("2026", "B"), ("40", "C"), ("1", "A")), 2) == {1: ["A"], 2: None}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("B", ["B"]),
        ("(B)", ["B"]),
        ("B.", ["B"]),
        ("A, C", ["A", "C"]),
        ("A/C", ["A", "C"]),
        ("B or D", ["B or D"]),
        ("TRUE; FALSE; TRUE", ["TRUE", "FALSE", "TRUE"]),
        ("x = 1;2", ["x = 1;2"]),
        ("$(1; 2)$; $x$", ["$(1; 2)$", "$x$"]),
        ("Boron", ["Boron"]),
        ("1,5 m", ["1,5 m"]),
    ],
)
def test_parts_of_an_answer(text: str, parts: list[str]) -> None:
    assert parse_answer(text) == parts


@given(st.dictionaries(st.integers(1, 60), st.sampled_from("ABCDE"), min_size=1, max_size=60))
def test_any_table_of_letters_is_read_back(given_letters: dict[int, str]) -> None:
    lines = table(*((str(number), letter) for number, letter in given_letters.items()))
    key = read_key(lines, [str(number) for number in range(1, 61)])
    letters = {str(number): [letter] for number, letter in given_letters.items()}
    assert {number: key.get(number) for number in letters} == letters
    assert set(key.answers) == set(letters)


@example([["1a"]])
@example([["1A", "0"]])
@given(st.lists(st.lists(st.text(max_size=6), max_size=5), max_size=8))
def test_any_table_is_survived_and_nothing_is_made_up(rows: list[list[str]]) -> None:
    key = read_key(table(*map(tuple, rows)), "123456789")
    assert set(key.answers) <= set("123456789")
    printed = "".join(text for row in rows for text in row)
    printed += printed.upper()  # small letters of choices become capitals
    printed += printed.lower() + "()"  # part A of problem 1A is written as (a)
    for parts in key.answers.values():
        assert all(set(part.replace(" ", "")) <= set(printed) for part in parts)
