from __future__ import annotations

import pytest

from omibench.answers.match import is_letter_set, match_answer, truth, truths
from omibench.answers.multipart import AnswerPart, by_truth


def parts(*texts: str) -> list[AnswerPart]:
    return [AnswerPart("", text) for text in texts]


@pytest.mark.parametrize(
    ("text", "value"),
    [("T", True), ("(b) False", False), ("falso", False), ("Verdadero.", True), ("V", None),
     ("t", None), ("a) f", None), ("yes", None), ("truth", None), ("", None)],
)  # fmt: skip
def test_truth_values_are_read(text: str, value: bool | None) -> None:
    assert truth(text) is value


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [("$T$", "t", False), ("$T$", r"\text{true}", False), ("$F$", "false", False),
     (r"\(F\)", "false", False), ("T", "t", False), ("$T$", "T", True), ("T", "true", True),
     ("False", "F", True), ("T, F", "t, f", True)],
)  # fmt: skip
def test_a_letter_in_mathematics_is_no_truth_value(gold: str, pred: str, equal: bool) -> None:
    assert (match_answer([gold], pred) is not None) is equal


def test_a_v_is_a_truth_value_in_a_list_alone() -> None:
    assert truths(parts("V", "F")) == [True, False]
    assert truths(parts("V", "F", "A")) is None


@pytest.mark.parametrize(
    ("letters", "is_set"), [("AC", True), ("ca", True), ("TF", False), ("AA", False), ("A5", False)]
)
def test_letters_of_options_are_a_set(letters: str, is_set: bool) -> None:
    assert is_letter_set(parts(*letters)) is is_set


def test_labelled_letters_are_no_set() -> None:
    assert not is_letter_set([AnswerPart("a", "C"), AnswerPart("b", "B")])


@pytest.mark.parametrize(
    ("text", "count"),
    [("TFFT", 4), ("T F F", 3), ("TRUE false", 2), ("VFV", 3), ("TF", 0), ("TVF", 0), ("TREE", 0)],
)
def test_runs_of_truth_values_are_split(text: str, count: int) -> None:
    assert len(by_truth(text)) == count
