"""Registry of scorers: each is a pure function from a scored item to a verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from omibench.answers.formulas.symbolic import item_time
from omibench.errors import PluginError
from omibench.plugins import Registry
from omibench.schemas.problem import Problem
from omibench.schemas.request import Response
from omibench.schemas.verdict import ScoredItem, Verdict

Score = Callable[[ScoredItem], Verdict]


class Scorer(NamedTuple):
    """A scorer: its name, the version of its implementation, and its function."""

    name: str
    version: int
    score: Score


SCORERS: Final[Registry[Scorer]] = Registry("scorers", "scorer")


def scorer(name: str, version: int = 1) -> Callable[[Score], Score]:
    """Register a function as the scorer `name`.

    The function is pure: it takes one item and returns its verdict with this name and version.

    Args:
        name: Value for `score.scorers`.
        version: Version of the implementation; increase it if results change.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        PluginError: If another scorer has this name, or name or version is invalid.
    """
    SCORERS.check_name(name)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise PluginError(
            f"scorer {name!r}: its version is {version!r}; give a number of at least 1"
        )

    def register(score: Score) -> Score:
        SCORERS.add(name, Scorer(name, version, score), score.__module__)
        return score

    return register


def score_item(item: ScoredItem, rules: str) -> Verdict:
    """Return the verdict of one scorer on one response.

    Raises:
        PluginError: If the scorer does not exist, or a plug-in's scorer raised an error or
            returned no verdict with its own name and version.
    """
    scorer = SCORERS.get(rules)
    with item_time(), SCORERS.calling(rules, item.id):
        verdict = scorer.score(item)
        if not isinstance(verdict, Verdict):
            raise PluginError(
                f"scorer {rules!r} (of {item.id}): returned {type(verdict).__name__}; return a "
                "Verdict"
            )
        if (verdict.rules, verdict.version) != (scorer.name, scorer.version):
            raise PluginError(
                f"scorer {rules!r}: its verdict is of {verdict.rules!r} version "
                f"{verdict.version}, not of the registered version {scorer.version}"
            )
        return verdict


# Scoring of a response to a problem that is not frozen yet.


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
