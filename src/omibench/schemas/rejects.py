"""Output of the filter: rejected problems, and model judgements of problems."""

from __future__ import annotations

from omibench.schemas.problem import Noun


class Reject(Noun):
    """One problem rejected by the filter, with reasons and evidence.

    `reasons` are all that apply and `evidences` the evidence of each; the first ones are also
    `reason` and `evidence`.
    """

    id: str
    reason: str
    evidence: str
    reasons: list[str]
    evidences: list[str]
    stage: str
    source: str
    number: str
    question: str


class FilterJudgement(Noun):
    """One model's result on one problem in a judgement of the filter."""

    id: str
    judgement: str
    """`photographs`, `translation`, `completeness`, `one_image`, `captions` or `difficulty`."""
    model: str
    role: str
    asked: int
    """Number of requests about this problem that the model answered."""
    right: int | None = None
    """Number of its answers that are right by `robust`; null if no answer was requested."""
    answers: list[str]
    """Content of each reply: answer, caption, vote, translation, or why it is missing."""
    keys: list[str]
    """Keys of the replies in the store."""
    simulated: bool = False
