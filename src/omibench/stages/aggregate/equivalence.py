"""When two extracted answers are one vote: by their normal forms, or by a rule book on request."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from omibench.answers import match_answer, normalise_answer
from omibench.rule_books.registry import score_item
from omibench.rule_books.robust import NAME as ROBUST
from omibench.schemas.problem import AnswerType, Choice
from omibench.schemas.verdict import ScoredItem
from omibench.stages.aggregate.sample import Equivalence

NORMAL_FORM = "normal form"


def make_equivalence(
    rules: str | None, answer_type: AnswerType, choices: Sequence[Choice] | None = None
) -> Equivalence:
    """Make the sameness of two answers to one problem; no gold takes part.

    Args:
        rules: The rule book that is asked, the first answer standing as the gold of the second;
            None: answers are one where their normal forms are equal.
        answer_type: Of the problem.
        choices: Its options.
    """
    return (
        _make_rule_equivalence(rules, answer_type, choices)
        if rules
        else _make_normal_equivalence(answer_type, choices)
    )


def _make_normal_equivalence(
    answer_type: AnswerType, choices: Sequence[Choice] | None
) -> Equivalence:
    @cache
    def normalise(answer: str) -> str:
        return normalise_answer(answer, answer_type, choices)

    return lambda first, second: normalise(first) == normalise(second)


def _make_rule_equivalence(
    rules: str, answer_type: AnswerType, choices: Sequence[Choice] | None
) -> Equivalence:
    """Robust letters are the same when they are equal, robust texts when `match_answer` finds them
    so. Any other rule book is asked as it stands: one answer as gold, the other in a box."""

    @cache
    def are_same(gold: str, answer: str) -> bool:
        if gold == answer:
            return True
        if rules == ROBUST:
            return answer_type == "open" and match_answer([gold], answer) is not None
        item = ScoredItem(
            id="", prediction=f"\\boxed{{{answer}}}", gold=[gold], answer_type=answer_type,
            choices=list(choices) if choices else None,
        )  # fmt: skip
        return score_item(item, rules).verdict >= 1.0

    return are_same
