from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.extraction.failures import failure, is_loop, is_refusal


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with the images.",
        "I’m unable to view the figures.",
        "As an AI, I do not see pictures.",
        "抱歉，我无法回答这个问题。",
        "Lo siento, no puedo ver las figuras.",
    ],
)
def test_refusals_are_recognised(text: str) -> None:
    assert is_refusal(text)
    assert failure(text, "stop") == "refused"


def test_a_long_solution_that_says_cannot_somewhere_is_no_refusal() -> None:
    text = "The block slides down. " * 60 + "I cannot neglect friction here."
    assert not is_refusal(text)


@given(
    st.text(
        alphabet=st.characters(codec="ascii", exclude_characters="\n"), min_size=3, max_size=80
    ),
    st.text(max_size=50),
)
def test_a_passage_again_and_again_is_a_loop(passage: str, before: str) -> None:
    cut = passage * (200 // len(passage) + 8)
    assert is_loop(before + cut)
    assert is_loop(before + cut[: -len(passage) // 2])


def test_a_solution_with_a_table_is_no_loop() -> None:
    rows = "\n".join(f"| {i} | {i * i} | {i**3} |" for i in range(40))
    assert not is_loop(f"We tabulate.\n{rows}\nThe sum follows.")


def test_what_else_can_fail() -> None:
    assert failure("", None) == "empty"
    assert failure("  \n", "length") == "truncated"
    assert failure("We now compute the", "length") == "truncated"
    assert failure("We now compute the rest.", "stop") is None
