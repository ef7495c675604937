"""One candidate of a worked solution: the row of `rationale/candidates.jsonl`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from omibench.schemas.problem import Noun
from omibench.schemas.request import Outcome

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


class RationaleCandidate(Noun):
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
