"""Scoring of a response to a problem that is not frozen yet."""

from __future__ import annotations

from omibench.schemas.problem import Problem
from omibench.schemas.request import Response
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.scorers.registry import score_item


def score_problem(problem: Problem, response: Response, rules: str = "robust") -> Verdict:
    """Score one response; the problem needs an answer."""
    return score_item(make_scored_item(problem, response), rules)


def make_scored_item(problem: Problem, response: Response) -> ScoredItem:
    """Return a response with the gold answer of its problem, as input of scorers."""
    return ScoredItem(
        id=problem.id,
        prediction=response.text,
        gold=problem.answer or [],
        answer_type=problem.answer_type,
        choices=problem.choices,
        finish_reason=response.finish_reason,
        outcome=response.outcome,
    )
