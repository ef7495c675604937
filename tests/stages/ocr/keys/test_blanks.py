"""Letters printed into the blanks of multiple-choice problems are taken out, others are not."""

from __future__ import annotations

from collections.abc import Callable

from omibench.stages.ocr.layout.layout import Item, Line
from omibench.stages.ocr.structure.solutions import empty_blanks

Column = Callable[..., list[Line]]
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
