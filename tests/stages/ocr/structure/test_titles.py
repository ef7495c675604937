"""Titles of sections, of answers, and the end of a paper."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.structure.numbering import (
    is_end,
    opens_section,
    section_name,
    split_answers,
    without_titles,
)

Maker = Callable[..., Line]
Column = Callable[..., list[Line]]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Section B", "B"),
        ("PART II: Theory", "II"),
        ("Seção 2 - Química", "2"),
        ("Teil A", "A"),
        ("二、填空题", "二"),
        ("III. Short answer", "III"),
        ("Multiple choice", ""),
    ],
)
def test_the_name_that_a_title_gives(line: Maker, text: str, name: str) -> None:
    assert section_name(text) == name
    assert opens_section(line(text, bold=True), 10)


@pytest.mark.parametrize(
    "text", ["Instructions", "Constants", "1. A ball", "Answers", "A ball rolls down a slope."]
)
def test_what_is_bold_and_no_title_of_problems(line: Maker, text: str) -> None:
    assert not opens_section(line(text, bold=True), 10)


@pytest.mark.parametrize("text", ["END OF PAPER", "— The End —", "全卷完", "Fin del examen"])
def test_a_paper_ends_where_it_says_so(line: Maker, text: str) -> None:
    assert is_end(line(text))
    assert not is_end(line("The end of the rod is fixed"))


@pytest.mark.parametrize(
    "title",
    ["Answer Key", "Marking Scheme", "参 考 答 案", "参考答案与评分标准", "Gabarito oficial",
     "Clave de respuestas", "Answers and solutions", "Correct answers", "Plantilla de respuestas",
     "Respuestas correctas", "Risposte corrette", "Richtige Antworten", "Grille des réponses"],
)  # fmt: skip
def test_an_answer_section_in_the_type_of_the_body(column: Column, title: str) -> None:
    lines = column("1. A ball", "2. A rod", "3. A car", title, "1. B", "2. C", "3. A")
    front, back = split_answers(lines, 10)
    assert (len(front), len(back)) == (3, 3)


@pytest.mark.parametrize("title", ["Resultat", "What was right", "正しいもの"])
def test_a_section_of_numbered_letters_is_a_key_under_any_title(column: Column, title: str) -> None:
    asked = ["1. A ball falls.", "2. A rod turns.", "3. A car stops.", "4. A gas expands."]
    keys = ["1. B", "2) C", "3. (A)", "page 2"]
    front, back = split_answers(column(*asked, title, *keys), 10)
    assert [i.text for i in front if isinstance(i, Line)] == asked
    assert [i.text for i in back if isinstance(i, Line)] == keys


@pytest.mark.parametrize("last", ["D. 4 m/s", "4 m/s", "Which way does it go?", "D) up"])
def test_a_key_without_a_title_takes_no_line_of_the_last_problem(column: Column, last: str) -> None:
    asked = ["1. A ball falls.", "2. A rod turns.", "3. A car stops.", last]
    front, back = split_answers(column(*asked, "1. B", "2. C", "3. A"), 10)
    assert [i.text for i in front if isinstance(i, Line)] == asked
    assert len(back) == 3


@pytest.mark.parametrize(
    "tail",
    [
        ["4. B", "5. C", "6. A"],
        ["1. B", "2. C"],
        ["1. Ball", "2. C", "3. A"],
        ["1. B", "2. C", "3. A", "Which of them is right, and what would a longer text say here?"],
    ],
)
def test_what_goes_on_or_says_more_is_no_key(column: Column, tail: list[str]) -> None:
    asked = ["1. A ball falls.", "2. A rod turns.", "3. A car stops."]
    assert split_answers(column(*asked, "Resultat", *tail), 10)[1] == []


def test_the_solution_below_each_problem_is_no_section(column: Column, line: Maker) -> None:
    lines = column("1. A", "Solution", "so", "2. B", "Solution", "so", "3. C", "Solution", "so")
    bold = [line(i.text, y=i.baseline, bold=i.text == "Solution") for i in lines]
    assert split_answers(bold, 10)[1] == []


def test_the_head_of_a_column_is_no_section(line: Maker) -> None:
    rows = [line("1. A", y=100), line("2. B", y=112), line("Answers", y=124)]
    beside = line("Points", x=200, y=124, starts=False)
    assert split_answers([*rows, beside, line("1. C", y=136)], 10)[1] == []


def test_what_introduces_the_next_section_is_no_part_of_the_problem(
    column: Column, line: Maker
) -> None:
    asked = column("2. A ball", "How fast?")
    title = line("Section B", y=200, bold=True)
    said = line("Each is worth four points.", y=212)
    assert without_titles([*asked, title, said], 10, restarts=True) == (asked, [title, said])
    assert without_titles([*asked, title, said], 10, restarts=False) == (asked, [title])


def test_a_part_of_a_problem_keeps_what_it_asks(column: Column, line: Maker) -> None:
    asked = column("2. A ball")
    part = line("Part B", y=200, bold=True)
    task = line("Determine its speed.", y=212)
    assert without_titles([*asked, part, task], 10, restarts=False) == ([*asked, task], [part])
