"""What stands before a letter, by reading."""

from __future__ import annotations

import pytest

from omibench.answers.extraction.extract import LetterMissing
from omibench.schemas.problem import Choice
from omibench.schemas.request import Conversation, Message, TextPart
from omibench.stages.saliency.ask import CLOSING, LetterContext, add_context, read_context

CHOICES = [Choice(label=label, text=f"{label} is it") for label in "ABCD"]
QUESTION = Conversation(messages=(Message(role="user", parts=(TextPart(text="Which?"),)),))


@pytest.mark.parametrize(
    ("response", "final_letter", "before_answer", "declares"),
    [
        ("B", "", "", (False, False)),
        ("  B.", "", "", (False, False)),
        ("The answer is B.", "The answer is ", "", (False, False)),
        ("It melts.\nAnswer: B", "It melts.\nAnswer: ", "It melts.", (False, False)),
        (
            "The answer is B.\nOr is it? A is hot, which does not fit at all.\n\\boxed{B}",
            "The answer is B.\nOr is it? A is hot, which does not fit at all.\n\\boxed{",
            "The answer is B.\nOr is it? A is hot, which does not fit at all.",
            (True, True),
        ),
        ("It melts.\nSo the answer is B.\n**B**", "It melts.\nSo the answer is ", "It melts.",
         (False, False)),
    ],
)  # fmt: skip
def test_a_response_is_cut_off_before_its_letter_or_its_answer(
    response: str, final_letter: str, before_answer: str, declares: tuple[bool, bool]
) -> None:
    contexts = [read_context(response, CHOICES, r) for r in ("final_letter", "before_answer")]  # type: ignore[arg-type]
    assert contexts == [
        LetterContext("B", final_letter, declares[0]),
        LetterContext("B", before_answer, declares[1]),
    ]


def test_a_response_without_a_letter_has_no_context() -> None:
    assert isinstance(read_context("I do not know.", CHOICES, "final_letter"), LetterMissing)


def test_a_reading_ends_inside_a_turn_or_asks_in_a_new_one() -> None:
    context = LetterContext("B", "It melts. ", declares=False)
    inside = add_context(QUESTION, context, "final_letter")
    assert [(m.role, m.parts[0].text) for m in inside.messages[1:]] == [("assistant", "It melts. ")]  # type: ignore[union-attr]
    after = add_context(QUESTION, context, "before_answer")
    assert [m.role for m in after.messages] == ["user", "assistant", "user"]
    assert after.text.endswith(CLOSING)
    bare = context._replace(text="")
    assert add_context(QUESTION, bare, "final_letter") == QUESTION
    assert add_context(QUESTION, bare, "before_answer") == QUESTION
