"""Degenerate rationales: too short to explain, or question and answer in other words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from omibench.schemas.problem import Problem
from omibench.stages.rationale.tokenizers import CountTokens
from omibench.text.steps import strip_final_answer

Defect = Literal["short", "paraphrase"]
_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+|\d+(?:[.,]\d+)*")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_ENUMERATION: Final = re.compile(
    r"^[ \t#*>]*(?:step[ \t]*)?\d{1,2}[.):]|\b(?:step|figure|fig\.?)[ \t]*\d{1,2}\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Numbers that count steps and figures: no result of any step."""
_EQUATION: Final = re.compile(
    r"[^\s=≈]{1,40}[ \t]{0,4}(?:=|≈|\\approx|\\Rightarrow|⇒)[ \t]{0,4}[^\s=≈]{1,40}"
)


class DegeneracyRule(NamedTuple):
    """What makes a rationale degenerate (OMIBench, A.3.1).

    Attributes:
        count_tokens: The tokenizer.
        min_tokens: Fewer tokens of reasoning explain nothing.
        max_overlap: From this share of words on it says what the question or the answer says.
    """

    count_tokens: CountTokens
    min_tokens: int
    max_overlap: float


class Measures(NamedTuple):
    """What was measured of a rationale.

    Attributes:
        tokens: Of its reasoning, without the final answer.
        overlap: Share of its words that stand in the question or the answer, in [0, 1].
        defect: Why it is degenerate; None where it is not.
    """

    tokens: int
    overlap: float
    defect: Defect | None


def measure_rationale(reply: str, problem: Problem, rule: DegeneracyRule) -> Measures:
    """Measure a rationale and say whether it is degenerate (OMIBench, A.3.1).

    It is where its reasoning is too short, or where its words are those of question, choices and
    answer and no intermediate step is among them: no number and no equation that these lack. What
    repeats a whole reference solution has the steps of that.

    Args:
        reply: The reply as it came.
        problem: What was asked, and its answer.
        rule: The limits.

    Returns:
        The measures, and the defect where there is one.
    """
    reasoning = strip_final_answer(reply)
    sources = [problem.question, *_list_choices(problem), *(problem.answer or [])]
    tokens, overlap = rule.count_tokens(reasoning), measure_overlap(reasoning, sources)
    defect: Defect | None = None
    if tokens < rule.min_tokens:
        defect = "short"
    elif overlap >= rule.max_overlap and not has_own_result(reasoning, sources):
        defect = "paraphrase"
    return Measures(tokens, round(overlap, 4), defect)


def measure_overlap(text: str, sources: Sequence[str]) -> float:
    """Share of the words, numbers and Chinese characters of a text that stand in the sources.

    Args:
        text: What is looked at.
        sources: What it may repeat.

    Returns:
        A share in [0, 1]; 0 for a text without words.
    """
    words = _list_words(text)
    known = {word for source in sources for word in _list_words(source)}
    return sum(word in known for word in words) / len(words) if words else 0.0


def has_own_result(text: str, sources: Sequence[str]) -> bool:
    """Whether a text states a number or an equation that none of the sources states.

    Args:
        text: What is looked at.
        sources: What it may repeat.

    Returns:
        True where it has a result of its own. Numbers of steps and figures are none.
    """
    joined = "\n".join(sources)
    plain = _ENUMERATION.sub(" ", text)
    if set(_NUMBER.findall(plain)) - set(_NUMBER.findall(joined)):
        return True
    stated = "".join(joined.split())
    return any("".join(match.split()) not in stated for match in _EQUATION.findall(plain))


def _list_words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _list_choices(problem: Problem) -> list[str]:
    return [choice.text for choice in problem.choices or [] if choice.text]
