"""What a rule book says of a response to a problem that is not frozen yet."""

from __future__ import annotations

from omibench.rule_books.registry import score_item
from omibench.schemas.problem import Problem
from omibench.schemas.request import Response
from omibench.schemas.verdict import ScoredItem, Verdict


def score_problem(problem: Problem, response: Response, rules: str = "robust") -> Verdict:
    """The verdict of a rule book on one response; the problem needs an answer."""
    return score_item(make_scored_item(problem, response), rules)


def make_scored_item(problem: Problem, response: Response) -> ScoredItem:
    """A response beside the gold of its problem, as rule books take it."""
    return ScoredItem(
        id=problem.id,
        prediction=response.text,
        gold=problem.answer or [],
        answer_type=problem.answer_type,
        choices=problem.choices,
        finish_reason=response.finish_reason,
        outcome=response.outcome,
    )
