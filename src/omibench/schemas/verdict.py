"""Data types of scoring: the extracted answer of a response, and its verdict."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from omibench.schemas.problem import AnswerType, Choice, FrozenModel
from omibench.schemas.request import Outcome

VerdictOutcome = Literal[
    "scored", "unparsed", "loop", "refused", "truncated", "empty", "provider_error",
    "budget_stop", "judge_failed", "unjudged",
]  # fmt: skip

FAILURES: tuple[VerdictOutcome, ...] = (
    "unparsed", "loop", "refused", "truncated", "empty", "provider_error", "budget_stop",
    "judge_failed", "unjudged",
)  # fmt: skip
"""Outcomes without an answer: counted as wrong under published rules, and as unknown in bounds."""

UNANSWERED: tuple[VerdictOutcome, ...] = ("unparsed", "loop", "refused", "truncated", "empty")
"""Failures of the model itself: a response exists but contains no answer."""

NOT_JUDGED: tuple[VerdictOutcome, ...] = ("judge_failed", "unjudged")
"""Failures of judges: the response can contain an answer of unknown correctness."""

RIGHT = 0.5
"""Threshold at which a verdict, or a label with partial credit, counts as right."""


class ScoredItem(FrozenModel):
    """A response with its gold answer: the complete input of a scorer."""

    id: str
    """Id of the problem, for messages."""
    prediction: str
    """Unchanged text of the response."""
    gold: Annotated[list[str], Field(min_length=1)]
    """Gold answer, part by part; for a choice its letters."""
    answer_type: AnswerType
    """`mcq` for a choice, `open` for everything else."""
    choices: list[Choice] | None = None
    finish_reason: str | None = None
    """As reported by the provider; `length` if the response was truncated."""
    outcome: Outcome = "answered"
    published_verdict: float | None = None
    """Verdict printed with a recorded response, in [0, 1]."""


class Verdict(FrozenModel):
    """Verdict of one scorer on one response.

    `verdict` is in [0, 1], `credit` is the share of correct parts, `strict` is 1 if all are, in
    scorers whose verdict is that share (MathReal), and `ratio` is the value of OMIBench's eq. 6
    (each None if the scorer does not report it). `outcome` is `scored` if the scorer found an
    answer to compare, otherwise the reason. A verdict whose outcome is not `scored` is 0.
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


# Marks of the built-in judges of reasoning, from 1 (worst) to 5, by instrument.
#
# They are columns of JudgementRow and of label files, and dimensions of certificates.

QUALITY_MARKS: Final = (
    "correctness", "faithfulness", "information_usage", "clarity", "detail", "overall",
)  # fmt: skip
"""Marks of a rationale (OMIBench, B.2)."""
ALIGNMENT_MARK: Final = "alignment"
"""Mark of a rationale compared with the reference solution."""
MARKS: Final = (*QUALITY_MARKS, ALIGNMENT_MARK)
NO_ERROR: Final = "no_error"
"""The type of error of a right answer."""
MARKS_BY_INSTRUMENT: Final[dict[str, tuple[str, ...]]] = {
    "quality": QUALITY_MARKS,
    "alignment": (ALIGNMENT_MARK,),
}
LOWEST_MARK: Final = 1.0
HIGHEST_MARK: Final = 5.0
