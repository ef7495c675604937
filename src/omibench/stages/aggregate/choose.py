"""Selection of one sample by a judge: best-of-N by marks, or a tournament of comparisons.

Both are pure: marks and comparisons come from a function that sends requests through the store. A
bracket depends only on the seed and the problem, so an interrupted tournament repeats no requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.answers.judges.instrument import Instrument, build_request
from omibench.answers.judges.panel import OpenPanel, consult
from omibench.models.cost import estimate_input, image_formula
from omibench.params.models.base import ModelBlock
from omibench.params.panel import JudgePanel
from omibench.params.setting import Cell
from omibench.schemas.request import Request
from omibench.stages.aggregate.judges import COMPARISON, JOINT_MARKS, MARKS, REWARD, CaseMaterial
from omibench.stages.aggregate.votes import Sample, make_generator, select_valid

if TYPE_CHECKING:
    from omibench.params.study import Study


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


# Selection of the sample that represents its problem: by marks or by a tournament.

Samples = Mapping[str, list[Sample]]
"""The samples of every problem, in the order drawn."""
Fits = Callable[[Request], bool]
"""Whether a prompt and its reply fit into the context of every reward model."""
Group = tuple[Sample, ...]


class Chosen(NamedTuple):
    """The selected sample.

    `mark` is on the reward model's scale; None if it gave none, or compares. `prompts` is the
    number of prompts with the candidates: 1 for all together, the number of candidates if marked
    individually, 0 without a choice, None for comparisons.
    """

    sample: Sample
    mark: float | None = None
    prompts: int | None = None


Choices = dict[int, dict[str, Chosen]]
"""k -> problem -> the sample selected among the first k."""


class Choosing(NamedTuple):
    """The input of a selection: samples, their numbers, and the judges' view of problems."""

    samples: Samples
    ks: Sequence[int]
    material: CaseMaterial
    seed: int

    def choose(
        self, k: int, marks: Mapping[tuple[str, int], float | None], prompts: Callable[[str], int]
    ) -> dict[str, Chosen]:
        """Select the sample with the highest mark among the first k of every problem; draw ties.

        Args:
            k: The number of samples to choose from.
            marks: (problem, index) -> the mark of a sample; None or absent without a mark.
            prompts: The number of prompts in which a problem's candidates were marked.
        """
        chosen = {}
        for problem, samples in self.samples.items():
            eligible = select_valid(samples[:k])
            scores = [marks.get((problem, s.index)) for s in eligible]
            best = choose_best(eligible, scores, make_generator(self.seed, "best-of-n", problem))
            chosen[problem] = Chosen(best, marks.get((problem, best.index)), prompts(problem))
        return chosen


def choose_by_single_marks(
    choosing: Choosing, instrument: Instrument[float], panel: OpenPanel
) -> Choices:
    """Select the sample with the highest mark among the first k, for every k; mark each once."""
    entries = [(p, s) for p, drawn in choosing.samples.items() for s in select_valid(drawn)]
    cases = [choosing.material.make_case(problem, s) for problem, s in entries]
    opinions = consult(cases, instrument, panel)
    marks = {(p, s.index): o.value for (p, s), o in zip(entries, opinions, strict=True)}
    return {
        k: choosing.choose(k, marks, lambda p, k=k: len(select_valid(choosing.samples[p][:k])))  # type: ignore[misc]
        for k in choosing.ks
    }


def choose_by_joint_marks(choosing: Choosing, panel: OpenPanel, fits: Fits) -> Choices:
    """Select the sample with the highest mark among the first k, marked in one prompt.

    If they do not fit into one prompt, they are split into as few groups of nearly equal size as
    possible; marks of all groups are on one scale. Every k has separate prompts. A single candidate
    is selected without a mark.
    """
    groups = {
        (k, problem): _group(choosing, problem, k, panel, fits)
        for k in choosing.ks
        for problem in choosing.samples
    }
    entries = [(place, group) for place, placed in groups.items() for group in placed]
    cases = [choosing.material.make_case(problem, *group) for (_, problem), group in entries]
    marks: dict[int, dict[tuple[str, int], float | None]] = {k: {} for k in choosing.ks}
    for ((k, problem), group), opinion in zip(
        entries, consult(cases, JOINT_MARKS, panel), strict=True
    ):
        values = opinion.value or (None,) * len(group)
        for sample, value in zip(group, values, strict=True):
            marks[k][problem, sample.index] = value
    return {
        k: choosing.choose(k, marks[k], lambda p, k=k: len(groups[k, p]))  # type: ignore[misc]
        for k in choosing.ks
    }


def _group(choosing: Choosing, problem: str, k: int, panel: OpenPanel, fits: Fits) -> list[Group]:
    """Group the candidates of a problem, in an order that is stable for larger k."""
    eligible = select_valid(choosing.samples[problem][:k])
    if len(eligible) < 2:
        return []
    ranked = sorted(
        eligible,
        key=lambda s: make_generator(choosing.seed, "order", problem, str(s.index)).random(),
    )

    def fit(group: Group) -> bool:
        case = choosing.material.make_case(problem, *group)
        request = build_request(case, JOINT_MARKS, panel.prompt, max_tokens=panel.max_tokens)
        return fits(request)

    for count in range(1, len(ranked)):
        groups = split_evenly(ranked, count)
        if all(map(fit, groups)):
            return groups
    return split_evenly(ranked, len(ranked))


def split_evenly(samples: Sequence[Sample], count: int) -> list[Group]:
    """Split samples in order into `count` groups whose sizes differ by at most one."""
    size, larger = divmod(len(samples), count)
    ends = [size * (n + 1) + min(n + 1, larger) for n in range(count)]
    return [tuple(samples[a:b]) for a, b in zip([0, *ends], ends, strict=False)]


def choose_by_tournament(choosing: Choosing, panel: OpenPanel) -> Choices:
    """Return the winner of a tournament of the first k, for every k."""

    def compare(matches: Sequence[Match]) -> list[bool | None]:
        cases = [choosing.material.make_case(m.problem, m.first, m.second) for m in matches]
        return [opinion.value for opinion in consult(cases, COMPARISON, panel)]

    def make_rng(name: str, k: int) -> Callable[[str], Random]:
        return lambda problem: make_generator(choosing.seed, name, problem, str(k))

    winners: Choices = {}
    for k in choosing.ks:
        order, coin = make_rng("bracket", k), make_rng("coin", k)
        entrants = {
            p: bracket(select_valid(drawn[:k]), order(p)) for p, drawn in choosing.samples.items()
        }
        won = play(entrants, compare, coin)
        winners[k] = {problem: Chosen(sample) for problem, sample in won.items()}
    return winners


# Models that select samples of a cell, their instrument, and the capacity of a prompt.


class RewardPanel(NamedTuple):
    """The models that select samples of a cell, by name, and their prompts."""

    params: JudgePanel
    instrument: Instrument[Any]
    models: Sequence[ModelBlock]

    def choose(self, choosing: Choosing, panel: OpenPanel) -> Choices:
        """Return the selected sample of every problem, for every k."""
        if self.instrument is COMPARISON:
            return choose_by_tournament(choosing, panel)
        if self.instrument is JOINT_MARKS:
            return choose_by_joint_marks(choosing, panel, make_fits(self.models))
        return choose_by_single_marks(choosing, self.instrument, panel)


def find_reward_panel(study: Study, cell: Cell) -> RewardPanel | None:
    """Return the models that select samples, with `self` resolved; None if not configured."""
    aggregate = study.settings[cell.setting].aggregate
    if aggregate.judge is None:
        return None
    names = aggregate.name_judges(cell.model)
    params = aggregate.judge.model_copy(update={"models": names})
    models = [study.models[name] for name in names if name in study.models]
    if aggregate.how == "tournament":
        return RewardPanel(params, COMPARISON, models)
    if any(model.gives_reward for model in models):
        # A head generates no text, so its reply length is fixed.
        return RewardPanel(
            params.model_copy(update={"max_tokens": 1, "prompt": None}), REWARD, models
        )
    instrument = JOINT_MARKS if aggregate.marking == "joint" else MARKS
    return RewardPanel(params, instrument, models)


def make_fits(models: Sequence[ModelBlock]) -> Fits:
    """Return whether a prompt and its reply fit into the context of every model.

    Tokens are the plan's estimate. A model without a stated context fits any length.
    """
    limits = [(model.context, image_formula(model)) for model in models if model.context]

    def fits(request: Request) -> bool:
        room = request.decoding.max_tokens
        return all(
            estimate_input(request.conversation, formula).all + room <= context
            for context, formula in limits
            if context is not None
        )

    return fits
