"""The best chain of numbers: lists inside problems, instructions above them, misread numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from omibench.stages.ocr.layout.layout import Box, Item, Line
from omibench.stages.ocr.structure.segment import best_chain, find_candidates, mend_chain


def flow(*rows: tuple[str, float], engine: str = "textlayer") -> list[Item]:
    """Lines of (text, indent) below each other, as an engine read them."""
    return [
        Line(1, Box(60 + x, 12.0 * k, 400, 12.0 * k + 10), text, 10, baseline=12.0 * k + 8,
             indent=x, engine=engine)
        for k, (text, x) in enumerate(rows)
    ]  # fmt: skip


def values(items: list[Item]) -> list[int]:
    return [c.number.value for c in best_chain(find_candidates(items))]


def test_parts_of_one_problem_are_one_problem() -> None:
    items = flow(("B1 a) x", 0), ("B1 b) y", 0), ("B2 a) z", 0), ("B2 b) w", 0))
    assert [(c.index, c.number.value) for c in find_candidates(items)] == [(0, 1), (2, 2)]


def test_a_list_that_fills_the_last_problem_is_not_the_paper() -> None:
    items = flow(
        ("1. A", 0), ("2. B", 0), ("3. C", 0), ("1. one", 30), ("2. two", 30), ("3. three", 30)
    )
    assert [c.index for c in best_chain(find_candidates(items))] == [0, 1, 2]


def test_a_longer_paper_below_its_outdented_instructions_is_the_paper() -> None:
    rules = [(f"{k}. rule", 0.0) for k in (1, 2)]
    items = flow(*rules, *((f"{k}. problem", 30.0) for k in range(1, 6)))
    assert [c.index for c in best_chain(find_candidates(items))] == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("misread", ["l. B", "I. B", "21. B", "1, B", "1 、B"])
def test_a_first_number_that_an_engine_misread_is_mended(misread: str) -> None:
    items = flow((misread, 0), ("text", 15), ("2. C", 0), ("3. D", 0), engine="rapidocr")
    chain = best_chain(find_candidates(items))
    assert [(c.index, c.number.value) for c in mend_chain(items, chain)][:2] == [(0, 1), (2, 2)]


@pytest.mark.parametrize("misread", ["S. B", "5, B", "5A ball", "s) B"])
def test_a_number_between_others_that_an_engine_misread_is_mended(misread: str) -> None:
    items = flow(
        *((f"{k}. A", 0.0) for k in range(1, 5)), (misread, 0), ("6. C", 0), engine="rapidocr"
    )
    chain = mend_chain(items, best_chain(find_candidates(items)))
    assert [c.number.value for c in chain] == [1, 2, 3, 4, 5, 6]


def test_nothing_is_mended_in_a_text_layer_nor_where_two_lines_may_be_meant() -> None:
    rows = [("1. A", 0.0), ("2, b", 0.0), ("3. C", 0.0)]
    printed = flow(*rows)
    assert len(mend_chain(printed, best_chain(find_candidates(printed)))) == 2
    read = flow(rows[0], rows[1], rows[1], rows[2], engine="rapidocr")
    assert len(mend_chain(read, best_chain(find_candidates(read)))) == 2
    inset = [replace(i, indent=40.0) if k == 1 else i for k, i in enumerate(flow(*rows, engine="x"))
             if isinstance(i, Line)]  # fmt: skip
    assert len(mend_chain(inset, best_chain(find_candidates(inset)))) == 2
    assert mend_chain([], []) == []


def test_values_skip_what_is_missing() -> None:
    assert values(flow(("1. A", 0), ("2. B", 0), ("5. C", 0), ("6. D", 0))) == [1, 2, 5, 6]


def test_of_two_numberings_that_take_turns_the_one_that_begins_is_the_paper() -> None:
    items = flow(*((row, 0.0) for k in (1, 2, 3) for row in (f"{k}) Let a substance", f"X{k} be")))
    assert [c.index for c in best_chain(find_candidates(items))] == [0, 2, 4]
