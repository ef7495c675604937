"""Prompt strategies: the words around a question and its choices.

The short triggers and output formats that define a published protocol are kept exact: OMIBench,
B.1 (`cot`), G.1 (`least-to-most`, `plan-and-solve`, `visualization-of-thought`) and G.2
(`direct`); EMMA, table 5 (`emma-cot`, `emma-direct`); USNCO-V, Methods (`usnco-v`,
`usnco-v-cot`).
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from omibench.errors import ParamsError
from omibench.explain import did_you_mean

QUESTION, CHOICES = "{question}", "{choices}"
_FIELDS = ("question", "choices")


class Prompt(NamedTuple):
    """Two templates, for problems with choices and without; `{question}` and `{choices}` stand in.

    `label` is how a choice begins, `{}` being its letter. A paragraph with `{choices}` is left out
    when there are none.
    """

    mcq: str
    open: str
    label: str = "{}. "


_BLOCKS = f"[Question]\n{QUESTION}\n\n[Choices]\n{CHOICES}"
_STEPWISE = (
    "Please reason step by step, and then provide the final answer in the exact format: "
    f'"\\boxed{{ANSWER}}".\n\n{_BLOCKS}\n\n'
)
_COT = _STEPWISE + "Let's think step-by-step!"
_LEAST_TO_MOST = _STEPWISE + "Let's break down this problem and solve it one by one."
_PLAN_AND_SOLVE = (
    f"{_STEPWISE}Let's first understand the problem and devise a plan to solve it. Then, let's "
    "carry out the plan and solve the problem step by step."
)
_VISUALIZE = _STEPWISE + "Visualize the state after each reasoning step."
_NO_THINK = f"Return only the final answer in this exact format: \\boxed{{ANSWER}}.\n\n{_BLOCKS}"
_EMMA_MCQ = (
    f"{QUESTION}\n{CHOICES}\nAnswer with the option's letter from the given choices and put the "
    'letter in one "\\boxed{}". '
)
_EMMA_OPEN = (
    f"{QUESTION}\nAnswer the question using a single word or phrase and put the answer in one "
    '"\\boxed{}". '
)
_EMMA_COT = "Please solve the problem step by step."
_EMMA_DIRECT = (
    "Please ensure that your output only contains the final answer without any additional content "
    "(such as intermediate reasoning steps)."
)
_USNCO_LETTER = (
    "nswer with the option's letter (A, B, C, D) from the given choices directly without rationale."
)
_USNCO = f"Question: {QUESTION}\n\n{CHOICES}\n\n* A{_USNCO_LETTER}"
_USNCO_COT = (
    f"Question: {QUESTION}\n\n{CHOICES}\n\n"
    "* Firstly, analyze and solve the question step by step with rationale.\n"
    f"* Finally, a{_USNCO_LETTER}"
)

PROMPTS: dict[str, Prompt] = {
    "cot": Prompt(_COT, _COT),
    "least-to-most": Prompt(_LEAST_TO_MOST, _LEAST_TO_MOST),
    "plan-and-solve": Prompt(_PLAN_AND_SOLVE, _PLAN_AND_SOLVE),
    "visualization-of-thought": Prompt(_VISUALIZE, _VISUALIZE),
    "direct": Prompt(_NO_THINK, _NO_THINK),
    "emma-cot": Prompt(_EMMA_MCQ + _EMMA_COT, _EMMA_OPEN + _EMMA_COT, "({}) "),
    "emma-direct": Prompt(_EMMA_MCQ + _EMMA_DIRECT, _EMMA_OPEN + _EMMA_DIRECT, "({}) "),
    "usnco-v": Prompt(_USNCO, _USNCO),
    "usnco-v-cot": Prompt(_USNCO_COT, _USNCO_COT),
}


@lru_cache(maxsize=64)
def load_prompt(name: str) -> Prompt:
    """A built-in prompt by name, or a text file's prompt by its path.

    Raises ParamsError when there is neither, or when the file lacks `{question}`.
    """
    if name in PROMPTS:
        return PROMPTS[name]
    path = Path(name)
    if not path.is_file():
        hint = did_you_mean(name, list(PROMPTS))
        raise ParamsError(f"prompt {name!r} is neither built in nor a file{hint}")
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ParamsError(f"{name}: cannot be read: {error}") from None
    if text.count(QUESTION) != 1 or text.count(CHOICES) > 1:
        raise ParamsError(f"{name}: a prompt holds {QUESTION} once and {CHOICES} at most once")
    for field in re.findall(r"\{([a-z]+)\}", text):
        if f"{{{field}}}" not in (QUESTION, CHOICES) and get_close_matches(field, _FIELDS):
            raise ParamsError(f"{name}: unknown {{{field}}}{did_you_mean(field, _FIELDS)}")
    return Prompt(text.strip(), text.strip())
