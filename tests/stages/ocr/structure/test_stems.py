"""Stems that several problems share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.structure.drafts import parse_range, split_stem, stem_numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Information for problems 3 and 4", (3, 4)),
        ("Problems 3-5 refer to the circuit below.", (3, 4, 5)),
        ("Questions 3–5", (3, 4, 5)),
        ("The following information is relevant to problems 3, 4, and 5.", (3, 4, 5)),
        ("The following information applies for the next two problems. A wheel", (3, 4)),
        ("Use the following data to answer questions 3 to 6:", (3, 4, 5, 6)),
        ("Información para los problemas 3 y 4", (3, 4)),
        ("Texto para as questões 3 a 5", (3, 4, 5)),
        ("Angaben zu den Aufgaben 3 und 4", (3, 4)),
        ("根据以下材料，回答第3至5题", (3, 4, 5)),
    ],
)
def test_a_stem_names_its_problems(text: str, numbers: tuple[int, ...]) -> None:
    assert stem_numbers(text, "", 3)[0] == numbers


@pytest.mark.parametrize(
    "text",
    [
        "Compare your results for problems 1 and 2.",
        "The data of problems 4 and 5 come later.",
        "Neglect friction throughout the next two problems.",
        "Problem 3. A ball",
        "Figure 3 and Figure 4 show a ball.",
    ],
)
def test_what_is_no_stem_for_the_third_problem(text: str) -> None:
    assert stem_numbers(text, "", 3)[0] == ()


def test_a_heading_is_dropped_and_a_sentence_kept(column: Callable[..., list[Line]]) -> None:
    before, stem = split_stem(column("2. B", "Information for problems 3 and 4", "A rod."), 3)
    assert [i.text for i in before if isinstance(i, Line)] == ["2. B"]
    assert stem is not None
    assert (stem.name, [i.text for i in stem.items if isinstance(i, Line)]) == ("3-4", ["A rod."])
    _, stem = split_stem(column("2. B", "Problems 3-5 refer to a rod."), 3)
    assert stem is not None
    assert [i.text for i in stem.items if isinstance(i, Line)] == ["Problems 3-5 refer to a rod."]


def test_the_range_may_run_into_the_next_line(column: Callable[..., list[Line]]) -> None:
    _, stem = split_stem(column("The following is relevant to problems 3,", "4, and 5. A rod."), 3)
    assert stem is not None
    assert stem.numbers == (3, 4, 5)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("21 a 23", (21, 22, 23)),
        ("5-3", ()),
        ("1-99", ()),
        ("4 und 4", ()),
        ("7, 8 y 9", (7, 8, 9)),
    ],
)
def test_ranges(text: str, numbers: tuple[int, ...]) -> None:
    assert parse_range(text) == numbers


@given(st.text(alphabet="0123456789 ,-–and", max_size=40), st.integers(1, 30))
def test_any_range_is_rising_or_empty(text: str, following: int) -> None:
    numbers = parse_range(text)
    assert list(numbers) == sorted(set(numbers))
    found, end = stem_numbers(f"Information for problems {text}", "", following)
    assert not found or (found[0] == following and end > 0)
