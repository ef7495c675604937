"""Answers in keys, solutions, tables and printed in the paper."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.stages.ocr.printed import list_texts, set_lines

from glyphtex.marks import Box
from omibench.params.stages.filter import FilterParams
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Choice, Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.filter.candidate import Candidate, Case, KeptProblems
from omibench.stages.filter.reasons.computed import statement_incomplete
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.layout.layout import Line, Picture
from omibench.stages.ocr.structure.key_tables import read_key
from omibench.stages.ocr.structure.keys import (
    Key,
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


def tell(key: Key, labels: str) -> str:
    """The answers of labels in one line: parts after `; `, nothing as `-`."""
    return " | ".join("; ".join(key.get(label) or ["-"]) for label in labels.split())


# Keys that are tables, grids, lists and runs.

NINE = "1 2 3 4 5 6 7 8 9"
SECTIONED = "A1 A2 B1 B2"
FORMULA = r"$h=\frac{gd^{2}}{2v_{0}^{2}}$"


@pytest.mark.parametrize(
    ("labels", "text", "answers"),
    [
        (
            "1 2 3 4 5",
            "Problem|Answer\n1|B\n2|0.20 A\n3|—\n4|(a) 5 J; (b) 7 K",
            "B | 0.20 A | - | (a) 5 J; (b) 7 K | -",
        ),
        ("1 2", "1|a long answer that\n|goes on\n2|B", "a long answer that goes on | B"),
        ("1 2", "2026|B\n40|C\n1|A", "A | -"),
        ("1 2 3", f"Physics 2026: answers\n1. {FORMULA}\n2) 3.27 m/s\n(3) B",
         f"{FORMULA} | 3.27 m/s | B"),
        ("1 2 3", "1a) $5$ J\n1b) $7$ J\n2. $x^{2}$", "(a) $5$ J; (b) $7$ J | $x^{2}$ | -"),
        ("1 2 3", "1. $x=2$\n4. $x=3$", "$x=2$ | - | -"),
        ("1 2", "1. $x=2$\nbecause it falls freely\n2. $x=3$", "- | -"),
        ("1 2", "1. The ball moves with 5 m/s along the road.\n2. $x=3$\n3. $x$", "- | -"),
        ("1 2", "1. $x=2$\n1. $x=3$", "- | -"),
        ("1 2", "1. $x=2$", "- | -"),
        ("1 2", "1. yes\n2. no", "- | -"),
        ("1 2", "1. 3 marks\n2. 5 marks\n3. 2.5 points", "- | -"),
        (NINE, "1-5 ABCDA  6～7：B C\n8—9. AC BD", "A | B | C | D | A | B | C | A; C | B; D"),
        ("1 2 3", "1-5 ABC", "- | - | -"),
        (SECTIONED, "Section A\n1. C\n2. D\nSection B\n1. A\n2. B", "C | D | A | B"),
        (SECTIONED, "A1|C\nA2|D\nB1|A\nB2|B", "C | D | A | B"),
        (SECTIONED, "1. C\n2. D\n1. A\n2. B", "- | - | - | -"),
        ("1 2", "Question|Answer\n1(a)|5 J\n1(b)|7 K\n2|3 m", "(a) 5 J; (b) 7 K | 3 m"),
        ("1 2 3", "No.|Answer|Topic|Points\n1|B|Optics|3\n2|12 m|Waves|4\n3|—|Heat|2",
         "B | 12 m | -"),
        ("1 2 3", "No.|Answer|Topic\n1|B|Optics\n2| |Waves\n3|C|Heat", "B | - | C"),
        ("1 2 3 4", "题号|1|2|3\n答案|A|B|C\n题号|4\n答案|D", "A | B | C | D"),
        *(
            ("1 2 3 4", f"No.|1|2|3|4\n{head}|C|A|B, C|D", "C | A | B; C | D")
            for head in ["Ans.", "Antw.", "Resp.", "Rép.", "Lettre juste", "答"]
        ),
        ("1 2 3 4", "No.|1|3|4\nOhm|A|B|C", "- | - | - | -"),
        ("1 2 3", "No.|1|2|3\nA|B|C|D", "- | - | -"),
        (NINE, "1-b 2-c? 3-a/b 4-d\n5. A  6. A or x  7. C  8. D",
         "B | - | A; B | D | A | - | C | D | -"),
        ("1 2 3", "1. A ball of 2 kg falls 2. B is fast 3. C is slow", "- | - | -"),
        ("1 2 3", "1. A 2. A body 3. It is C", "- | - | -"),
        ("1 2 3", "1. A 2. B 4. because", "- | - | -"),
    ],
)  # fmt: skip
def test_a_key_is_read(labels: str, text: str, answers: str) -> None:
    assert tell(read_key(set_lines(text), labels.split()), labels) == answers


def test_what_cannot_be_read_is_named() -> None:
    key = read_key(set_lines("1-b 2-c? 3-a/b 4-d\n5. A  6. A or x  7. C  8. D"), NINE.split())
    assert key.unread == {"2": "2-c?", "6": "6. A or x"}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("B", ["B"]), ("(B)", ["B"]), ("B.", ["B"]), ("A, C", ["A", "C"]), ("A/C", ["A", "C"]),
        ("B or D", ["B or D"]), ("TRUE; FALSE; TRUE", ["TRUE", "FALSE", "TRUE"]),
        ("x = 1;2", ["x = 1;2"]), ("$(1; 2)$; $x$", ["$(1; 2)$", "$x$"]), ("Boron", ["Boron"]),
        ("1,5 m", ["1,5 m"]),
    ],
)  # fmt: skip
def test_parts_of_an_answer(text: str, parts: list[str]) -> None:
    assert parse_answer(text) == parts


def table(rows: list[tuple[str, ...]]) -> list[Line]:
    return [
        Line(1, Box(60 + 80 * c, 20.0 * r, 70 + 80 * c, 20.0 * r + 10), text, 10,
             baseline=20.0 * r + 8)
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
        if text
    ]  # fmt: skip


@given(st.dictionaries(st.integers(1, 60), st.sampled_from("ABCDE"), min_size=1, max_size=60))
def test_any_table_of_letters_is_read_back(given_letters: dict[int, str]) -> None:
    letters = {str(number): letter for number, letter in given_letters.items()}
    key = read_key(table(list(letters.items())), [str(number) for number in range(1, 61)])
    assert {number: key.get(number) for number in key.answers} == {
        number: [letter] for number, letter in letters.items()
    }


@example([["1a"]])
@example([["1A", "0"]])
@given(st.lists(st.lists(st.text(max_size=6), max_size=5), max_size=8))
def test_any_table_is_survived_and_nothing_is_made_up(rows: list[list[str]]) -> None:
    key = read_key(table(list(map(tuple, rows))), "123456789")
    assert set(key.answers) <= set("123456789")
    printed = "".join(text for row in rows for text in row)
    printed += printed.upper()  # small letters of choices become capitals
    printed += printed.lower() + "()"  # part A of problem 1A is written as (a)
    for parts in key.answers.values():
        assert all(set(part.replace(" ", "")) <= set(printed) for part in parts)


@pytest.mark.parametrize(
    ("text", "label"),
    [("B2", "B2"), ("b 2", None), ("(B2)", "B2"), ("3.", "A3"), ("2", None), ("Q3", "A3"),
     ("第3题", "A3"), ("C1", None), ("C3", None), ("A02", "A2")],
)  # fmt: skip
def test_which_problem_a_printed_number_means(text: str, label: str | None) -> None:
    entry = Names(["A1", "A2", "A3", "B1", "B2"]).find(text)
    assert (entry.label if entry else None) == label


# Answers inside the paper itself: they become answer and solution and are never asked.

WHOLE = None


@pytest.mark.parametrize(
    ("text", "statement", "solution", "answer"),
    [
        ("How fast?\nSolution: Energy is kept.", "How fast?", "Energy is kept.", ""),
        ("How fast?\nSolución:\nAsí.", "How fast?", "Así.", ""),
        ("多快？\n【解析】能量守恒。", "多快？", "能量守恒。", ""),
        ("多快？ 答案：B", "多快？", "答案：B", "B"),
        ("多快？\n【答案】14 m/s。\n【解析】能量守恒。", "多快？", "能量守恒。", "14 m/s"),
        ("多快？\n【答案】14 【解析】守恒。", "多快？", "守恒。", "14"),
        ("多快？\n【答案】B", "多快？", "", "B"),
        ("多快？\n【答案】见上图\n【解析】守恒。", "多快？", "见上图\n【解析】守恒。", ""),
        ("How fast? Answer: 5 m/s", "How fast?", "Answer: 5 m/s", "5 m/s"),
        ("How fast?\nFinal answer: (B) 5 m/s", "How fast?", "Final answer: (B) 5 m/s", "B"),
        ("Which?\nAnswer: A, C", "Which?", "Answer: A, C", "A, C"),
        ("Which?\nThe answer is D because", "Which?", "The answer is D because", ""),
        ("How fast?\nAnswer: m/s", "How fast?", "Answer: m/s", ""),
        ("Find it.\nSolution: x = 3. Answer: 3", "Find it.", "x = 3. Answer: 3", "3"),
        ("Which is right?\nОтвет: б", "Which is right?", "Ответ: б", "б"),
        ("Which is right?\nΑπάντηση: γ", "Which is right?", "Απάντηση: γ", "γ"),
        ("Which is right?\n答案：③", "Which is right?", "答案：③", "③"),
        ("Which is right?\nПравильный ответ: В.", "Which is right?", "Правильный ответ: В.", "В"),
        ("How fast?\nAnswer: ____ m/s", WHOLE, "", ""),
        ("How fast?\nAnswer: ...... m/s", WHOLE, "", ""),
        ("How fast?\nAnswer:", WHOLE, "", ""),
        ("Give your answer: three digits.", WHOLE, "", ""),
        ("Choose one.\nAnswer: (A) 1 (B) 2 (C) 3", WHOLE, "", ""),
        ("It is a solution: salt in water.", WHOLE, "", ""),
        ("Solution A holds salt. What does it weigh?", WHOLE, "", ""),
        ("How fast?\n*Solution\nEnergy is kept.", "How fast?", "Energy is kept.", ""),
        ("How fast?\n*Solution|*pH\nEnergy is kept.", WHOLE, "", ""),
    ],
)
def test_the_statement_ends_where_the_answer_begins(
    text: str, statement: str | None, solution: str, answer: str
) -> None:
    lines = set_lines(text)
    parts = split_inline(lines)
    assert "\n".join(list_texts(parts.solution)) == solution
    whole = "\n".join(list_texts(lines))
    assert "\n".join(list_texts(parts.statement)) == (whole if statement is None else statement)
    assert parts.answer == ([answer] if answer else [])


def test_figures_go_with_the_part_that_they_belong_to() -> None:
    asked, mark = set_lines("What does Figure 2 show?\nSolution: Look at it.")
    frame = Picture(1, Box(50, 90, 400, 300))
    named, drawn = Picture(1, Box(50, 310, 90, 350), number="2"), Picture(1, Box(50, 360, 90, 400))
    parts = split_inline([asked, frame, mark, named, drawn])
    assert parts.statement == [asked, named]
    assert [item for item in parts.solution if isinstance(item, Picture)] == [frame, drawn]


@given(st.lists(st.text("aA B:.答案：解_1Solution(Answer", max_size=30), min_size=1, max_size=5))
def test_no_character_is_lost_but_the_mark(lines: list[str]) -> None:
    box = Box(60, 92, 160, 102)
    items = [Line(1, box, text, 10.0, baseline=100.0 + 12 * k) for k, text in enumerate(lines)]
    parts = split_inline(items)
    kept = "".join(list_texts([*parts.statement, *parts.solution]))
    if not parts.solution:
        assert list_texts(parts.statement) == lines
    letters = "".join("".join(lines).split())
    assert len("".join(kept.split())) >= len(letters) - len("Solutions:") - 4


def read_pages(folder: Path, *texts: tuple[float, str]) -> list[Problem]:
    """The problems of a paper of one page, with a circle beside it, from texts at heights."""
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        for y, text in texts:
            for row, line in enumerate(text.split("\n")):
                page.insert_text((72, y + 16 * row), line)
        page.draw_circle((150, 240), 50)
        pdf.save(folder / "paper.pdf")
    read_papers([folder / "paper.pdf"], folder, OcrParams(dpi=72))
    return read_jsonl(folder / "problems.jsonl", Problem)


def test_a_list_of_solutions_asks_nothing_and_the_filter_rejects_it(tmp_path: Path) -> None:
    heads = ["1) C", "2) Item b) Both of them have", "3) VOID", "4) A"]
    more = "wings and legs of kind {}, as every beetle has."
    texts = [(100.0 + 120 * k, f"{head}\n{more.format(k)}") for k, head in enumerate(heads)]
    problems = read_pages(tmp_path, *texts)
    assert [p.answer for p in problems] == [["C"], ["B"], None, ["A"]]
    assert [p.question for p in problems] == [""] * 4
    assert (problems[1].solution or "").startswith("Item b) Both of them have wings")
    assert [list(map(str, p.warnings)) for p in problems] == [[], [], ["answer_cancelled"], []]
    for problem in problems:
        case = Case(Candidate(problem, tmp_path), KeptProblems(), FilterParams(min_words=1))
        assert statement_incomplete(case)


def test_a_booklet_of_solutions_asks_its_questions_only(tmp_path: Path) -> None:
    asked = "How many legs has the insect of the figure below?"
    choices = "(A) four\n(B) six <- CORRECT\n(C) eight"
    one = f"1. {asked}\n{choices}\nSolution: Count them as drawn."
    two = f"2. {asked}\n(A) yes <- CORRECT\n(B) no\n3. Why is it so?"
    first, second, _ = read_pages(tmp_path, (80, one), (400, two))
    assert (first.answer, first.question, first.images) == (["B"], asked, [])
    assert [c.text for c in first.choices or []] == ["four", "six", "eight"]
    assert first.solution == "Count them as drawn."
    assert "CORRECT" not in second.question


# Printed answers of multiple-choice problems as letters, where that is certain.


def choices(**texts: str) -> list[Choice]:
    return [Choice(label=label, text=text) for label, text in texts.items()]


CHOICES = choices(A="5 m", B="a dark star", C="7 m", D="none")
FORMULAS = choices(
    A=r"$\frac{1}{2}$", B=r"$2\pi\sqrt{\frac{l}{g}}$", C=r"$v_{0}$ of the ball",
    D=r"$V_{0}$ of the ball", E=r"$3\times 10^{8}\,\mathrm{m/s}$",
)  # fmt: skip
SPECIES = choices(A="C. elegans", B="E. coli", C="none")
EQUAL = choices(A=r"$\frac{1}{2}$", B="$0.5$")


@pytest.mark.parametrize(
    ("choices", "answer", "letters"),
    [
        *((CHOICES, answer, letters) for answer, letters in [
            ("B", "B"), ("b", "B"), ("(c)", "C"), ("a, d", "A D"), ("ACD", "A C D"),
            ("C) 7 m", "C"), ("C 7 m.", "C"), ("C 8 m", ""), ("C) 8 m", "C"), ("C) 5 m", ""),
            ("A dark star", "B"), ("none", "D"), ("E", ""), ("CAD", "CAD"), ("12", ""),
            ("F = ma holds", ""), ("C. Because it has three atoms.", "C"),
            ("b) since the others are too short", "B"), ("D; as above", "D"),
            ("A - the law of mass", "A"), ("C：因为光速不变", "C"), ("C. None of the others", ""),
            ("C. 5 m, as is known", ""), ("A: true, B: false", ""), ("A: T; B: F", ""),
            ("A) True B) False C) True", ""), ("A: is wrong since it falls", ""),
            ("A-B bonds break", ""), ("E. coli has none", ""), ("Because A is wrong", ""),
        ]),
        *((FORMULAS, answer, letters) for answer, letters in [
            ("0.5", "A"), (r"$\dfrac12$", "A"), (r"$-\frac{1}{2}$", ""),
            (r"$2 \pi \sqrt{l/g}$", "B"), (r"B) $2\pi\sqrt{l/g}$", "B"),
            (r"$2\pi\sqrt{\frac{g}{l}}$", ""), ("$v_0$ of the ball", "C"),
            ("$V_0$ of the ball", "D"), (r"$3\cdot10^{8}$ m/s", "E"),
        ]),
        (SPECIES, "C. elegans", "A"),
        (SPECIES, "C. elegans because of its short life", ""),
        (EQUAL, "50/100", ""),
        (EQUAL, r"$\frac12$", "A"),
        (None, "b", "b"),
    ],
)  # fmt: skip
def test_answers_as_letters(choices: list[Choice] | None, answer: str, letters: str) -> None:
    assert as_letters(answer.split("; "), choices) == letters.split()


def test_letters_in_no_order_stay_as_printed_and_words_behind_one_are_told() -> None:
    assert as_letters(["B or D"], CHOICES) == ["B or D"]
    because = ["C. Because it falls", "as above"]
    assert read_words_behind_letter(because, CHOICES) == "Because it falls; as above"
    assert read_words_behind_letter(["C"], CHOICES) == ""
    assert read_words_behind_letter(because, None) == ""


@given(st.lists(st.text("ABCDEabcd.:);- mst", max_size=12), max_size=3))
def test_what_is_given_is_what_a_choice_is_called(answer: list[str]) -> None:
    given_letters = "".join(as_letters(answer, CHOICES))
    assert set(given_letters.upper()) & set("ABCDE") <= set("ABCD")
    assert read_words_behind_letter(answer, CHOICES) in "; ".join(answer)


# Worked solutions: the answer they state and the part that is explanation.

ASKED = {
    "1": PrintedQuestion(
        "A ball rolls down a smooth slope of thirty degrees. How fast is it?", "(A) 1 (B) 2"
    ),
    "2": PrintedQuestion(
        "A rod hangs from two threads. Which one is cut first?", "(A) left (B) right"
    ),
}
SLOPE = "1. A ball rolls down a smooth slope of thirty degrees."
NEXT = "\n2. A rod hangs"


@pytest.mark.parametrize(
    ("text", "answers", "texts"),
    [
        *(
            (f"1. A ball rolls down a smooth …\nEnergy is kept.\n{last}{NEXT}\nNo.",
             f"{answer} | -", None)
            for last, answer in [
                ("It moves. Answer: 5 m/s", "5 m/s"), ("It moves. Answer: B", "B"),
                ("Respuesta: (a) 1 J; (b) 2 K", "(a) 1 J; (b) 2 K"), ("答案：C", "C"),
                ("The answer is not simple.", "-"),
            ]
        ),
        (
            "1. A ball rolls down a smooth slope of thirty\ndegrees. How fast is it?\n"
            f"Energy is kept, so it goes at 5 m/s.{NEXT} from two threads. Which one is cut first?"
            "\nSolution: Neither of them.",
            "- | -",
            {"1": "Energy is kept, so it goes at 5 m/s.", "2": "Neither of them."},
        ),
        ("1. A ball\n(A) 1\n(B) 2 ←CORRECT\n(C) 3\n2. Item a) because", "B | A", None),
        (f"{SLOPE} How fast is it? ( B ){NEXT}.", "B | -", {}),
        (f"1. A ball A or B? ( B ){NEXT}", "- | -", {"1": "A ball A or B? ( B )"}),
        *(
            (f"{opening}{words}{NEXT}", "- | -", {"1": words})
            for words in ["With $pV=C$ it is 5 m/s.", "From A it goes at 5 m/s."]
            for opening in (f"{SLOPE}\n", "1. ")
        ),
    ],
)  # fmt: skip
def test_worked_solutions(text: str, answers: str, texts: dict[str, str] | None) -> None:
    key, found = read_solutions(set_lines(text), ASKED, frozenset())
    assert tell(key, "1 2") == answers
    assert texts is None or found == texts


@pytest.mark.parametrize(
    ("heads", "answers"),
    [
        ("1) E\n2) ANULADA\n3) Item b) because\n4) words", "E | - | B | -"),
        ("1) E\n2) words\n3) words\n4) words", ""),
        ("1) E Embora haja\n2) A – todos\n3) (C) because\n4) B. It is", "E | A | C | B"),
        ("1) A ball falls\n2) A rod hangs\n3) A car\n4) How far", ""),
        ("1) A ball falls\n2) B is a point\n3) A car\n4) A stone", ""),
        ("1) A\n2) B\n3) C because\n4) Why", "A | B | C | -"),
    ],
)
def test_letters_at_the_head_of_most_blocks_are_answers(heads: str, answers: str) -> None:
    lines = set_lines(heads)
    key = read_heading_answers(
        [ProblemBlock(str(k), [line], end=3) for k, line in enumerate(lines, 1)]
    )
    assert tell(key, "1 2 3 4") == (answers or "- | - | - | -")
    assert key.cancelled == ({"2"} if "ANULADA" in heads else set())


def test_choices_that_follow_a_stem_are_no_answers() -> None:
    texts = [f"{k}) (A) one\n(B) two\n(C) three" for k in (1, 2, 3)]
    blocks = [ProblemBlock(text[0], [*set_lines(text)], end=3) for text in texts]
    assert len(read_heading_answers(blocks)) == 0


# Letters printed into the blanks of multiple-choice problems are taken out, others are not.


@pytest.mark.parametrize(
    ("statements", "emptied", "letters"),
    [
        (
            ["哪一颗行星最近？（ B ）", "那么当前时刻为 C\n．", "每个像素的视场为 A 角秒．",
             "What is the nearest planet? ( D )"],
            ["哪一颗行星最近？（）", "那么当前时刻为．", "每个像素的视场为角秒．",
             "What is the nearest planet? ()"],
            "BCAD",
        ),
        (
            ["物体 A 与物体 B 相碰．", "A ball falls on (B) and stops. Why?",
             "从点 A 出发的小球落在何处？", "Which of them is vitamin C?"],
            None,
            "----",
        ),
        (["哪一颗？（ B ）", "为何？（）", "何时？（）", "何处？（ C ）"],
         ["哪一颗？（）", "为何？（）", "何时？（）", "何处？（）"], "B--C"),
        (["哪一颗？（ B ）", "为何？（）", "何时？（）"], None, "---"),
        (["哪一颗？（ B ）", "何处？（ C ）", *3 * ["为何？（）"]], None, "-----"),
        (["哪一颗？（ B ）"], None, "-"),
        (["哪一颗？（ H ）", "为何？（ H ）"], None, "--"),
    ],
)  # fmt: skip
def test_letters_are_taken_out_of_filled_blanks(
    statements: list[str], emptied: list[str] | None, letters: str
) -> None:
    found = empty_blanks([(set_lines(text), "ABCD") for text in statements])
    assert ["".join(list_texts(items)) for items, _ in found] == (emptied or statements)
    assert "".join(letter or "-" for _, letter in found) == letters


# The letter with which a worked solution concludes; none where it is not certain.


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Energy is kept. Hence the correct answer is (B).", "B"),
        ("So the answer is option C.", "C"),
        ("Therefore option (d) is correct.", "D"),
        ("Thus, (A) is the correct choice.", "A"),
        ("由能量守恒可知，故选C．", "C"),
        ("综上，故选：AC。", "AC"),
        ("所以答案为 B。", "B"),
        ("Portanto, a alternativa correta é a letra D.", "D"),
        ("La respuesta correcta es la opción B.", "B"),
        (r"It follows that \boxed{E}", "E"),
        ("Option A is not correct. Option B is correct.", "B"),
        ("Option A is correct. But the answer is (B).", ""),
        ("Point A is right of B.", ""),
        ("We can rule out option A. It is too large.", ""),
        ("A ball is correct.", ""),
        ("The answer is a number.", ""),
        ("The acceleration is right.", ""),
        ("答案不是 C。", ""),
        ("", ""),
    ],
)
def test_what_a_solution_concludes(text: str, letters: str) -> None:
    assert read_conclusion(text) == list(letters)


@given(st.text("AB answeriscorct().选故答案:\\boxed{}", max_size=60))
def test_no_letter_is_made_up(text: str) -> None:
    assert set(read_conclusion(text)) <= set(text.upper())
