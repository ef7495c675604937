"""What a judgement is: what models said of one problem, and whether that rejects it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from omibench.schemas.problem import Problem
from omibench.schemas.problem_warning import ProblemWarning
from omibench.schemas.rejects import FilterJudgement


class Judged(NamedTuple):
    """One problem as a judgement leaves it: rejected where there is `evidence`, else `problem`."""

    problem: Problem
    judgements: Sequence[FilterJudgement]
    evidence: str | None = None


def simulated_note(judgements: Sequence[FilterJudgement]) -> str:
    """Says which of those who told were simulated; empty where nobody was."""
    names = dict.fromkeys(row.model for row in judgements if row.simulated)
    return f"; SIMULATED ({', '.join(names)})" if names else ""


def mark_simulated(problem: Problem, judgements: Sequence[FilterJudgement]) -> Problem:
    """The problem with a warning where simulated models were among its judges."""
    names = list(dict.fromkeys(row.model for row in judgements if row.simulated))
    if not names:
        return problem
    return problem.warn(ProblemWarning(judgements[0].judgement, simulated_by=tuple(names)))
