"""Papers in styles drawn at random: all problems, all choices and all keys are found, no others."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stages.ocr.printed import (
    KEYS,
    LETTERINGS,
    MARKS,
    NUMBERINGS,
    TITLES,
    Press,
    Printed,
    Style,
    papers,
    sectioned,
    set_key,
)

from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.structure.drafts import read_paper
from omibench.stages.ocr.structure.key_tables import read_key
from omibench.stages.ocr.structure.keys import Key
from omibench.stages.ocr.structure.solutions import PrintedQuestion, read_solutions

Paper = tuple[Style, list[Printed], Press]


@given(papers())
@settings(max_examples=80, derandomize=True)
def test_all_problems_and_their_choices_are_found(paper: Paper) -> None:
    style, problems, press = paper
    found = [
        (draft.number, "".join(option.letter for option in draft.options))
        for draft in read_paper(press.document()).drafts
    ]
    assert found == [(problem.label, problem.letters) for problem in problems], style


@given(st.sampled_from(list(KEYS)), st.lists(st.sampled_from("ABCDE."), min_size=4, max_size=14))
@settings(max_examples=80, derandomize=True)
def test_every_letter_of_a_key_is_read_and_none_is_made_up(kind: str, letters: list[str]) -> None:
    given_letters = {str(n): letter for n, letter in enumerate(letters, 1) if letter != "."}
    press = Press()
    set_key(kind, list(given_letters.items()), press)
    read = read_answers(press, [str(n) for n in range(1, len(letters) + 1)])
    wanted = {number: [letter] for number, letter in given_letters.items()}
    got = {n: answer for n in map(str, range(1, len(letters) + 1)) if (answer := read.get(n))}
    assert got.items() <= wanted.items(), kind
    # Two lines, or numbers far apart, are no list that one could be sure of.
    if len(wanted) > 2 and "..." not in "".join(letters):
        assert got == wanted, kind


@pytest.mark.slow
@given(sectioned(), st.sampled_from(["table", "lines", "columns", "reasons"]), st.booleans())
@settings(max_examples=60, derandomize=True)
def test_sections_that_count_anew_keep_their_problems_and_their_keys_apart(
    paper: tuple[list[list[Printed]], list[str], Press], kind: str, spoken: bool
) -> None:
    sections, titles, press = paper
    found = read_paper(press.document()).drafts
    problems = [problem for section in sections for problem in section]
    labels = [problem.label for problem in problems]
    assert [draft.number for draft in found] == labels
    key = Press()
    for title, section in zip(titles, sections, strict=True):
        if spoken:
            key.set((72, title), bold=True)
        set_key(kind, [(str(n), "ABCDE"[n % 5]) for n, _ in enumerate(section, 1)], key)
    read = read_answers(key, labels)
    for section in sections:
        for n, problem in enumerate(section, 1):
            answer = read.get(problem.label)
            assert answer in (None, ["ABCDE"[n % 5]])
            assert answer or not spoken, (kind, problem.label)


@pytest.mark.slow
@given(papers(least=4), st.sampled_from(TITLES), st.booleans(), st.sampled_from(list(KEYS)))
@settings(max_examples=60, derandomize=True)
def test_answers_at_the_end_are_no_part_of_the_last_problem(
    paper: Paper, title: str, bold: bool, kind: str
) -> None:
    style, problems, press = paper
    press.skip()
    press.set((72, title), bold=bold)
    right = {p.label: p.letters[-1] for p in problems if p.letters}
    numbers = [(label.lstrip("DT"), letter) for label, letter in right.items()]
    set_key(kind, numbers, press)
    read = read_paper(press.document())
    assert [(d.number, len(d.options)) for d in read.drafts] == [
        (p.label, len(p.letters)) for p in problems
    ]
    if len(right) > 2 and (bold or kind in ("lines", "reasons", "sentences", "chosen")):
        assert read.answers, (style, title)


@given(papers(), st.sampled_from(MARKS))
@settings(max_examples=60, derandomize=True)
def test_answers_inside_the_problems_are_read_and_never_asked(paper: Paper, mark: str) -> None:
    style, problems, _ = paper
    press = Press()
    for n, problem in enumerate(problems, 1):
        press.set((72, NUMBERINGS[style.numbering](n) + "How far does the ball go in all?"))
        problem.letters = problem.letters or "ABCD"
        problem.answer = problem.letters[n % len(problem.letters)]
        for letter in problem.letters:
            arrow = " <- CORRECT" if mark == "arrow" and letter == problem.answer else ""
            printed = LETTERINGS[style.lettering].format(
                letter.lower() if "a" in style.lettering else letter
            )
            press.set((72, f"{printed}{n} m{arrow}"))
        if mark != "arrow":
            press.set((72, mark.format(problem.answer)))
            press.set((72, "The ball goes as far as the slope lets it go."))
        press.skip()
    read = read_paper(press.document())
    assert [d.number for d in read.drafts] == [p.label for p in problems]
    for draft, problem in zip(read.drafts, problems, strict=True):
        assert read.block_key.get(draft.number) == [problem.answer], (style, mark)
        assert "".join(o.letter for o in draft.options) == problem.letters
        shown = " ".join(i.text for i in draft.items if isinstance(i, Line))
        shown += " ".join(line.text for o in draft.options for line in o.lines)
        assert "slope" not in shown
        assert "CORRECT" not in shown


def test_a_cancelled_problem_and_two_right_letters_are_kept_as_they_are_printed() -> None:
    press = Press()
    press.set((72, "1. A   2. ANULADA   3. B, D   4. C/E   5. void"))
    key = read_answers(press, ["1", "2", "3", "4", "5", "6"])
    assert [key.get(n) for n in "123456"] == [["A"], None, ["B", "D"], ["C", "E"], None, None]
    assert key.cancelled == {"2", "5"}


def read_answers(press: Press, labels: list[str]) -> Key:
    """What a key of multiple-choice problems says, as table, list or worked solutions."""
    asked = {
        label: PrintedQuestion("Which one?", "(A) a (B) b (C) c (D) d (E) e") for label in labels
    }
    document = press.document()
    key = read_key(document.flow, labels)
    stated, _ = read_solutions(document.flow, asked, document.words, document.size)
    return key if len(key) >= len(stated) else stated
