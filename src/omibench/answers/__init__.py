"""Answer comparison: what a response answered, and whether that equals a gold.

`compare_answers` is for everybody; what else is named here is for the libraries and stages that
build on it. Rule books build on the parts of the engine themselves.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from omibench.answers.compare import AnswerComparison as AnswerComparison
    from omibench.answers.compare import check_choices as check_choices
    from omibench.answers.compare import compare_answers as compare_answers
    from omibench.answers.compare import label_choices as label_choices
    from omibench.answers.comparison import PartResult as PartResult
    from omibench.answers.extraction.extract import extract_answer as extract_answer
    from omibench.answers.extraction.letter_place import LetterMissing as LetterMissing
    from omibench.answers.extraction.letter_place import (
        find_declared_option as find_declared_option,
    )
    from omibench.answers.extraction.letter_place import find_letter_place as find_letter_place
    from omibench.answers.match import match_answer as match_answer
    from omibench.answers.normal_form import normalise_answer as normalise_answer

_HOMES: Final = {
    "AnswerComparison": "compare",
    "LetterMissing": "extraction.letter_place",
    "PartResult": "comparison",
    "check_choices": "compare",
    "compare_answers": "compare",
    "extract_answer": "extraction.extract",
    "find_declared_option": "extraction.letter_place",
    "find_letter_place": "extraction.letter_place",
    "label_choices": "compare",
    "match_answer": "match",
    "normalise_answer": "normal_form",
}
"""The module that each public name is imported from, when it is first used."""

__all__ = [
    "AnswerComparison",
    "LetterMissing",
    "PartResult",
    "check_choices",
    "compare_answers",
    "extract_answer",
    "find_declared_option",
    "find_letter_place",
    "label_choices",
    "match_answer",
    "normalise_answer",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"omibench.answers.{_HOMES[name]}"), name)
