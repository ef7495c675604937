"""Rules of plug-ins that choose one of several samples of a problem."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final, NamedTuple, get_args

from omibench.errors import PluginError
from omibench.params.setting import AggregationRule
from omibench.plugins import Registry
from omibench.stages.aggregate.votes import Equivalence

RESERVED: Final = (*get_args(AggregationRule), "pass", "consistency")
"""Names of the built-in rules and metrics."""


class Candidates(NamedTuple):
    """The samples of one problem, in the order drawn; gold answers and verdicts are not shown.

    Attributes:
        problem: Its id.
        answers: The extracted answer of each sample; None without one.
        texts: The text of each sample.
        are_same: Whether two answers are equal, by `aggregate.sameness` of the setting.
        rng: For draws; it depends only on the study's seed and the problem.
    """

    problem: str
    answers: tuple[str | None, ...]
    texts: tuple[str, ...]
    are_same: Equivalence
    rng: Random


ChooseSample = Callable[[Candidates], int]
"""Returns the place of the chosen sample, from 0."""

AGGREGATIONS: Final[Registry[ChooseSample]] = Registry("aggregations", "rule of aggregation")


def aggregation(name: str) -> Callable[[ChooseSample], ChooseSample]:
    """Return a decorator that registers a function as the rule `name`.

    The function is pure: the first k samples of a problem must always give the same choice.

    Args:
        name: The value of `aggregate` in a setting.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        PluginError: Another rule or a metric has this name.
    """
    if name in RESERVED:
        raise PluginError(f"rule of aggregation {name!r}: the name is taken; choose another one")
    return AGGREGATIONS.register(name)


def choose_sample(name: str, candidates: Candidates) -> int:
    """Return the place of the sample that the rule `name` chooses.

    Raises:
        PluginError: The rule raised, or returned no place of a sample.
    """
    with AGGREGATIONS.calling(name, candidates.problem):
        place = AGGREGATIONS.get(name)(candidates)
    if type(place) is not int or not 0 <= place < len(candidates.answers):
        raise PluginError(
            f"rule of aggregation {name!r}: problem {candidates.problem!r}: it returned {place!r}; "
            f"return the place of a sample, 0 to {len(candidates.answers) - 1}"
        )
    return place
