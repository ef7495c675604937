"""Equivalence of two extracted answers in votes, and validity of answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from omibench.answers.extraction.letters import read_letters
from omibench.answers.match import match_answer
from omibench.answers.normal_form import normalise_answer
from omibench.schemas.problem import AnswerType, Choice
from omibench.schemas.verdict import ScoredItem
from omibench.scorers.registry import score_item
from omibench.scorers.robust import NAME as ROBUST
from omibench.stages.aggregate.sample import Equivalence, Validity

NORMAL_FORM = "normal form"


def make_equivalence(
    rules: str | None, answer_type: AnswerType, choices: Sequence[Choice] | None = None
) -> Equivalence:
    """Return the equivalence of two answers to one problem; gold answers are not used.

    Args:
        rules: The scorer to use, with the first answer as the gold of the second; with None,
            answers are equivalent if their normal forms are equal.
        answer_type: The answer type of the problem.
        choices: Its options.
    """
    return (
        _make_rule_equivalence(rules, answer_type, choices)
        if rules
        else _make_normal_equivalence(answer_type, choices)
    )


def make_validity(choices: Sequence[Choice] | None) -> Validity | None:
    """Return the validity check of answers: for multiple choice, an answer must match an option.

    Args:
        choices: The options of the problem; without options any answer is valid.

    Returns:
        A function that accepts labels, in either case and any brackets, and option texts in normal
        form (USNCO-V, eqs. 4 and 5: an output is valid if it matches an option). None if any answer
        is valid.
    """
    if not choices:
        return None
    labels = {choice.label.strip() for choice in choices}
    single = {label.upper() for label in labels} | {label.upper()[:1] for label in labels}

    @cache
    def is_valid(answer: str) -> bool:
        named = read_letters(answer, choices)
        return answer in labels or (named is not None and named[0] in single)

    return is_valid


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
    """`robust` letters are equivalent if equal, `robust` texts by `match_answer`. Any other scorer
    is
    used as is: one answer as gold, the other in a box.
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
