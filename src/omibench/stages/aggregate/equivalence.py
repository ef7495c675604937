"""When two extracted answers are one: the rule book is asked, the first being the gold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from omibench.answers import match_answer
from omibench.rule_books.registry import score_item
from omibench.rule_books.robust import NAME as ROBUST
from omibench.schemas.problem import AnswerType, Choice
from omibench.schemas.verdict import ScoredItem
from omibench.stages.aggregate.sample import Equivalence


def make_equivalence(
    rules: str, answer_type: AnswerType, choices: Sequence[Choice] | None = None
) -> Equivalence:
    """Sameness of two answers to one problem under a rule book.

    Robust letters are the same when they are equal, robust texts when `match_answer` finds them so.
    Any other rule book is asked as it stands: one answer as gold, the other in a box.
    """

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
