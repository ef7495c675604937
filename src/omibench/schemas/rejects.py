"""What the filter says of problems: which it turned away, and what models said of them."""

from __future__ import annotations

from omibench.schemas.problem import Noun


class Reject(Noun):
    """One problem that the filter turned away, why, and on what evidence.

    `reasons` are all that apply and `evidences` what each rests on; the first ones are also
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
    """What one model said of one problem in a judgement of the filter."""

    id: str
    judgement: str
    """`photographs`, `translation`, `completeness`, `one_image`, `captions` or `difficulty`."""
    model: str
    role: str
    asked: int
    """How many requests the model answered about this problem."""
    right: int | None = None
    """How many of its answers are right by `robust`; null where no answer was asked for."""
    answers: list[str]
    """What was found in each reply: answer, caption, vote, translation, or why there is none."""
    keys: list[str]
    """The keys by which the store holds the replies."""
    simulated: bool = False
