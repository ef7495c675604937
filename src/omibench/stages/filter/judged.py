"""Result of a judgement: models' replies on one problem, and whether they reject it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from omibench.schemas.problem import Problem
from omibench.schemas.problem_warning import ProblemWarning
from omibench.schemas.rejects import FilterJudgement


class JudgedProblem(NamedTuple):
    """One problem after a judgement: rejected if there is `evidence`, else `problem`."""

    problem: Problem
    judgements: Sequence[FilterJudgement]
    evidence: str | None = None


def simulated_note(judgements: Sequence[FilterJudgement]) -> str:
    """Return a note on simulated judges; empty without any."""
    names = dict.fromkeys(row.model for row in judgements if row.simulated)
    return f"; SIMULATED ({', '.join(names)})" if names else ""


def mark_simulated(problem: Problem, judgements: Sequence[FilterJudgement]) -> Problem:
    """Return the problem with a warning if any of its judges was simulated."""
    names = list(dict.fromkeys(row.model for row in judgements if row.simulated))
    if not names:
        return problem
    return problem.warn(ProblemWarning(judgements[0].judgement, simulated_by=tuple(names)))
