from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.items import make_item

from omibench.answers.compare import PartResult, compare_answer, compare_letters
from omibench.answers.scorers.robust import compare, score


@pytest.mark.parametrize(
    ("gold", "pred", "credit"),
    [
        (["20", "40", "30"], "20, 40, 30", 1),
        (["20", "40", "30"], "20, 40, 31", 2 / 3),
        (["20", "40", "30"], "20, 30", 2 / 3),
        (["20", "40", "30"], "20, 40, 30, 50", 3 / 4),
        (["24", "60"], "60, 24", 0),
        (["a) FALSE b) TRUE c) TRUE"], "a) FALSE b) FALSE c) TRUE", 2 / 3),
        (["T", "F", "T", "F"], "TTTF", 3 / 4),
        (["A", "C", "F"], "F, A", 2 / 3),
        (["A", "C"], "A, B, C, D", 1 / 2),
        (["$R_1=5$", "$R_2=6$"], "R_2 = 6, R_1 = 7", 1 / 2),
        (["A: 3; B: 4"], "B: 4", 1 / 2),
        (["12 cm"], "13 cm", 0),
    ],
)
def test_credit_is_the_share_of_parts(gold: list[str], pred: str, credit: float) -> None:
    assert compare_answer(gold, pred).credit == pytest.approx(credit)


def test_a_comparison_names_every_part_and_says_why() -> None:
    match = compare_answer(["a) 3 m b) TRUE c) 7"], "a) 300 cm b) FALSE")
    assert match.tier is None
    assert match.parts == (
        PartResult("a", "3 m", "300 cm", True, "number"),
        PartResult("b", "TRUE", "FALSE", False, "truth value"),
        PartResult("c", "7", None, False, "missing"),
    )


def test_letters_of_a_choice_are_parts() -> None:
    assert compare_letters("B", "C").parts == (PartResult("", "B", "C", False, "letters"),)
    assert compare_letters("CD", "C").credit == 1 / 2
    assert compare_letters("CD", "CD").credit == 1


@given(
    st.lists(st.integers(10, 99), min_size=2, max_size=6),
    st.lists(st.integers(10, 99), min_size=1, max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_credit_is_full_for_right_answers_alone(gold: list[int], pred: list[int]) -> None:
    item = make_item(f"\\boxed{{{', '.join(map(str, pred))}}}", [str(g) for g in gold])
    verdict, match = score(item), compare(item).match
    assert verdict.credit is not None
    assert match is not None
    assert verdict.credit == match.credit
    assert (verdict.verdict == 1) == (verdict.credit == 1) == (gold == pred)
