"""Reasoning is split into steps, and nothing of it is lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.text.pieces import split_steps, strip_final_answer


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("", []),
        ("One sentence.", ["One sentence."]),
        ("Read Fig. 1 first. Then divide. Is it so? Yes.",
         ["Read Fig. 1 first.", "Then divide.", "Is it so?", "Yes."]),
        ("The speed is 1.5 m/s, e.g. In water. So $v = 2. Or$ more. Done.",
         ["The speed is 1.5 m/s, e.g. In water.", "So $v = 2. Or$ more.", "Done."]),
        ("由图一得速度。由图二得路程。", ["由图一得速度。", "由图二得路程。"]),
        ("First.\n\nSecond, with more. Words.", ["First.", "Second, with more. Words."]),
        ("Step 1: read.\nStep 2: divide.", ["Step 1: read.", "Step 2: divide."]),
        ("1. Read.\n2. Divide:\nslowly.", ["1. Read.", "2. Divide:\nslowly."]),
        ("### Step 1: Reading\n\nThe axis.\n\n### Step 2: Sum\nAdd.",
         ["### Step 1: Reading\nThe axis.", "### Step 2: Sum\nAdd."]),
        ("Balance:\n\n$$\nx\n\n= 1\n$$\n\nThen y.", ["Balance:\n$$\nx\n\n= 1\n$$", "Then y."]),
        ("We get\n\\[ a = b \\]\n\nand c.", ["We get\n\\[ a = b \\]", "and c."]),
    ],
)  # fmt: skip
def test_split_steps(text: str, steps: list[str]) -> None:
    assert split_steps(text) == steps


@given(st.text(alphabet="aB1. \n$#=\\[]-*。?", max_size=60))
def test_steps_hold_all_of_the_text(text: str) -> None:
    steps = split_steps(text)
    assert "".join("".join(steps).split()) == "".join(text.split())
    assert all(step.strip() for step in steps)


@pytest.mark.parametrize(
    ("reply", "reasoning"),
    [
        ("Reasoning: a + b.\nFinal Answer: \\boxed{3}", "a + b."),
        ("a + b.\n\n### Final Answer\n\n\\boxed{3}", "a + b."),
        ("{Reasoning: a + b.\n**Final Answer:** $\\boxed{3}$}", "a + b."),
        ("Reasoning: a + b. Final Answer: \\boxed{3}", "a + b."),
        ("a + b, which is not the final answer yet.", "a + b, which is not the final answer yet."),
        ("Final Answer: \\boxed{3}\nFor a + b.", "For a + b."),
        ("Final Answer: \\boxed{3}", ""),
    ],
)
def test_the_final_answer_is_no_reasoning(reply: str, reasoning: str) -> None:
    assert strip_final_answer(reply) == reasoning


def test_long_replies_take_time_that_grows_with_them() -> None:
    start = time.process_time()
    for hostile in ("\n" * 50_000, "final answer\n" * 10_000, "$" * 50_000, "a. " * 20_000):
        split_steps(strip_final_answer(hostile))
    assert time.process_time() - start < 5
