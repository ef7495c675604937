"""Rationales that are too short or repeat the problem, and the tokens by which this is measured."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

from omibench.errors import ParamsError, reason_of
from omibench.extras import require_extra
from omibench.files.reading import read_bytes, read_text
from omibench.params.stages.rationale import WORDS
from omibench.schemas.problem import Problem
from omibench.text.pieces import strip_final_answer

CountTokens = Callable[[str], int]
"""Returns the number of tokens of a text."""
_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")


def open_tokenizer(name: str, option: str = "rationale.tokenizer") -> CountTokens:
    """Return the tokenizer with a name.

    Args:
        name: `words`, where each word, number, Chinese character and sign is a token; or the path
            of a model's `tokenizer.json`, which transformers reads.
        option: The option with the name, for messages.

    Returns:
        A function that counts tokens, without start and end tokens.

    Raises:
        ParamsError: The file is not a tokenizer.
        MissingInputError: The file does not exist.
        MissingExtraError: The package is not installed.
    """
    if name == WORDS:
        return count_words
    read_text(name)
    require_extra("transformers", f"{option}: {name}", "transformers")
    from transformers import PreTrainedTokenizerFast

    try:
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=name)
    except Exception as error:  # the package raises bare exceptions
        raise ParamsError(f"{option}: {name} is not a tokenizer.json: {reason_of(error)}") from None
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False))


def count_words(text: str) -> int:
    """Return the words, numbers, Chinese characters and signs of a text."""
    return len(_WORD.findall(text))


def describe_tokenizer(name: str) -> str:
    """Describe a tokenizer; one from a file by its hash. Raises as `read_bytes`."""
    if name == WORDS:
        return "`words`: each word, number, Chinese character and sign is a token"
    digest = hashlib.sha256(read_bytes(name)).hexdigest()
    return f"the tokenizer of the file with the SHA-256 `{digest}`"


# Degenerate rationales: too short, or a repetition of question and answer.

Defect = Literal["short", "paraphrase"]
_WORD_OR_NUMBER: Final = re.compile(r"[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+|\d+(?:[.,]\d+)*")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_ENUMERATION: Final = re.compile(
    r"^[ \t#*>]*(?:step[ \t]*)?\d{1,2}[.):]|\b(?:step|figure|fig\.?)[ \t]*\d{1,2}\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Numbers of steps and figures, which are not results."""
_EQUATION: Final = re.compile(
    r"[^\s=≈]{1,40}[ \t]{0,4}(?:=|≈|\\approx|\\Rightarrow|⇒)[ \t]{0,4}[^\s=≈]{1,40}"
)


class DegeneracyRule(NamedTuple):
    """Limits for degenerate rationales (OMIBench, A.3.1).

    Attributes:
        count_tokens: The tokenizer.
        min_tokens: The minimum number of reasoning tokens.
        max_overlap: The share of words from which it repeats the question or answer.
    """

    count_tokens: CountTokens
    min_tokens: int
    max_overlap: float


class Measures(NamedTuple):
    """The measurements of a rationale.

    Attributes:
        tokens: Tokens of its reasoning, without the final answer.
        overlap: Share of its words that are in the question or the answer, in [0, 1].
        defect: Why it is degenerate, or None.
    """

    tokens: int
    overlap: float
    defect: Defect | None


def measure_rationale(reply: str, problem: Problem, rule: DegeneracyRule) -> Measures:
    """Measure a rationale and check whether it is degenerate (OMIBench, A.3.1).

    It is if its reasoning is too short, or if its words are those of question, choices and answer
    without an intermediate step: a number or an equation that these lack. A repeated complete
    reference solution has its steps.

    Args:
        reply: The reply.
        problem: The problem with its answer.
        rule: The limits.

    Returns:
        The measurements, and the defect, if any.
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
    """Return the share of a text's words, numbers and Chinese characters that are in the sources.

    Args:
        text: The text.
        sources: The texts that it may repeat.

    Returns:
        A share in [0, 1]; 0 for a text without words.
    """
    words = _list_words(text)
    known = {word for source in sources for word in _list_words(source)}
    return sum(word in known for word in words) / len(words) if words else 0.0


def has_own_result(text: str, sources: Sequence[str]) -> bool:
    """Return whether a text has a number or an equation that no source has.

    Args:
        text: The text.
        sources: The texts that it may repeat.

    Returns:
        True if it has a new result. Numbers of steps and figures do not count.
    """
    joined = "\n".join(sources)
    plain = _ENUMERATION.sub(" ", text)
    if set(_NUMBER.findall(plain)) - set(_NUMBER.findall(joined)):
        return True
    stated = "".join(joined.split())
    return any("".join(match.split()) not in stated for match in _EQUATION.findall(plain))


def _list_words(text: str) -> list[str]:
    return [word.lower() for word in _WORD_OR_NUMBER.findall(text)]


def _list_choices(problem: Problem) -> list[str]:
    return [choice.text for choice in problem.choices or [] if choice.text]
