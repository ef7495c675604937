"""When two extracted answers are one vote, and when an answer is valid at all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from omibench.answers import match_answer, normalise_answer, read_letters
from omibench.rule_books.registry import score_item
from omibench.rule_books.robust import NAME as ROBUST
from omibench.schemas.problem import AnswerType, Choice
from omibench.schemas.verdict import ScoredItem
from omibench.stages.aggregate.sample import Equivalence, Validity

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


def make_validity(choices: Sequence[Choice] | None) -> Validity | None:
    """Make the validity of an answer: of a multiple-choice problem it names one of the options.

    Args:
        choices: The options of the problem; without them any answer is valid.

    Returns:
        Whether an answer is valid: a label, in either case and whatever brackets it stands in, or
        the text of an option, as the normal form reads it (USNCO-V, eqs. 4 and 5: an output is
        valid where it matches an option). None where any is.
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
