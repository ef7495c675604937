"""Built-in prompts keep the published triggers; a file can replace any of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import ParamsError
from omibench.settings.present import load_prompt
from omibench.settings.registry import PROMPTS

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
        (
            "emma-direct",
            "Answer with the option's letter from the given choices and put the letter",
        ),
        (
            "usnco-v",
            "* Answer with the option's letter (A, B, C, D) from the given choices directly",
        ),
        ("usnco-v", "(A, B, C, D) from the given choices directly without rationale."),
        ("usnco-v-cot", "* Firstly, analyze and solve the question step by step with rationale.\n"),
        ("usnco-v-cot", "\n* Finally, answer with the option's letter (A, B, C, D) from the given"),
        (
            "in-context",
            f"Please reason step by step, {BOX}\n\n{{examples}}\n\n[REQUEST]\n",
        ),
        ("mathreal", "Please solve the problem in the image by following these steps"),
        ("mathreal", "1. Problem Analysis: "),
        ("mathreal", "2. Solution Process: "),
        ("mathreal", "3. Final Answer: Place the answer inside \\boxed{}. If there are multiple "),
        ("mathreal", "If there are multiple answers, place each one inside a separate \\boxed{}."),
        ("mathreal-iuer", "1. OCR of the Question Text: "),
        ("mathreal-iuer", "2. Figure Understanding: "),
        ("mathreal-iuer", "3. Solution Process: "),
        ("mathreal-iuer", "4. Final Answer: Place the answer inside \\boxed{}."),
    ],
)
def test_published_triggers_are_exact(name: str, words: str) -> None:
    assert words in PROMPTS.get(name).mcq


def test_a_prompt_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("Look.\n{question}\n\n{choices}\n")
    prompt = load_prompt(str(tmp_path / "mine.txt"))
    assert prompt.mcq == prompt.open == "Look.\n{question}\n\n{choices}"


def test_an_unknown_prompt_names_the_nearest() -> None:
    with pytest.raises(
        ParamsError, match="prompt 'cott' is neither a built-in prompt nor a file; did you"
    ):
        load_prompt("cott")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no slot", "lacks {question}"),
        ("{question} {question}", "a prompt contains"),
        ("{question}{choices}{choices}", "a prompt contains"),
    ],
)
def test_a_file_without_its_slots_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.txt").write_text(text)
    with pytest.raises(ParamsError, match=said):
        load_prompt(str(tmp_path / "bad.txt"))


def test_an_open_problem_has_the_other_of_emmas_prompts() -> None:
    words = "Answer the question using a single word or phrase and put the answer in one"
    assert words in PROMPTS.get("emma-cot").shape(lettered=False)
    assert words not in PROMPTS.get("emma-cot").shape(lettered=True)


def test_a_system_message_goes_with_problems_of_both_kinds(tmp_path: Path) -> None:
    both, terse, other = (
        f"{system}{{question}}"
        for system in ("", "[[system]]\nTerse.\n[[user]]\n", "[[system]]\nKind.\n[[user]]\n")
    )
    files = {name: str(tmp_path / f"{name}.txt") for name in ("emma-cot", "emma-cot-open")}

    def load(with_choices: str, without: str) -> str:
        for file, text in zip(files.values(), (with_choices, without), strict=True):
            Path(file).write_text(text)
        return load_prompt("emma-cot", files).system

    assert load(terse, both) == load(terse, terse) == "Terse."
    for with_choices, without in ((both, terse), (terse, other)):
        with pytest.raises(ParamsError, match=r"emma-cot-open\.txt: its system message differs"):
            load(with_choices, without)
