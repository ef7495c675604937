"""Output of the filter: rejected problems, and model judgements of problems."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from omibench.schemas.problem import FrozenModel
from omibench.schemas.request import Outcome


class Reject(FrozenModel):
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


class FilterJudgement(FrozenModel):
    """One model's result on one problem in a judgement of the filter."""

    id: str
    judgement: str
    """`photographs`, `translation`, `completeness`, a screen, or the name of a plug-in's reason."""
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


# One label of a problem and its source: a line of `labels.jsonl`.

LabelKind = Literal["topic", "subfield", "skill", "class"]


class LabelRow(FrozenModel):
    """Labels of one kind that a model or a person gave one problem (OMIBench, A.5)."""

    id: str
    kind: LabelKind
    attribute: Annotated[str, Field(exclude_if=lambda name: not name)] = ""
    """The attribute of a `class`; omitted for other kinds."""
    labels: list[str]
    """None if the reply contained none; then the problem has none of this kind."""
    reason: str = ""
    """Reason in the labeller's words, if requested (EMMA, C.1)."""
    by: str
    """Name of the model in the study, or `person`."""
    simulated: bool = False


# One candidate of a worked solution: the row of `rationale/candidates.jsonl`.

Reference = Literal["none", "sketch", "answer"]
"""Parts of the reference solution shown to a writer (OMIBench, A.3.1)."""
CandidateReason = Literal[
    "used", "right", "wrong_drawn", "wrong", "short", "paraphrase", "unanswered"
]
"""Why a candidate is kept or dropped.

`used` is the first right one, which becomes the rationale of its problem; `right` are the
others. `wrong_drawn` are wrong ones drawn for annotators, `wrong` all others. `short` and
`paraphrase` are degenerate, right or wrong, and `unanswered` have no complete reply (`outcome`).
"""


class RationaleCandidate(FrozenModel):
    """A worked solution written by a model, its evaluation, and why it is kept or dropped.

    Right candidates are kept as potential rationales (OMIBench, A.3.1), with a few wrong ones
    for annotators (A.3.2).
    """

    id: str
    """`PROBLEM#SAMPLE`, and `PROBLEM#REFERENCE-SAMPLE` if the reference was shown."""
    problem: str
    sample: Annotated[int, Field(ge=0)]
    """Index from 0, in the order of requests; those with the reference are counted separately."""
    reference: Reference = "none"
    model: str
    text: str
    """Unchanged reply."""
    steps: list[str] = []
    """Its reasoning, split into steps, without the final answer."""
    outcome: Outcome = "answered"
    verdict: Annotated[float, Field(ge=0, le=1)]
    """Whether its final answer is right, by `rules`."""
    rules: str
    version: int
    """Version of the scorer."""
    tokens: Annotated[int, Field(ge=0)]
    """Length of its reasoning, by `rationale.tokenizer`."""
    overlap: Annotated[float, Field(ge=0, le=1)]
    """Share of the words of its reasoning that occur in the question or the answer."""
    kept: bool
    reason: CandidateReason
    key: str
    """Key of the response in the store."""
    simulated: bool = False
