"""Which sample represents its problem: by votes, by marks, by a tournament."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from omibench.judges.case import JudgeCase
from omibench.judges.panel import OpenPanel, consult
from omibench.schemas.problem import Answer, Question
from omibench.stages.aggregate.judges import COMPARISON, MARKS
from omibench.stages.aggregate.sample import Sample, make_generator, select_valid
from omibench.stages.aggregate.tournament import Match, bracket, choose_best, play

Samples = Mapping[str, list[Sample]]
"""The samples of every problem, in the order drawn."""
Texts = Mapping[tuple[str, int], str]
"""What each sample says: (problem, index) -> text."""
Chosen = dict[str, Sample]


class CaseMaterial(NamedTuple):
    """What a judge of samples is shown beside them."""

    questions: Mapping[str, Question]
    texts: Texts
    answers: Mapping[str, Answer]

    def make_case(self, problem: str, first: Sample, second: Sample | None = None) -> JudgeCase:
        """One response, or two that are to be compared; never the gold."""
        question, answer = self.questions.get(problem), self.answers[problem]
        return JudgeCase(
            problem,
            question.question if question else "",
            (),
            self.texts[problem, first.index],
            answer.choices,
            reference=self.texts[problem, second.index] if second else None,
        )


def choose_by_marks(
    samples: Samples, ks: Sequence[int], panel: OpenPanel, material: CaseMaterial, seed: int
) -> dict[int, Chosen]:
    """The sample with the highest mark among the first k, for every k; each is marked once."""
    entries = [
        (problem, s) for problem, candidates in samples.items() for s in select_valid(candidates)
    ]
    opinions = consult([material.make_case(problem, s) for problem, s in entries], MARKS, panel)
    marks = {(p, s.index): o.value for (p, s), o in zip(entries, opinions, strict=True)}
    return {
        k: {
            problem: choose_best(
                eligible := select_valid(candidates[:k]),
                [marks.get((problem, s.index)) for s in eligible],
                make_generator(seed, "best-of-n", problem),
            )
            for problem, candidates in samples.items()
        }
        for k in ks
    }


def choose_by_tournament(
    samples: Samples, ks: Sequence[int], panel: OpenPanel, material: CaseMaterial, seed: int
) -> dict[int, Chosen]:
    """The winner of a tournament of the first k, for every k."""

    def compare(matches: Sequence[Match]) -> list[bool | None]:
        cases = [material.make_case(m.problem, m.first, m.second) for m in matches]
        return [opinion.value for opinion in consult(cases, COMPARISON, panel)]

    def make_rng(name: str, k: int) -> Callable[[str], Random]:
        return lambda problem: make_generator(seed, name, problem, str(k))

    winners = {}
    for k in ks:
        order, coin = make_rng("bracket", k), make_rng("coin", k)
        entrants = {
            p: bracket(select_valid(candidates[:k]), order(p)) for p, candidates in samples.items()
        }
        winners[k] = play(entrants, compare, coin)
    return winners
