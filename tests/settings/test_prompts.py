"""Built-in prompts keep the published triggers; a file can replace any of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import ParamsError
from omibench.settings.prompts import PROMPTS, load_prompt

BOX = 'and then provide the final answer in the exact format: "\\boxed{ANSWER}".'


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cot", f"Please reason step by step, {BOX}"),
        ("cot", "Let's think step-by-step!"),
        ("least-to-most", f"Please reason step by step, {BOX}"),
        ("least-to-most", "Let's break down this problem and solve it one by one."),
        ("plan-and-solve", "Let's first understand the problem and devise a plan to solve it."),
        ("plan-and-solve", "let's carry out the plan and solve the problem step by step."),
        ("visualization-of-thought", "Visualize the state after each reasoning step."),
        ("direct", "Return only the final answer in this exact format: \\boxed{ANSWER}."),
        ("emma-cot", 'put the letter in one "\\boxed{}". Please solve the problem step by step.'),
        ("emma-direct", "only contains the final answer without any additional content"),
        ("usnco-v", "(A, B, C, D) from the given choices directly without rationale."),
    ],
)
def test_published_triggers_are_exact(name: str, words: str) -> None:
    assert words in PROMPTS[name].mcq


def test_a_prompt_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("Look.\n{question}\n\n{choices}\n")
    prompt = load_prompt(str(tmp_path / "mine.txt"))
    assert prompt.mcq == prompt.open == "Look.\n{question}\n\n{choices}"


def test_an_unknown_prompt_names_the_nearest() -> None:
    with pytest.raises(ParamsError, match="prompt 'cott' is neither built in nor a file; did you"):
        load_prompt("cott")


@pytest.mark.parametrize(
    "text", ["no slot", "{question} {question}", "{question}{choices}{choices}"]
)
def test_a_file_without_its_slots_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.txt").write_text(text)
    with pytest.raises(ParamsError, match="a prompt holds"):
        load_prompt(str(tmp_path / "bad.txt"))
