"""Majority over answer-equivalence classes, and how far samples agree.

Self-consistency (OMIBench, H.3; EMMA, section 4.3): the most frequent answer wins, ties are drawn.
Which answers are one comes in as a function: those of one normal form (`answers.normal_form`), or
on request those that a rule book calls the same. No gold takes part. A sample without an
answer has no vote, and it cannot be chosen while another sample has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from omibench.stages.aggregate.sample import Equivalence, Sample, Validity

VERSION = 3
"""Of what counts as one vote: 1 was the sameness of each rule book; to 2 an option was valid in
upper case alone."""


class AnswerClass(NamedTuple):
    """Samples that gave one answer, in the order drawn; `answer` is as the first of them put it."""

    answer: str
    members: tuple[Sample, ...]


def group_answers(samples: Sequence[Sample], are_same: Equivalence) -> list[AnswerClass]:
    """The classes of valid answers in the order in which they first occur.

    An answer joins the first class whose first member is the same answer, in either direction. A
    rule book whose sameness is not transitive (an LCS ratio) makes classes that depend on the order
    of the samples; that order is the samples' own, so that a smaller k sees the beginning of it.
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
    """The first sample of the largest class; ties between classes are drawn from `rng`.

    Where no sample holds an answer it is the first sample. Raises ValueError without samples.
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
    """The samples that hold an answer, and a valid one where `is_valid` can tell."""
    return [
        sample
        for sample in samples
        if sample.answer is not None and (is_valid is None or is_valid(sample.answer))
    ]


def consistency(
    samples: Sequence[Sample], are_same: Equivalence, is_valid: Validity | None = None
) -> float:
    """The share of samples that give the most frequent valid answer (USNCO-V, eqs. 4 and 5).

    Samples that `drop_invalid` leaves out stay in the denominator. Raises ValueError without
    samples.
    """
    if not samples:
        raise ValueError("there is no sample to compare")
    valid_samples = drop_invalid(samples, is_valid)
    return max((len(c.members) for c in group_answers(valid_samples, are_same)), default=0) / len(
        samples
    )
