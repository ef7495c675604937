"""The nouns of scoring: what was extracted from a response, and what it is worth."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from omibench.schemas.problem import AnswerType, Choice, Noun
from omibench.schemas.request import Outcome

VerdictOutcome = Literal[
    "scored", "unparsed", "loop", "refused", "truncated", "empty", "provider_error",
    "budget_stop", "judge_failed", "unjudged",
]  # fmt: skip

FAILURES: tuple[VerdictOutcome, ...] = (
    "unparsed", "loop", "refused", "truncated", "empty", "provider_error", "budget_stop",
    "judge_failed", "unjudged",
)  # fmt: skip
"""Outcomes that are no answer: counted as wrong in the published way, and as unknown in bounds."""

UNANSWERED: tuple[VerdictOutcome, ...] = ("unparsed", "loop", "refused", "truncated", "empty")
"""Failures of the model itself: a response came, and it holds no answer."""

NOT_JUDGED: tuple[VerdictOutcome, ...] = ("judge_failed", "unjudged")
"""Failures of judges: the response may hold an answer, and nobody says whether it is right."""

RIGHT = 0.5
"""From here on a verdict, or a label with partial credit, counts as right."""


class ScoredItem(Noun):
    """One response beside its gold: all that a scoring rule may look at."""

    id: str
    """The problem's, for messages."""
    prediction: str
    """The response's text as it came."""
    gold: Annotated[list[str], Field(min_length=1)]
    """The right answer, part by part; of a choice its letters."""
    answer_type: AnswerType
    """`mcq` for a choice, `open` for everything else."""
    choices: list[Choice] | None = None
    finish_reason: str | None = None
    """As the provider says it; `length` where the response was cut off."""
    outcome: Outcome = "answered"
    published_verdict: float | None = None
    """The verdict printed beside a recorded response, in [0, 1]."""


class Verdict(Noun):
    """What one rule book says of one response.

    `verdict` is in [0, 1], `credit` the share of parts that are right, `strict` 1 where all are, in
    rule books whose verdict is that share (MathReal), and `ratio` the value of OMIBench's eq. 6
    (each None where the rule book gives none); `outcome` is `scored` when the rule found an answer
    to compare, and otherwise names why there is none. A verdict whose outcome is not `scored` is 0.
    """

    extracted: str | None
    method: str
    verdict: Annotated[float, Field(ge=0, le=1)]
    credit: Annotated[float, Field(ge=0, le=1)] | None = None
    strict: Annotated[float, Field(ge=0, le=1)] | None = None
    ratio: Annotated[float, Field(ge=0, le=1)] | None = None
    outcome: VerdictOutcome = "scored"
    rules: str
    version: int
