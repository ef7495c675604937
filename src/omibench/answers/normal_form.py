"""Normal form of an answer: samples with equal normal forms give the same answer."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.answers.extraction.letters import read_letters
from omibench.answers.formulas.latex import MAX_CHARS, squash, tidy
from omibench.answers.letter_case import fold_words
from omibench.answers.quantities.quantity import quantity
from omibench.schemas.problem import AnswerType, Choice

EXACT_DIGITS = 15
"""Decimal digits that a float represents exactly; a longer number is compared as text."""


def normalise_answer(
    answer: str, answer_type: AnswerType, choices: Sequence[Choice] | None = None
) -> str:
    r"""Return the normal form of an extracted answer, without a gold answer.

    For a choice, this is the sorted labels in the answer. For a number, with or without unit, it
    is the value in base units: 1/2, 0.50 and `\frac{1}{2}` are the same, and so are 50 cm and
    0.5 m; 1.5 and 1.6 differ, and so do 0.5 m and 0.5. Anything else is the text in one spelling
    of LaTeX and Unicode, without white space and with ordinary words in lower case; no digit,
    sign, symbol or order is dropped. A text longer than 4,000 characters only loses its white
    space.

    Args:
        answer: Answer extracted from a response.
        answer_type: `mcq` or `open`.
        choices: Choices of a multiple-choice problem.

    Returns:
        A text that is equal for equal answers; not meant for display.
    """
    if len(answer) > MAX_CHARS:
        return "".join(answer.split())
    if answer_type == "mcq":
        named = read_letters(answer, choices)
        return named[0] if named else squash(answer) or answer
    return _normalise_number(answer) or squash(fold_words(tidy(answer))) or answer


def _normalise_number(text: str) -> str | None:
    """Return the value of a number in base units with its unit; None if not an exact number."""
    measured = quantity(text) if sum(map(str.isdigit, text)) <= EXACT_DIGITS else None
    if measured is None or measured.error is not None:
        return None
    factor, dimensions = measured.unit or (1.0, ())
    unit = "·".join(f"{name}^{power}" for name, power in dimensions)
    percent = "%" if measured.percent else ""
    return f"{measured.value * factor + 0.0:.{EXACT_DIGITS}g} {unit}{percent}".strip()
