"""Answer comparison: what a response answered, and whether that equals a gold.

`compare_answers` is for everybody; what else is named here is for the stages that score. Rule books
build on the parts of the engine themselves.
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
    from omibench.answers.match import match_answer as match_answer

__all__ = [
    "AnswerComparison",
    "PartResult",
    "check_choices",
    "compare_answers",
    "extract_answer",
    "label_choices",
    "match_answer",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from omibench.answers import compare, comparison, match
    from omibench.answers.extraction import extract

    homes = {"PartResult": comparison, "extract_answer": extract, "match_answer": match}
    return getattr(homes.get(name, compare), name)
