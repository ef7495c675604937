"""The normal form of an answer: samples whose answers have one normal form give one answer."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.answers.extraction.letters import read_letters
from omibench.answers.formulas.latex import MAX_CHARS, squash, tidy
from omibench.answers.letter_case import fold_words
from omibench.answers.quantities.quantity import quantity
from omibench.schemas.problem import AnswerType, Choice

EXACT_DIGITS = 15
"""So many decimal digits a float holds exactly; a longer number is compared as text."""


def normalise_answer(
    answer: str, answer_type: AnswerType, choices: Sequence[Choice] | None = None
) -> str:
    r"""Bring an extracted answer to its normal form, without any gold.

    A choice is the sorted labels that the answer names. A number, with a unit or without, is its
    value in base units: 1/2, 0.50 and `\frac{1}{2}` are one, and so are 50 cm and 0.5 m; 1.5 and
    1.6 are two, 0.5 m and 0.5 as well. All else is the text in one spelling of LaTeX and Unicode,
    without white space, ordinary words in lower case: no digit, sign, symbol or order is dropped.
    Of a text longer than 4,000 characters white space alone is dropped.

    Args:
        answer: What was extracted from a response.
        answer_type: `mcq` or `open`.
        choices: The options of a multiple-choice problem.

    Returns:
        A text that is equal for answers that are one, not meant to be read.
    """
    if len(answer) > MAX_CHARS:
        return "".join(answer.split())
    if answer_type == "mcq":
        named = read_letters(answer, choices)
        return named[0] if named else squash(answer) or answer
    return _normalise_number(answer) or squash(fold_words(tidy(answer))) or answer


def _normalise_number(text: str) -> str | None:
    """The value of a number in base units and its unit; None for what is no exact number."""
    measured = quantity(text) if sum(map(str.isdigit, text)) <= EXACT_DIGITS else None
    if measured is None or measured.error is not None:
        return None
    factor, dimensions = measured.unit or (1.0, ())
    unit = "·".join(f"{name}^{power}" for name, power in dimensions)
    percent = "%" if measured.percent else ""
    return f"{measured.value * factor + 0.0:.{EXACT_DIGITS}g} {unit}{percent}".strip()
