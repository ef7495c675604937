"""Choices in text and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.ocr.layout.layout import Box, Item, Line, Picture
from omibench.stages.ocr.structure.choices import split_choices

Maker = Callable[..., Line]
Column = Callable[..., list[Line]]


def choices(items: Sequence[Item]) -> dict[str, str]:
    _, options = split_choices(items)
    return {o.letter: " ".join(line.text for line in o.lines) for o in options}


def test_one_choice_a_line_with_continuation(column: Column) -> None:
    lines = column("Which?", "(A) one", "(B) two, which is", "longer", "(C) three")
    assert choices(lines) == {"A": "one", "B": "two, which is longer", "C": "three"}
    statement, _ = split_choices(lines)
    assert [i.text for i in statement if isinstance(i, Line)] == ["Which?"]


def test_all_choices_on_one_line(column: Column) -> None:
    assert choices(column("Which? (A) 1 m (B) 2 m (C) 3 m (D) 4 m")) == {}
    assert choices(column("Which?", "(A) 1 m (B) 2 m (C) 3 m")) == {
        "A": "1 m", "B": "2 m", "C": "3 m",
    }  # fmt: skip


def test_choices_in_a_grid_with_lines_that_wrap(line: Maker) -> None:
    lines = [
        line("A. red and", x=60, y=100),
        line("B. green and", x=200, y=100, starts=False),
        line("blue", x=72, y=112),
        line("white", x=212, y=112, starts=False),
        line("C. grey", x=60, y=124),
        line("D. pink", x=200, y=124, starts=False),
    ]
    wanted = {"A": "red and blue", "B": "green and white", "C": "grey", "D": "pink"}
    assert choices(lines) == wanted


def test_the_mention_of_a_choice_in_the_text_is_none(column: Column) -> None:
    lines = column("Which? Compare (A) with (B).", "(A) one", "(B) two", "(C) three")
    assert choices(lines) == {"A": "one", "B": "two", "C": "three"}


def test_parts_of_a_question_are_no_choices(column: Column) -> None:
    assert choices(column("A ball rolls.", "(a) Find x.", "(b) Find y.", "(c) Find z.")) == {}
    assert choices(column("Who?", "(a) How much? (2 points)", "(b) Why?", "(c) When?")) == {}
    lower = column("Qual é a cor?", "a) azul", "b) verde", "c) branco", "d) preto")
    assert choices(lower) == {"A": "azul", "B": "verde", "C": "branco", "D": "preto"}


def test_text_well_below_the_last_choice_is_not_part_of_it(line: Maker) -> None:
    lines = [line(f"({c}) word", x=72, y=100 + 12 * k) for k, c in enumerate("ABC")]
    note = line("End of the first part", x=60, y=170)
    statement, options = split_choices([*lines, note])
    assert [ln.text for ln in options[2].lines] == ["word"]
    assert statement == [note]


def test_a_mark_tells_the_right_choice(column: Column) -> None:
    _, options = split_choices(column("Which?", "(A) 1", "(B) 2 ←CORRECT", "(C) 3 <- correct"))
    assert [(o.letter, o.correct, o.lines[0].text) for o in options] == [
        ("A", False, "1"), ("B", True, "2"), ("C", True, "3"),
    ]  # fmt: skip


def pictures(letter_dy: float, line: Maker) -> tuple[list[Line], list[Picture]]:
    """Four pictures in a grid of two columns, tops a point apart, and their letters."""
    places = {"A": (60, 100), "B": (260, 101), "C": (60, 260), "D": (260, 259)}
    boxes = {c: Box(x, y, x + 120, y + 100) for c, (x, y) in places.items()}
    shown = [Picture(1, boxes[c]) for c in "BADC"]
    above = letter_dy < 0
    letters = [
        line(f"({c})", x=b.x0 if above else b.centre[0], y=(b.y0 if above else b.y1) + letter_dy)
        for c, b in boxes.items()
    ]
    return letters, shown


def test_letters_above_or_below_find_their_pictures(line: Maker) -> None:
    for offset in (-6.0, 14.0):
        letters, shown = pictures(offset, line)
        other = Picture(1, Box(150, 20, 250, 80))
        statement, options = split_choices([line("Which?", y=10), other, *shown, *letters])
        assert [o.letter for o in options] == list("ABCD")
        assert [o.picture for o in options] == [shown[1], shown[0], shown[3], shown[2]]
        assert [i for i in statement if isinstance(i, Picture)] == [other]


def test_a_picture_between_text_choices_stays_in_the_statement(column: Column) -> None:
    lines = column("Which?", "(A) one", "(B) two", "(C) three")
    shown = Picture(1, Box(60, 200, 160, 260))
    statement, options = split_choices([*lines, shown])
    assert shown in statement
    assert all(o.picture is None for o in options)


@given(
    st.lists(st.text(alphabet="xyz 0123456789.,;", min_size=1, max_size=20), min_size=3, max_size=8)
)
def test_any_texts_come_back(texts: list[str]) -> None:
    lines: list[Item] = [
        Line(1, Box(60, 12.0 * k, 200, 12.0 * k + 10), f"({'ABCDEFGH'[k]}) {text}", 10,
             baseline=12.0 * k + 8)
        for k, text in enumerate(texts)
    ]  # fmt: skip
    assert [text.strip() for text in choices(lines).values()] == [text.strip() for text in texts]


@given(st.lists(st.sampled_from(["(A) a", "(B)", "C. x", "(a) y", "b) z", "text", "(C) q"])))
def test_any_mixture_is_survived_without_losing_lines(texts: list[str]) -> None:
    lines: list[Item] = [
        Line(1, Box(60, 12.0 * k, 200, 12.0 * k + 10), text, 10, baseline=12.0 * k + 8)
        for k, text in enumerate(texts)
    ]
    statement, options = split_choices(lines)
    letters = [o.letter for o in options]
    assert letters == list("ABCDEFGH"[: len(letters)])
    assert len(letters) == 0 or len(letters) >= 3
    if not letters:
        assert statement == lines


def test_bare_letters_below_each_other_are_choices(line: Callable[..., Line]) -> None:
    rows = [line("What is its speed?", y=100)]
    for k, letter in enumerate("ABCD"):
        y = 120 + 14 * k
        rows += [line(letter, y=y, bold=True), line(f"{k} m/s", x=84, y=y, starts=False)]
    statement, options = split_choices(rows)
    assert [i.text for i in statement if isinstance(i, Line)] == ["What is its speed?"]
    assert [(o.letter, o.lines[-1].text) for o in options] == [
        ("A", "0 m/s"), ("B", "1 m/s"), ("C", "2 m/s"), ("D", "3 m/s"),
    ]  # fmt: skip


def test_an_article_is_no_choice(column: Callable[..., list[Line]]) -> None:
    lines = column("How many?", "A ball and a rod", "B and", "are known to be", "C or", "D or E")
    moved = [replace(i, box=i.box._replace(x0=i.box.x0 + 9 * k)) for k, i in enumerate(lines)]
    assert split_choices(moved)[1] == []


@pytest.mark.parametrize(
    "text",
    [
        "(A) 3 m(B) 4 m(C) 5 m(D) 6 m", "(A)3 m(B)4 m(C)5 m(D)6 m", "(a) 3 m(b) 4 m(c) 5 m(d) 6 m",
        "A. 3 m;B. 4 m;C. 5 m;D. 6 m", "A)3 m;B)4 m;C)5 m;D)6 m", "(A) 3 m,(B) 4 m,(C) 5 m,(D) 6 m",
        "（A）3 m（B）4 m（C）5 m（D）6 m", "(A) 3 m (B) 4 m (C) 5 m;(D) 6 m",
    ],
)  # fmt: skip
def test_choices_that_follow_each_other_closely(column: Column, text: str) -> None:
    found = choices(column("How far does it go?", text))
    told = {letter: value.rstrip(",;") for letter, value in found.items()}
    assert told == {"A": "3 m", "B": "4 m", "C": "5 m", "D": "6 m"}


def test_close_choices_go_on_over_lines_and_ideographs(column: Column) -> None:
    assert choices(column("How far?", "(A) 3 m(B) 4 m", "(C) 5 m(D)", "6 m(E) 7 m")) == {
        "A": "3 m", "B": "4 m", "C": "5 m", "D": "6 m", "E": "7 m",
    }  # fmt: skip
    assert choices(column("多远？", "A．三米B．四米C．五米D．六米"))["D"] == "六米"


@pytest.mark.parametrize(
    ("lines", "letters"),
    [
        (["(A) red (B) blue (C) grey (D) the value of f(E) at 2"], "ABCD"),
        (["Let f(A) be 1, f(B) be 2 and f(C) be 3."], ""),
        (["(A) 3 m(B) 4 m(D) 5 m"], ""),
        (["A. 3 mB. 4 mC. 5 m"], ""),
        (["(A)(B)(C)(D)"], ""),
    ],
)
def test_what_looks_like_close_choices(column: Column, lines: list[str], letters: str) -> None:
    assert "".join(choices(column("What is the best answer?", *lines))) == letters
