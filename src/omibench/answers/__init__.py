"""Answer comparison: extract answers from responses and compare them with gold answers.

Use `compare_answers` in your own code. The other names exported here are for libraries and
stages. Scorers import the parts of the engine directly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    from omibench.answers.extraction.letters import read_letters as read_letters
    from omibench.answers.match import match_answer as match_answer
    from omibench.answers.normal_form import normalise_answer as normalise_answer

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
    "read_letters",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Keep plain imports: the hash of a stage that imports these names covers the modules imported
    # here.
    from omibench.answers import compare, comparison, match, normal_form
    from omibench.answers.extraction import extract, letter_place, letters

    modules = (compare, comparison, match, normal_form, extract, letter_place, letters)
    return next(getattr(module, name) for module in modules if hasattr(module, name))
