"""The samples of one problem: the equivalence of their answers, majority and consistency."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import NamedTuple

from omibench.answers.compare import normalise_answer
from omibench.answers.extraction.letters import read_letters
from omibench.answers.match import match_answer
from omibench.answers.scorers.registry import score_item
from omibench.answers.scorers.robust import NAME as ROBUST
from omibench.schemas.problem import AnswerType, Choice
from omibench.schemas.verdict import ScoredItem

Equivalence = Callable[[str, str], bool]
"""Whether two extracted answers are equivalent, under some scorer."""
Validity = Callable[[str], bool]
"""Whether an extracted answer can be right at all."""


@dataclass(frozen=True)
class Sample:
    """Sample `index` of a model: the extracted answer (None: invalid) and its verdict."""

    index: int
    answer: str | None
    verdict: float = 0.0


def select_valid(samples: list[Sample]) -> list[Sample]:
    """Return the samples with an answer; all of them if none has one."""
    return [s for s in samples if s.answer is not None] or samples


def make_generator(seed: int, *names: str) -> Random:
    """Return a generator that depends only on the seed and the names, not on the order of calls."""
    text = "\0".join((str(seed), *names))
    return Random(hashlib.blake2b(text.encode(), digest_size=8).digest())  # noqa: S311


# Equivalence of two extracted answers in votes, and validity of answers.

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


# Majority over answer-equivalence classes, and agreement of samples.
#
# Self-consistency (OMIBench, H.3; EMMA, section 4.3): the most frequent answer wins, ties are
# drawn. The equivalence is a parameter: equal normal forms (`answers.normal_form`), or optionally a
# scorer. Gold answers are not used. A sample without an answer has no vote, and is not selected
# while another sample has one.

VERSION = 3
"""Version of the vote rules: 1 used each scorer's equivalence; until 2, options were valid only in
upper case.
"""


class AnswerClass(NamedTuple):
    """Samples that gave one answer, in the order drawn; `answer` is the first one's form."""

    answer: str
    members: tuple[Sample, ...]


def group_answers(samples: Sequence[Sample], are_same: Equivalence) -> list[AnswerClass]:
    """Return the classes of valid answers in the order in which they first occur.

    An answer joins the first class whose first member is equivalent, in either direction. A scorer
    whose equivalence is not transitive (an LCS ratio) makes classes that depend on the order of the
    samples; this is the order drawn, so that a smaller k sees a prefix of it.
    """
    members: dict[str, list[Sample]] = {}
    home: dict[str, str] = {}
    for sample in samples:
        if sample.answer is None:
            continue
        text = sample.answer
        if text not in home:
            matches = (a for a in members if are_same(a, text) or are_same(text, a))
            home[text] = next(matches, text)
        members.setdefault(home[text], []).append(sample)
    return [AnswerClass(answer, tuple(group)) for answer, group in members.items()]


def majority(samples: Sequence[Sample], are_same: Equivalence, rng: Random) -> Sample:
    """Return the first sample of the largest class; draw ties between classes from `rng`.

    If no sample has an answer, return the first sample.

    Raises:
        ValueError: There are no samples.
    """
    if not samples:
        raise ValueError("there is no sample to choose from")
    classes = group_answers(samples, are_same)
    if not classes:
        return samples[0]
    largest = max(len(c.members) for c in classes)
    tied = [c for c in classes if len(c.members) == largest]
    return rng.choice(tied).members[0]


def drop_invalid(samples: Sequence[Sample], is_valid: Validity | None) -> list[Sample]:
    """Return the samples with an answer, and a valid one if `is_valid` is given."""
    return [
        sample
        for sample in samples
        if sample.answer is not None and (is_valid is None or is_valid(sample.answer))
    ]


def consistency(
    samples: Sequence[Sample], are_same: Equivalence, is_valid: Validity | None = None
) -> float:
    """Return the share of samples with the most frequent valid answer (USNCO-V, eqs. 4 and 5).

    Samples excluded by `drop_invalid` stay in the denominator.

    Raises:
        ValueError: There are no samples.
    """
    if not samples:
        raise ValueError("there is no sample to compare")
    valid_samples = drop_invalid(samples, is_valid)
    return max((len(c.members) for c in group_answers(valid_samples, are_same)), default=0) / len(
        samples
    )
