"""Answers in keys, solutions, tables and printed in the paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.stages.ocr.printed import Press

from omibench.params.stages.filter import FilterParams
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Choice, Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.filter.candidate import Candidate, Case, KeptProblems
from omibench.stages.filter.reasons.computed import statement_incomplete
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.layout.layout import Box, Item, Line, Picture
from omibench.stages.ocr.structure.key_tables import read_key
from omibench.stages.ocr.structure.keys import (
    Names,
    as_letters,
    parse_answer,
    read_words_behind_letter,
)
from omibench.stages.ocr.structure.segment import ProblemBlock
from omibench.stages.ocr.structure.solutions import (
    PrintedQuestion,
    empty_blanks,
    read_conclusion,
    read_heading_answers,
    read_solutions,
    split_inline,
)

# Answers from tables, grids and lists.

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


# Answers inside the paper itself: they become answer and solution and are never asked.

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


# Printed answers of multiple-choice problems as letters, where that is certain.

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


# Worked solutions: the answer they state and the part that is explanation.

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


# Letters printed into the blanks of multiple-choice problems are taken out, others are not.

LETTERS = "ABCD"


def read(column: Column, *statements: tuple[str, ...]) -> list[tuple[str, str | None]]:
    problems: list[tuple[list[Item], str]] = [([*column(*lines)], LETTERS) for lines in statements]
    return [
        ("".join(i.text for i in items if isinstance(i, Line)), letter)
        for items, letter in empty_blanks(problems)
    ]


def test_letters_in_brackets_blanks_and_across_lines_are_taken_out(column: Column) -> None:
    found = read(
        column,
        ("哪一颗行星最近？（ B ）",),
        ("那么当前时刻为 C", "．"),
        ("每个像素的视场为 A 角秒．",),
        ("What is the nearest planet? ( D )",),
    )
    assert found == [
        ("哪一颗行星最近？（）", "B"),
        ("那么当前时刻为．", "C"),
        ("每个像素的视场为角秒．", "A"),
        ("What is the nearest planet? ()", "D"),
    ]


def test_letters_that_name_things_stay(column: Column) -> None:
    found = read(
        column,
        ("物体 A 与物体 B 相碰．",),
        ("A ball falls on (B) and stops. Why?",),
        ("从点 A 出发的小球落在何处？",),
        ("Which of them is vitamin C?",),
    )
    assert [letter for _, letter in found] == [None] * 4
    assert found[0][0] == "物体 A 与物体 B 相碰．"


def test_one_filled_blank_among_many_is_no_key(column: Column) -> None:
    found = read(column, ("哪一颗？（ B ）",), ("为何？（）",), ("何时？（）",), ("何处？（ C ）",))
    assert [letter for _, letter in found] == ["B", None, None, "C"]
    found = read(column, ("哪一颗？（ B ）",), ("为何？（）",), ("何时？（）",))
    assert [letter for _, letter in found] == [None, None, None]


def test_a_letter_that_is_no_choice_is_no_answer(column: Column) -> None:
    found = read(column, ("哪一颗？（ H ）",), ("为何？（ H ）",))
    assert [letter for _, letter in found] == [None, None]


# The letter with which a worked solution concludes; none where it is not certain.


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Energy is kept. Hence the correct answer is (B).", ["B"]),
        ("So the answer is option C.", ["C"]),
        ("Therefore option (d) is correct.", ["D"]),
        ("Thus, (A) is the correct choice.", ["A"]),
        ("由能量守恒可知，故选C．", ["C"]),
        ("综上，故选：AC。", ["A", "C"]),
        ("所以答案为 B。", ["B"]),
        ("Portanto, a alternativa correta é a letra D.", ["D"]),
        ("La respuesta correcta es la opción B.", ["B"]),
        (r"It follows that \boxed{E}", ["E"]),
        ("Option A is not correct. Option B is correct.", ["B"]),
        ("Option A is correct. But the answer is (B).", []),
        ("Point A is right of B.", []),
        ("We can rule out option A. It is too large.", []),
        ("A ball is correct.", []),
        ("The answer is a number.", []),
        ("The acceleration is right.", []),
        ("答案不是 C。", []),
        ("", []),
    ],
)
def test_what_a_solution_concludes(text: str, letters: list[str]) -> None:
    assert read_conclusion(text) == letters


@given(st.text("AB answeriscorct().选故答案:\\boxed{}", max_size=60))
def test_no_letter_is_made_up(text: str) -> None:
    assert set(read_conclusion(text)) <= set(text.upper())


# Keys that are lists of numbers and formulas.

LABELS = ("1", "2", "3")


def read_values(lines: list[Line]) -> dict[str, list[str] | None]:
    key = read_key(lines, LABELS)
    return {label: key.get(label) for label in LABELS}


def test_formulas_values_and_letters_after_a_title(column: Column) -> None:
    formula = r"$h=\frac{gd^{2}}{2v_{0}^{2}}$"
    lines = column("Physics 2026: answers", f"1. {formula}", "2) 3.27 m/s", "(3) B")
    assert read_values(lines) == {"1": [formula], "2": ["3.27 m/s"], "3": ["B"]}


def test_parts_of_a_problem_are_kept_apart(column: Column) -> None:
    lines = column("1a) $5$ J", "1b) $7$ J", "2. $x^{2}$")
    assert read_values(lines) == {"1": ["(a) $5$ J", "(b) $7$ J"], "2": ["$x^{2}$"], "3": None}


def test_the_key_of_a_problem_that_was_not_read_is_left_out(column: Column) -> None:
    assert read_values(column("1. $x=2$", "4. $x=3$")) == {"1": ["$x=2$"], "2": None, "3": None}


@pytest.mark.parametrize(
    "lines",
    [
        ("1. $x=2$", "because it falls freely", "2. $x=3$"),
        ("1. The ball moves with 5 m/s along the road.", "2. $x=3$", "3. $x$"),
        ("1. $x=2$", "1. $x=3$"),
        ("1. $x=2$",),
        ("1. yes", "2. no"),
        ("1. 3 marks", "2. 5 marks", "3. 2.5 points"),
    ],
)
def test_other_lines_make_it_no_list_of_values(column: Column, lines: tuple[str, ...]) -> None:
    assert set(read_values(column(*lines)).values()) == {None}


# Keys of papers with sections, of sub-questions, in runs and in tables of many columns.


def read_table(labels: list[str], *rows: str) -> dict[str, list[str] | None]:
    press = Press()
    for row in rows:
        press.set(*((72 + 90.0 * k, cell) for k, cell in enumerate(row.split("|"))))
    key = read_key(press.flow(), labels)
    return {label: answer for label in labels if (answer := key.get(label))}


@pytest.mark.parametrize(
    ("text", "label"),
    [("B2", "B2"), ("b 2", None), ("(B2)", "B2"), ("3.", "A3"), ("2", None), ("Q3", "A3"),
     ("第3题", "A3"), ("C1", None), ("A02", "A2")],
)  # fmt: skip
def test_which_problem_a_printed_number_means(text: str, label: str | None) -> None:
    entry = Names(["A1", "A2", "A3", "B1", "B2"]).find(text)
    assert (entry.label if entry else None) == label


def test_runs_of_letters() -> None:
    labels = [str(n) for n in range(1, 13)]
    found = read_table(labels, "1-5 ABCDA  6～8：B C D", "9—10. AC BD")
    assert "".join((found[n][0] if n in found else "?") for n in labels[:8]) == "ABCDABCD"
    assert (found["9"], found["10"]) == (["A", "C"], ["B", "D"])
    assert read_table(labels, "1-5 ABC") == {}


def test_sections_of_a_key_by_their_titles_or_by_letters_in_the_numbers() -> None:
    labels = ["A1", "A2", "B1", "B2"]
    spoken = read_table(labels, "Section A", "1. C", "2. D", "Section B", "1. A", "2. B")
    assert spoken == {"A1": ["C"], "A2": ["D"], "B1": ["A"], "B2": ["B"]}
    assert read_table(labels, "A1|C", "A2|D", "B1|A", "B2|B") == spoken
    assert read_table(labels, "1. C", "2. D", "1. A", "2. B") == {}


def test_answers_of_sub_questions_are_parts_of_one_answer() -> None:
    found = read_table(["1", "2"], "Question|Answer", "1(a)|5 J", "1(b)|7 K", "2|3 m")
    assert found == {"1": ["(a) 5 J", "(b) 7 K"], "2": ["3 m"]}


def test_one_column_of_several_is_that_of_the_answers() -> None:
    rows = ["No.|Answer|Topic|Points", "1|B|Optics|3", "2|12 m|Waves|4", "3||Heat|2"]
    assert read_table(["1", "2", "3"], *rows) == {"1": ["B"], "2": ["12 m"]}


def test_a_grid_may_end_with_a_row_of_one() -> None:
    rows = ["题号|1|2|3", "答案|A|B|C", "题号|4", "答案|D"]
    assert read_table(["1", "2", "3", "4"], *rows) == {
        "1": ["A"],
        "2": ["B"],
        "3": ["C"],
        "4": ["D"],
    }


@pytest.mark.parametrize("head", ["Ans.", "Antw.", "Resp.", "Rép.", "Lettre juste", "答"])
def test_whatever_stands_left_of_a_row_below_consecutive_numbers_is_its_head(head: str) -> None:
    rows = ["No.|1|2|3|4", f"{head}|C|A|B, C|D"]
    found = read_table(["1", "2", "3", "4"], *rows)
    assert found == {"1": ["C"], "2": ["A"], "3": ["B", "C"], "4": ["D"]}


def test_a_row_with_one_cell_too_many_below_other_numbers_is_no_key() -> None:
    assert read_table(["1", "2", "3", "4"], "No.|1|3|4", "Ohm|A|B|C") == {}
    assert read_table(["1", "2", "3"], "No.|1|2|3", "A|B|C|D") == {}


def test_a_pair_that_cannot_be_read_takes_no_others_with_it() -> None:
    labels = [str(n) for n in range(1, 9)]
    press = Press()
    press.set((72, "1-b 2-c? 3-a/b 4-d"))
    press.set((72, "5. A  6. A or x  7. C  8. D"))
    key = read_key(press.flow(), labels)
    letters = [key.get(label) for label in labels]
    assert letters == [["B"], None, ["A", "B"], ["D"], ["A"], None, ["C"], ["D"]]
    assert key.unread == {"2": "2-c?", "6": "6. A or x"}
    assert read_table(labels, "1. A ball of 2 kg falls 2. B is fast 3. C is slow") == {}
    assert read_table(labels, "1. A 2. A body 3. It is C") == {}
    assert read_table(labels, "1. A 2. B 4. because") == {}
