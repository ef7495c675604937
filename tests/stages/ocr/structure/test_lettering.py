"""Choices and keys in other letters than A, B, C, D: as printed, by position, never a guess."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omibench.schemas.problem import Choice
from omibench.stages.ocr.layout.layout import Box, Item, Line
from omibench.stages.ocr.structure.choices import LETTERINGS, Lettering, read_labels, split_choices
from omibench.stages.ocr.structure.key_tables import read_key
from omibench.stages.ocr.structure.keys import as_letters
from omibench.stages.ocr.structure.solutions import split_inline

FORMS = {"(A)": "({}) ", "A)": "{}) ", "A.": "{}. ", "A、": "{}、", "①": "{} ", "A": "{} "}
ELSEWHERE = [row for row in LETTERINGS if not row.is_latin]
WORDS = ["red", "5 m/s", "to the left", "none of these", "нет", "в два раза", "红色", "增大"]
ROWS = st.sampled_from(ELSEWHERE)
SETS = ROWS.flatmap(lambda row: st.tuples(st.just(row), st.sampled_from(row.settings)))
COUNTS = st.integers(3, 5)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=5, max_size=5)


def lines(*texts: str) -> list[Item]:
    return [
        Line(1, Box(60, 12.0 * k, 300, 12.0 * k + 10), text, 10, baseline=12.0 * k + 8)
        for k, text in enumerate(texts)
    ]


def listed(letters: Sequence[str], setting: str, texts: Sequence[str]) -> list[str]:
    return [FORMS[setting].format(c) + text for c, text in zip(letters, texts, strict=False)]


def found(*texts: str) -> dict[str, str]:
    options = split_choices(lines(*texts))[1]
    return {o.letter: " ".join(line.text for line in o.lines) for o in options}


def choices(row: Lettering, count: int) -> list[Choice]:
    return [Choice(label=c, text=f"text {k}") for k, c in enumerate(row.letters[:count])]


@given(
    SETS, COUNTS, TEXTS, st.sampled_from(["Which is right?", "下列说法正确的是", "Выберите ответ:"])
)
def test_choices_keep_the_letters_that_are_printed(
    marked: tuple[Lettering, str], count: int, texts: list[str], asks: str
) -> None:
    row, setting = marked
    letters = row.letters[:count]
    told = found("A ball falls.", asks, *listed(letters, setting, texts))
    assert told == dict(zip(letters, texts, strict=False))


@settings(max_examples=40)
@given(SETS, st.integers(0, 4), TEXTS)
def test_a_list_with_a_gap_or_a_late_beginning_is_none(
    marked: tuple[Lettering, str], missing: int, texts: list[str]
) -> None:
    row, setting = marked
    letters = row.letters[:missing] + row.letters[missing + 1 : 6]
    told = found("Which is right?", *listed(letters, setting, texts))
    assert told == ({} if missing < 5 else dict(zip(letters, texts, strict=False)))


@settings(max_examples=60)
@given(SETS, SETS, st.integers(1, 3), TEXTS)
def test_two_kinds_of_letters_are_no_list(
    marked: tuple[Lettering, str], other: tuple[Lettering, str], place: int, texts: list[str]
) -> None:
    (row, setting), strange = marked, other[0]
    if strange.letters == row.letters:
        return
    printed = listed(row.letters[:4], setting, texts)
    printed[place] = listed([strange.letters[place]], other[1], texts)[0]
    assert found("Which is right?", *printed) == {}


@given(SETS, COUNTS, st.sampled_from([
    "Find its speed. (2 points)", "Найдите скорость", "Чему равна масса?", "求它的速度",
    "质量为____", "Να βρείτε τη μάζα", "скорость тела (2 балла)", "說明理由",
]))  # fmt: skip
def test_sub_questions_are_no_choices(marked: tuple[Lettering, str], count: int, task: str) -> None:
    row, setting = marked
    told = found("Which is right?", *listed(row.letters[:count], setting, [task] * count))
    assert told == {}


@pytest.mark.parametrize("asks", ["Answer the following:", "回答下列问题：", "It is at rest."])
def test_what_only_announces_makes_no_choices_of_numbers(asks: str) -> None:
    for setting, letters in (("(A)", "1234"), ("①", "①②③④"), ("A、", "甲乙丙丁")):
        assert found(asks, *listed(letters, setting, WORDS)) == {}


def test_small_latin_letters_before_sub_questions_with_points_are_no_choices() -> None:
    parts = [f"{c}) the speed of the ball (2 points)" for c in "abcd"]
    assert found("What is known?", *parts) == {}
    assert found("Матрёшка катится. Найдите:", "a) Найдите x", "b) Найдите y", "c) Найдите z") == {}


def test_statements_that_latin_choices_combine_are_none_themselves() -> None:
    told = found(
        "下列说法正确的是", "①红色", "②增大", "③减小", "④不变", "⑤相等",
        "A. ①②", "B. ②③", "C. ③④", "D. ①④",
    )  # fmt: skip
    assert told == {"A": "①②", "B": "②③", "C": "③④", "D": "①④"}


def test_letters_of_a_table_to_be_matched_are_no_choices() -> None:
    texts = listed("АБВ", "A)", ["скорость", "масса", "сила"])
    assert found("Установите соответствие между величинами", *texts) == {}


@given(ROWS, COUNTS, st.integers(0, 4), st.sampled_from(["{}", "({})", "{})", "{}."]))
def test_a_key_names_the_choice_at_the_place_of_its_letter(
    row: Lettering, count: int, place: int, form: str
) -> None:
    told = as_letters([form.format(row.letters[place])], choices(row, count))
    if place < count:
        assert told == [row.letters[place]]
    else:
        assert not set(told) & set(row.letters[:count])


@given(st.sampled_from(LETTERINGS), ROWS, st.integers(0, 3))
def test_a_letter_of_another_script_names_no_choice(
    key: Lettering, row: Lettering, place: int
) -> None:
    letter, labels = key.letters[place], row.letters[:4]
    told = as_letters([letter], choices(row, 4))
    same = key.letters.casefold() == row.letters.casefold() or {key.letters[0], row.letters[0]} == {
        "1", "①",
    }  # fmt: skip
    assert (told == [labels[place]]) if same else not set(told) & set(labels)


@settings(max_examples=40)
@given(ROWS, st.sets(st.integers(0, 3), min_size=1), st.sampled_from([", ", " ", "/", "、"]))
def test_a_key_of_several_letters(row: Lettering, places: set[int], between: str) -> None:
    letters = [row.letters[k] for k in sorted(places)]
    assert as_letters([between.join(letters)], choices(row, 4)) == letters
    if len(letters) > 1:
        backwards = between.join(reversed(letters))
        assert as_letters([backwards], choices(row, 4)) == [backwards]


def test_a_number_that_may_be_a_label_or_a_text_is_no_answer() -> None:
    options = [Choice(label=str(k), text=str(2 * k)) for k in range(1, 5)]
    assert as_letters(["2"], options) == []
    assert as_letters(["(2)"], options) == ["2"]
    assert as_letters(["8"], options) == ["4"]


@given(st.text(max_size=6), ROWS)
def test_any_text_is_read_as_labels_or_not_at_all(text: str, row: Lettering) -> None:
    assert set(read_labels(text, list(row.letters[:4]))) <= set(row.letters[:4])


@settings(max_examples=40)
@given(ROWS, st.lists(st.integers(0, 3), min_size=3, max_size=6))
def test_lists_of_answers_are_read(row: Lettering, places: list[int]) -> None:
    form = "({})" if row.letters.isdecimal() else "{}"
    answers = [form.format(row.letters[k]) for k in places]
    text = "  ".join(f"{n}. {answer}" for n, answer in enumerate(answers, 1))
    key = read_key(lines(text), [str(n) for n in range(1, len(places) + 1)])
    for n, k in enumerate(places, 1):
        assert as_letters(key.get(str(n)) or [], choices(row, 4)) == [row.letters[k]]


@pytest.mark.parametrize(
    ("printed", "answer"),
    [("Ответ: б", "б"), ("Απάντηση: γ", "γ"), ("答案：③", "③"), ("Правильный ответ: В.", "В")],
)
def test_an_answer_below_its_problem_is_read_and_not_asked(printed: str, answer: str) -> None:
    parts = split_inline(lines("Which is right?", printed))
    assert parts.answer == [answer]
    assert [i.text for i in parts.statement if isinstance(i, Line)] == ["Which is right?"]
