"""Answers inside the paper itself: they become answer and solution and are never asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.params.stages.filter import FilterParams
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.filter.candidate import Candidate, Case, KeptProblems
from omibench.stages.filter.reasons.computed import statement_incomplete
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.layout.layout import Box, Item, Line, Picture
from omibench.stages.ocr.structure.solutions import split_inline

Column = Callable[..., list[Line]]


def texts(items: list[Item]) -> list[str]:
    return [item.text for item in items if isinstance(item, Line)]


@pytest.mark.parametrize(
    ("lines", "statement", "solution", "answer"),
    [
        (["How fast?", "Solution: Energy is kept."], ["How fast?"], ["Energy is kept."], []),
        (["How fast?", "Solución:", "Así."], ["How fast?"], ["Así."], []),
        (["多快？", "【解析】能量守恒。"], ["多快？"], ["能量守恒。"], []),
        (["多快？ 答案：B"], ["多快？"], ["答案：B"], ["B"]),
        (
            ["多快？", "【答案】14 m/s。", "【解析】能量守恒。"],
            ["多快？"],
            ["能量守恒。"],
            ["14 m/s"],
        ),
        (["多快？", "【答案】14 【解析】守恒。"], ["多快？"], ["守恒。"], ["14"]),
        (["多快？", "【答案】B"], ["多快？"], [], ["B"]),
        (
            ["多快？", "【答案】见上图", "【解析】守恒。"],
            ["多快？"],
            ["见上图", "【解析】守恒。"],
            [],
        ),
        (["How fast? Answer: 5 m/s"], ["How fast?"], ["Answer: 5 m/s"], ["5 m/s"]),
        (["How fast?", "Final answer: (B) 5 m/s"], ["How fast?"], None, ["B"]),
        (["Which?", "Answer: A, C"], ["Which?"], None, ["A, C"]),
        (["Which?", "The answer is D because"], ["Which?"], None, []),
        (["How fast?", "Answer: m/s"], ["How fast?"], ["Answer: m/s"], []),
        (["How fast?", "Answer: ____ m/s"], None, [], []),
        (["How fast?", "Answer: ...... m/s"], None, [], []),
        (["How fast?", "Answer:"], None, [], []),
        (["Give your answer: three digits."], None, [], []),
        (["Choose one.", "Answer: (A) 1 (B) 2 (C) 3"], None, [], []),
        (["It is a solution: salt in water."], None, [], []),
        (["Solution A holds salt. What does it weigh?"], None, [], []),
        (["Find it.", "Solution: x = 3. Answer: 3"], ["Find it."], ["x = 3. Answer: 3"], ["3"]),
    ],
)
def test_the_statement_ends_where_the_answer_begins(
    column: Column,
    lines: list[str],
    statement: list[str] | None,
    solution: list[str] | None,
    answer: list[str],
) -> None:
    parts = split_inline(column(*lines))
    assert texts(parts.statement) == (lines if statement is None else statement)
    if solution is not None:
        assert texts(parts.solution) == solution
    assert parts.answer == answer


def test_a_bold_heading_ends_the_statement_and_a_cell_of_a_table_does_not(
    line: Callable[..., Line],
) -> None:
    asked, told = line("How fast?", y=100), line("Energy is kept.", y=140)
    heading = line("Solution", y=120, bold=True)
    assert texts(split_inline([asked, heading, told]).statement) == ["How fast?"]
    cell = line("pH", x=200, y=120, bold=True)
    assert split_inline([asked, heading, cell, told]).solution == []


def test_figures_go_with_the_part_that_they_belong_to(line: Callable[..., Line]) -> None:
    frame = Picture(1, Box(50, 110, 400, 300))
    named, drawn = Picture(1, Box(50, 310, 90, 350), number="2"), Picture(1, Box(50, 360, 90, 400))
    asked = line("What does Figure 2 show?", y=100)
    mark = line("Solution: Look at it.", y=130)
    parts = split_inline([asked, frame, mark, named, drawn])
    assert parts.statement == [asked, named]
    assert [item for item in parts.solution if isinstance(item, Picture)] == [frame, drawn]


@given(st.lists(st.text("aA B:.答案：解_1Solution(Answer", max_size=30), min_size=1, max_size=5))
def test_no_character_is_lost_but_the_mark(lines: list[str]) -> None:
    box = Box(60, 92, 160, 102)
    items = [Line(1, box, text, 10.0, baseline=100.0 + 12 * k) for k, text in enumerate(lines)]
    parts = split_inline(items)
    kept = "".join(texts([*parts.statement, *parts.solution]))
    if not parts.solution:
        assert texts(parts.statement) == lines
    letters = "".join("".join(lines).split())
    assert len("".join(kept.split())) >= len(letters) - len("Solutions:") - 4


def solutions_paper(path: Path) -> Path:
    pdf = pymupdf.open()
    page = pdf.new_page()
    heads = ["1) C", "2) Item b) Both of them have", "3) VOID", "4) A"]
    for k, head in enumerate(heads):
        page.insert_text((72, 100 + 120 * k), head)
        page.insert_text((72, 114 + 120 * k), f"wings and legs of kind {k}, as every beetle has.")
    page.draw_circle((150, 270), 20)
    pdf.save(path)
    return path


def booklet(path: Path) -> Path:
    pdf = pymupdf.open()
    page = pdf.new_page()
    for k, right in enumerate("BC"):
        lines = [
            f"{k + 1}. How many legs has the insect of the figure below?",
            "(A) four",
            f"(B) six{' <- CORRECT' if right == 'B' else ''}",
            f"(C) eight{' <- CORRECT' if right == 'C' else ''}",
            "Solution: Count them as drawn.",
        ]
        for row, text in enumerate(lines):
            page.insert_text((72, 80 + 360 * k + 16 * row), text)
        page.draw_circle((150, 240 + 360 * k), 50)
    pdf.save(path)
    return path


def test_a_list_of_solutions_asks_nothing_and_the_filter_rejects_it(tmp_path: Path) -> None:
    read_papers([solutions_paper(tmp_path / "key.pdf")], tmp_path, OcrParams(dpi=72))
    problems = read_jsonl(tmp_path / "problems.jsonl", Problem)
    assert [p.answer for p in problems] == [["C"], ["B"], None, ["A"]]
    assert [p.question for p in problems] == [""] * 4
    assert problems[1].solution is not None
    assert problems[1].solution.startswith("Item b) Both of them have wings")
    assert [list(map(str, p.warnings)) for p in problems] == [[], [], ["answer_cancelled"], []]
    for problem in problems:
        case = Case(Candidate(problem, tmp_path), KeptProblems(), FilterParams(min_words=1))
        assert statement_incomplete(case)


def test_a_booklet_of_solutions_asks_its_questions_only(tmp_path: Path) -> None:
    read_papers([booklet(tmp_path / "solved.pdf")], tmp_path, OcrParams(dpi=72))
    problems = read_jsonl(tmp_path / "problems.jsonl", Problem)
    assert [p.answer for p in problems] == [["B"], ["C"]]
    for problem in problems:
        assert problem.question == "How many legs has the insect of the figure below?"
        assert [c.text for c in problem.choices or []] == ["four", "six", "eight"]
        assert problem.solution == "Count them as drawn."
        assert problem.images == []


def test_an_arrow_at_one_of_two_choices_is_not_shown(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    page = pdf.new_page()
    for k, text in enumerate(["1. Is it so?", "(A) yes <- CORRECT", "(B) no", "2. Why is it so?"]):
        page.insert_text((72, 100 + 16 * k), text)
    pdf.save(tmp_path / "two.pdf")
    read_papers([tmp_path / "two.pdf"], tmp_path, OcrParams(dpi=72))
    assert "CORRECT" not in (tmp_path / "problems.jsonl").read_text("utf-8")
