"""One candidate of a worked solution: the row of `rationale/candidates.jsonl`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from omibench.schemas.problem import Noun
from omibench.schemas.request import Outcome

Reference = Literal["none", "sketch", "answer"]
"""What of the reference solution a writer is shown (OMIBench, A.3.1)."""
CandidateReason = Literal[
    "used", "right", "wrong_drawn", "wrong", "short", "paraphrase", "unanswered"
]
"""Why a candidate is kept or not.

`used` is the first right one, which becomes the rationale of its problem; `right` are the others.
`wrong_drawn` are wrong ones that were drawn for annotators, `wrong` all others. `short` and
`paraphrase` are degenerate, right or wrong, and `unanswered` hold no whole reply (`outcome`).
"""


class RationaleCandidate(Noun):
    """A worked solution that a model wrote, what it is worth, and why it is kept or not.

    Right candidates are kept as potential rationales (OMIBench, A.3.1), and beside them a few wrong
    ones for annotators to look at (A.3.2).
    """

    id: str
    """`PROBLEM#SAMPLE`, and `PROBLEM#REFERENCE-SAMPLE` where the reference was shown."""
    problem: str
    sample: Annotated[int, Field(ge=0)]
    """From 0, in the order of asking; those that were shown the reference count apart."""
    reference: Reference = "none"
    model: str
    text: str
    """The reply as it came."""
    steps: list[str] = []
    """Its reasoning, split; the final answer is none of them."""
    outcome: Outcome = "answered"
    verdict: Annotated[float, Field(ge=0, le=1)]
    """Whether its final answer is right, by `rules`."""
    rules: str
    version: int
    """Of the rule book."""
    tokens: Annotated[int, Field(ge=0)]
    """Length of its reasoning, by `rationale.tokenizer`."""
    overlap: Annotated[float, Field(ge=0, le=1)]
    """Share of the words of its reasoning that stand in the question or the answer."""
    kept: bool
    reason: CandidateReason
    key: str
    """Under which the store holds the response."""
    simulated: bool = False
