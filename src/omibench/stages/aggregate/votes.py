"""Majority over answer-equivalence classes, and agreement of samples.

Self-consistency (OMIBench, H.3; EMMA, section 4.3): the most frequent answer wins, ties are drawn.
The equivalence is a parameter: equal normal forms (`answers.normal_form`), or optionally a scorer.
Gold answers are not used. A sample without an answer has no vote, and is not selected while another
sample has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from omibench.stages.aggregate.sample import Equivalence, Sample, Validity

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
