"""Which sample stands for its problem: by votes, by marks, by a tournament."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from omibench.judges.case import Case
from omibench.judges.panel import Panel, consult
from omibench.schemas.problem import Answer, Question
from omibench.stages.aggregate.judges import COMPARISON, MARKS
from omibench.stages.aggregate.sample import Sample, draw, valid
from omibench.stages.aggregate.tournament import Match, best_of, bracket, play

Samples = Mapping[str, list[Sample]]
"""The samples of every problem, in the order drawn."""
Texts = Mapping[tuple[str, int], str]
"""What each sample says: (problem, index) -> text."""
Chosen = dict[str, Sample]


class Asked(NamedTuple):
    """What a judge of samples is shown beside them."""

    questions: Mapping[str, Question]
    texts: Texts
    answers: Mapping[str, Answer]

    def case(self, problem: str, first: Sample, second: Sample | None = None) -> Case:
        """One response, or two that are to be compared; never the gold."""
        question, answer = self.questions.get(problem), self.answers[problem]
        return Case(
            problem,
            question.question if question else "",
            (),
            self.texts[problem, first.index],
            answer.choices,
            reference=self.texts[problem, second.index] if second else None,
        )


def by_marks(
    samples: Samples, ks: Sequence[int], panel: Panel, asked: Asked, seed: int
) -> dict[int, Chosen]:
    """The sample with the highest mark among the first k, for every k; each is marked once."""
    entries = [(problem, s) for problem, own in samples.items() for s in valid(own)]
    told = consult([asked.case(problem, s) for problem, s in entries], MARKS, panel)
    marks = {(p, s.index): o.value for (p, s), o in zip(entries, told, strict=True)}
    return {
        k: {
            problem: best_of(
                kept := valid(own[:k]),
                [marks.get((problem, s.index)) for s in kept],
                draw(seed, "best-of-n", problem),
            )
            for problem, own in samples.items()
        }
        for k in ks
    }


def by_tournament(
    samples: Samples, ks: Sequence[int], panel: Panel, asked: Asked, seed: int
) -> dict[int, Chosen]:
    """The winner of a tournament of the first k, for every k."""

    def compare(matches: Sequence[Match]) -> list[bool | None]:
        cases = [asked.case(m.problem, m.first, m.second) for m in matches]
        return [opinion.value for opinion in consult(cases, COMPARISON, panel)]

    def rng(name: str, k: int) -> Callable[[str], Random]:
        return lambda problem: draw(seed, name, problem, str(k))

    found = {}
    for k in ks:
        order, coin = rng("bracket", k), rng("coin", k)
        entrants = {p: bracket(valid(own[:k]), order(p)) for p, own in samples.items()}
        found[k] = play(entrants, compare, coin)
    return found
