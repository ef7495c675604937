"""The chain of problem numbers, and sections of answers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.ocr.layout.layout import Box, Item, Line
from omibench.stages.ocr.structure.numbering import split_answers
from omibench.stages.ocr.structure.segment import best_chain, find_candidates


def paper(*rows: tuple[str, float, bool]) -> list[Item]:
    """Lines of (text, indent, bold) below each other."""
    return [
        Line(1, Box(60 + x, 12.0 * k, 400, 12.0 * k + 10), text, 10, bold, 12.0 * k + 8, indent=x)
        for k, (text, x, bold) in enumerate(rows)
    ]


def chained(flow: list[Item]) -> list[tuple[int, int]]:
    return [(c.index, c.number.value) for c in best_chain(find_candidates(flow))]


def test_a_list_inside_a_problem_does_not_continue_the_numbering() -> None:
    flow = paper(
        ("1. First", 0, True),
        ("2. Second, with statements", 0, True),
        ("1. one", 20, False),
        ("2. two", 20, False),
        ("3. three", 20, False),
        ("4. four", 20, False),
        ("3. Third", 0, True),
        ("4. Fourth", 0, True),
    )
    assert chained(flow) == [(0, 1), (1, 2), (6, 3), (7, 4)]


def test_instructions_with_numbers_do_not_replace_the_first_problems() -> None:
    texts = ["1. Use a pen.", "2. Do not talk.", "1. A ball", "2. A disc", "3. A rod", "4. A ring"]
    assert chained(paper(*((text, 0, False) for text in texts))) == [(2, 1), (3, 2), (4, 3), (5, 4)]


def test_a_named_style_wins_over_longer_lists() -> None:
    flow = paper(
        ("Problem 1. Facts", 0, False),
        *((f"{k}. fact", 0, False) for k in range(1, 4)),
        ("Problem 2. Laws", 0, False),
    )
    assert chained(flow) == [(0, 1), (4, 2)]


def test_a_paper_without_numbers_has_no_problems() -> None:
    assert chained(paper(("Nothing here", 0, False), ("3. only one", 0, False))) == []


def test_an_answer_section_is_cut_off_but_the_word_answers_is_not() -> None:
    flow = paper(
        ("1. A question about answers", 0, False),
        ("Answers", 0, False),
        ("2. Another", 0, False),
        ("Answer key", 0, True),
        ("1. B", 0, False),
    )
    front, back = split_answers(flow, 10)
    assert (len(front), len(back)) == (3, 1)
    assert split_answers(paper(("Answer key", 0, True), ("1. B", 0, False)), 10)[1] == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["1. a", "2. b", "3. c", "4. d", "Problem 1", "Problem 2", "x", "7) y"]
            ),
            st.sampled_from([0.0, 20.0]),
            st.booleans(),
        ),
        max_size=30,
    )
)
def test_a_chain_rises_in_one_style_and_in_reading_order(
    rows: list[tuple[str, float, bool]],
) -> None:
    chain = best_chain(find_candidates(paper(*rows)))
    assert [c.index for c in chain] == sorted({c.index for c in chain})
    values = [c.number.value for c in chain]
    assert all(0 < b - a <= 4 for a, b in pairwise(values))
    assert len({c.number.style for c in chain}) <= 1


@given(st.integers(2, 60))
def test_a_plain_numbering_is_found_whole(count: int) -> None:
    rows: list[tuple[str, float, bool]] = []
    for k in range(1, count + 1):
        rows += [(f"{k}. Question", 0.0 if k < 10 else -5.0, False), ("body text", 14.0, False)]
    assert [value for _, value in chained(paper(*rows))] == list(range(1, count + 1))


def test_candidates_stand_at_the_left_of_their_row(line: Callable[..., Line]) -> None:
    assert find_candidates([line("2. B", x=300, starts=False)]) == []
    assert find_candidates([line("2. B", upright=False)]) == []
