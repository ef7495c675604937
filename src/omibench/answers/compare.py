"""Comparison of two answers, with a reason for the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from omibench.answers.comparison import PartResult
from omibench.answers.credit import compare_answer, compare_letters
from omibench.answers.extraction.letters import read_letters
from omibench.answers.formulas.symbolic import item_time
from omibench.errors import ArgumentError
from omibench.schemas.problem import Choice


@dataclass(frozen=True)
class AnswerComparison:
    """Result of a comparison; truthy if the answers are equal.

    Attributes:
        equal: Whether the answers are equal as a whole.
        reason: One-line reason: `equal as number`, `part 2: missing`.
        credit: Share of correct parts, in [0, 1]; 1 only if all parts are equal.
        parts: Each part of the gold answer with the part of the answer matched to it.
    """

    equal: bool
    reason: str
    credit: float
    parts: tuple[PartResult, ...]

    def __bool__(self) -> bool:
        return self.equal


def compare_answers(
    gold: str | Sequence[str],
    answer: str,
    *,
    choices: Sequence[str] | Mapping[str, str] | None = None,
) -> AnswerComparison:
    r"""Compare an answer with a gold answer by the rules of the scorer `robust`.

    The gold answer determines the comparison: numbers with units, formulas, sets, intervals,
    lists, reactions, words. Neither text is evaluated as code. A comparison takes at most about
    1.5 s of CPU time, after which the answers count as different.

    Examples:
        >>> compare_answers(r"\frac{1}{2}\ \text{m}", "50 cm").reason
        'equal as number'
        >>> compare_answers(["3", "x = 2"], "x = 2").reason
        'part 1: missing'

    Args:
        gold: Gold answer, or its parts, all of which are required.
        answer: Answer without the response around it; to score a whole response, use
            `omibench.score`.
        choices: For multiple choice, the texts of A, B, C, ... or texts by label. Both answers
            are then read as letters or as the text of a choice.

    Returns:
        Whether they are equal, the reason, and the credit of each part.

    Raises:
        ArgumentError: If the gold answer is empty or an argument is not text.
    """
    if not isinstance(gold, Sequence):
        raise ArgumentError(f"gold: is {type(gold).__name__}; give text or a list of texts")
    entries = [gold] if isinstance(gold, str) else list(gold)
    _check_texts("gold", entries)
    _check_texts("answer", [answer])
    if not any(entry.strip() for entry in entries):
        raise ArgumentError("gold: is empty; give the gold answer or a list of its parts")
    with item_time():
        if choices is not None:
            return _compare_choices(", ".join(entries), answer, label_choices(choices))
        match = compare_answer(entries, answer)
    return AnswerComparison(
        match.tier is not None,
        f"equal as {match.tier.removeprefix('same ')}" if match.tier else _explain(match.parts),
        match.credit,
        match.parts,
    )


def label_choices(choices: Sequence[str] | Mapping[str, str]) -> list[Choice]:
    """Add labels to choices.

    Args:
        choices: Texts of A, B, C, ..., or texts by label.

    Raises:
        ArgumentError: If there are no choices, more than 26, or one is not text.
    """
    if isinstance(choices, str) or not isinstance(choices, Mapping | Sequence):
        raise ArgumentError(
            f"choices: is {type(choices).__name__}; give a list of texts, or texts by label"
        )
    if isinstance(choices, Mapping):
        texts = dict(choices)
    else:
        texts = dict(zip(ascii_uppercase, choices, strict=False))
    if not texts or len(texts) < len(choices):
        raise ArgumentError(f"choices: has {len(choices)} entries; give 1 to 26")
    _check_texts("choices", [*texts, *texts.values()])
    return [Choice(label=label, text=text) for label, text in texts.items()]


def check_choices(name: str, gold: str, choices: Sequence[Choice]) -> str:
    """Parse a gold answer as choice letters.

    Args:
        name: Name of the gold answer in error messages.
        gold: Letters, or the text of a choice.
        choices: Choices of the problem.

    Returns:
        Letters of the matching choices.

    Raises:
        ArgumentError: If it matches no choice.
    """
    letters = read_letters(gold, choices)
    if letters is None:
        raise ArgumentError(f"{name}: {gold!r} matches none of the choices")
    return letters[0]


def _compare_choices(gold: str, answer: str, choices: Sequence[Choice]) -> AnswerComparison:
    gold_letters = check_choices("gold", gold, choices)
    answer_letters = read_letters(answer, choices)
    if answer_letters is None:
        return AnswerComparison(False, "matches none of the choices", 0.0, ())
    match = compare_letters(gold_letters, answer_letters[0])
    reason = "equal as letters" if match.tier else _explain(match.parts)
    return AnswerComparison(match.tier is not None, reason, match.credit, match.parts)


def _explain(parts: Sequence[PartResult]) -> str:
    """Return why answers differ: the first incorrect part."""
    wrong = next((part for part in parts if not part.verdict), None)
    if wrong is None:
        return "differs as a whole"
    return f"part {wrong.part}: {wrong.reason}" if wrong.part and len(parts) > 1 else wrong.reason


def _check_texts(name: str, values: Sequence[object]) -> None:
    for value in values:
        if not isinstance(value, str):
            raise ArgumentError(f"{name}: is {value!r} ({type(value).__name__}); give text")
