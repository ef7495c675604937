"""Wrong answers are plausible, and truly wrong."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.models.simulated.answers import moved_number, wrong_letters, wrong_part, wrong_parts
from omibench.models.simulated.roles import same_answer

SEEDS = st.integers(0, 10**6).map(Random)
PARTS = [
    "12.5", "0", "(a) 90", "1. TRUE", "FALSE", "yes", "T, F, T", "v = 3gh", "a + b", "\\sqrt{gh}",
    "\\frac{a}{b}", "70n + 10", "Fe4N", "g/4", "AC", "mitosis", "55.3 kJ/mol", "2:1", "", "(b) ",
]  # fmt: skip


@given(st.sampled_from(PARTS), SEEDS)
def test_no_wrong_part_is_right(part: str, rng: Random) -> None:
    wrong = wrong_part(part, ["mitosis", "osmosis"], rng)
    assert wrong.strip()
    assert not same_answer(wrong, [part], letters=False)


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4), SEEDS)
def test_one_part_of_several_is_wrong(parts: list[str], rng: Random) -> None:
    wrong = wrong_parts(parts, ["osmosis"], rng)
    assert sum(one != other for one, other in zip(wrong, parts, strict=True)) == 1


@given(st.sets(st.sampled_from("ABCDE"), min_size=1), SEEDS)
def test_wrong_letters_are_another_set(right: set[str], rng: Random) -> None:
    wrong = wrong_letters(sorted(right), list("ABCDE"), rng)
    assert set(wrong) != right
    assert wrong
    assert set(wrong) <= set("ABCDE")


@given(st.decimals(0, 10**6, places=2), SEEDS)
def test_a_moved_number_is_far_away_and_as_precise(value: object, rng: Random) -> None:
    digits = f"{value:.2f}"
    moved = moved_number(digits, rng)
    assert len(moved.partition(".")[2]) == 2
    assert abs(float(moved) - float(digits)) > 0.05 * float(digits)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("TRUE", {"FALSE"}),
        ("(a) No", {"(a) Yes"}),
        ("mitosis", {"osmosis"}),
        ("\\sqrt{gh}", {"2\\sqrt{gh}", "3\\sqrt{gh}", "\\frac{1}{2}\\sqrt{gh}"}),
        ("E = mc", {"E = 2mc", "E = 3mc", "E = \\frac{1}{2}mc"}),
    ],
)
def test_wrong_parts_are_of_the_same_kind(part: str, expected: set[str]) -> None:
    found = {wrong_part(part, ["mitosis", "osmosis"], Random(seed)) for seed in range(40)}
    assert found == expected
