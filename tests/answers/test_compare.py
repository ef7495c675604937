from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.compare import compare_answers, label_choices
from omibench.errors import ArgumentError, OmibenchError


@pytest.mark.parametrize(
    ("gold", "answer", "equal", "reason"),
    [
        (r"\frac{1}{2}\ \text{m}", "50 cm", True, "equal as number"),
        ("12", "12", True, "equal as text"),
        ("12", "13", False, "differs as number"),
        (["3", "2"], "(1) 3 (2) 2", True, "equal as parts"),
        (["3", "x = 2"], "x = 2", False, "part 1: missing"),
        ("12", "", False, "missing"),
    ],
)
def test_the_reason_says_what_was_compared(
    gold: str | Sequence[str], answer: str, equal: bool, reason: str
) -> None:
    comparison = compare_answers(gold, answer)
    assert (comparison.equal, comparison.reason) == (equal, reason)
    assert bool(comparison) is equal
    assert (comparison.credit == 1) is equal


def test_partial_credit_stands_beside_its_parts() -> None:
    comparison = compare_answers(["3", "5"], "3; 7")
    assert comparison.credit == 0.5
    assert [(part.gold, part.answer, part.verdict) for part in comparison.parts] == [
        ("3", "3", True), ("5", "7", False),
    ]  # fmt: skip
    assert comparison.reason == "part 2: differs as number"


@pytest.mark.parametrize(
    ("gold", "answer", "reason"),
    [
        ("B", "b", "equal as letters"),
        ("B", "70 cm", "equal as letters"),
        ("70 cm", "B", "equal as letters"),
        ("B", "A", "differs as letters"),
        ("AB", "A", "part B: missing"),
        ("B", "none of them", "matches none of the choices"),
    ],
)
@pytest.mark.parametrize("choices", [["50 cm", "70 cm"], {"A": "50 cm", "B": "70 cm"}])
def test_choices_are_compared_as_letters(
    gold: str, answer: str, reason: str, choices: Sequence[str] | Mapping[str, str]
) -> None:
    assert compare_answers(gold, answer, choices=choices).reason == reason


@pytest.mark.parametrize(
    ("gold", "answer", "choices", "message"),
    [
        ([], "1", None, "gold: is empty; give the gold answer or a list of its parts"),
        (" ", "1", None, "gold: is empty"),
        ([1, 2], "1", None, r"gold: is 1 \(int\); give text"),
        (12, "1", None, r"gold: is int; give text or a list of texts"),
        ("1", None, None, r"answer: is None \(NoneType\); give text"),
        ("A", "A", "AB", "choices: is str; give a list of texts, or texts by label"),
        ("A", "A", [], "choices: has 0 entries; give 1 to 26"),
        ("A", "A", [1, 2], r"choices: is 1 \(int\); give text"),
        ("Z", "A", ["x", "y"], "gold: 'Z' matches none of the choices"),
    ],
)
def test_a_wrong_argument_is_one_line(
    gold: object, answer: object, choices: object, message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        compare_answers(gold, answer, choices=choices)  # type: ignore[arg-type]


@given(st.text(max_size=40).filter(str.strip), st.text(max_size=40))
def test_any_texts_are_compared(gold: str, answer: str) -> None:
    assert 0 <= compare_answers(gold, answer).credit <= 1


def test_labels_follow_the_alphabet() -> None:
    assert [choice.label for choice in label_choices(["x"] * 26)][-1] == "Z"
    with pytest.raises(OmibenchError, match="has 27"):
        label_choices(["x"] * 27)
