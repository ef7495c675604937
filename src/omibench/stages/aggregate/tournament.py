"""Selection of one sample by a judge: best-of-N by marks, or a tournament of comparisons.

Both are pure: marks and comparisons come from a function that sends requests through the store. A
bracket depends only on the seed and the problem, so an interrupted tournament repeats no requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from omibench.stages.aggregate.sample import Sample


class Match(NamedTuple):
    """Two samples of one problem to compare, in the order shown."""

    problem: str
    first: Sample
    second: Sample


Compare = Callable[[Sequence[Match]], Sequence[bool | None]]
"""Whether the first of each match is better; None if the judge failed."""


def choose_best(samples: Sequence[Sample], marks: Sequence[float | None], rng: Random) -> Sample:
    """Return the sample with the highest mark; draw ties. Unmarked samples win only if all are.

    Raises:
        ValueError: There are no samples, or a different number of marks.
    """
    marked = [(m, s) for s, m in zip(samples, marks, strict=True) if m is not None] or [
        (0.0, s) for s in samples[:1]
    ]
    if not marked:
        raise ValueError("there is no sample to choose from")
    top = max(mark for mark, _ in marked)
    return rng.choice([sample for mark, sample in marked if mark == top])


def bracket(samples: Sequence[Sample], rng: Random) -> list[Sample]:
    """Return the order of samples in a tournament; neighbours play, an odd last one waits."""
    entrants = list(samples)
    rng.shuffle(entrants)
    return entrants


def play(
    entrants: Mapping[str, Sequence[Sample]], compare: Compare, draw: Callable[[str], Random]
) -> dict[str, Sample]:
    """Return the winner of every problem's tournament, problem -> sample.

    All problems play a round together, so that a round is one batch of requests. A match without a
    decision is drawn from `draw(problem)`.

    Raises:
        ValueError: There are no entrants.
    """
    standing = {problem: list(samples) for problem, samples in entrants.items()}
    if not all(standing.values()):
        raise ValueError("there is no sample to choose from")
    coins = {problem: draw(problem) for problem in standing}
    while any(len(samples) > 1 for samples in standing.values()):
        matches = [
            match for problem, samples in standing.items() for match in _pair_up(problem, samples)
        ]
        outcomes = compare(matches)
        waiting = {
            problem: samples[-1:] * (len(samples) % 2) for problem, samples in standing.items()
        }
        standing = {problem: [] for problem in standing}
        for match, says in zip(matches, outcomes, strict=True):
            first_wins = coins[match.problem].random() < 0.5 if says is None else says
            standing[match.problem].append(match.first if first_wins else match.second)
        for problem, samples in waiting.items():
            standing[problem] += samples
    return {problem: samples[0] for problem, samples in standing.items()}


def _pair_up(problem: str, standing: Sequence[Sample]) -> list[Match]:
    return [Match(problem, a, b) for a, b in zip(standing[::2], standing[1::2], strict=False)]
