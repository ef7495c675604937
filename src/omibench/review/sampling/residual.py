"""How many errors remain in settled work, from the samples that seniors judged again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from omibench.review.kinds import KINDS
from omibench.review.report import compute_states
from omibench.review.sampling.strata import Stratum, find_stratum
from omibench.review.state import TaskState, compute_state, count_needed, list_differences
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.statistics.intervals import Estimate, wilson

Marks = Mapping[Stratum, Sequence[bool]]
"""Whether each judged task of a stratum was overturned."""


@dataclass(frozen=True)
class ResidualError:
    """What samples say of the settled work of one kind.

    Attributes:
        kind: Name of the kind.
        settled: How many tasks are settled: what the rate is about.
        judged: How many of them a senior judged again.
        overturned: Ids of those whose result the senior did not confirm.
        rate: The share of errors in settled work, in [0, 1], weighted by strata.
        low: Lower end of its interval.
        high: Upper end.
        simulated: Whether programs stand in for some of the people.
    """

    kind: str
    settled: int
    judged: int
    overturned: tuple[str, ...]
    rate: float
    low: float
    high: float
    simulated: bool = False

    @property
    def remaining(self) -> tuple[float, float, float]:
        """Errors to be expected in what no senior judged again: number, lower and upper end."""
        rest = self.settled - self.judged
        return self.rate * rest, self.low * rest, self.high * rest


def measure_residual_error(
    tasks: Sequence[ReviewTask],
    decisions: Iterable[ReviewDecision],
    confidence: float = 0.95,
    needed: int | None = None,
) -> list[ResidualError]:
    """The residual error rate of each kind that has judged samples (OMIBench, A.4.3).

    A senior overturns a result by a difference that would be escalated. The result is that of the
    moment at which the senior decided, so that a correction afterwards does not hide the error.

    Args:
        tasks: All tasks.
        decisions: All decisions.
        confidence: The two-sided level of the interval, in (0, 1).
        needed: The study's `review.reviewers`; each kind's number by default.
    """
    states = compute_states(tasks, decisions := list(decisions), needed)
    on_task: dict[str, list[ReviewDecision]] = defaultdict(list)
    for decision in decisions:
        on_task[decision.task].append(decision)
    marks: dict[str, dict[str, bool]] = defaultdict(dict)
    simulated: set[str] = set()
    for state in states.values():
        original = states.get(state.task.of or "")
        if state.task.purpose != "sample" or original is None:
            continue
        is_overturned = _is_overturned(state, original, on_task[original.task.id], needed)
        if is_overturned is not None:
            kind, name = original.task.kind, original.task.id
            marks[kind][name] = is_overturned or marks[kind].get(name, False)
            if any(d.simulated for d in (*state.decisions, *original.decisions)):
                simulated.add(kind)
    return [
        _measure_kind(kind, marks[kind], states.values(), confidence, kind in simulated)
        for kind in KINDS
        if marks[kind]
    ]


def estimate_weighted_share(
    marks: Marks, sizes: Mapping[Stratum, int], confidence: float = 0.95
) -> Estimate:
    """A share over strata, each weighted by its size in the whole.

    Strata with fewer than two judged tasks are put together, since a single one says nothing of its
    stratum. Wilson's interval at the effective size of Kish, 1 / sum of squared weights (Korn and
    Graubard 1998).

    Args:
        marks: What was found in each stratum, at least one mark in all.
        sizes: The size of each stratum in the whole.
        confidence: The two-sided level, in (0, 1).
    """
    pooled: dict[Stratum, list[bool]] = defaultdict(list)
    weights: Counter[Stratum] = Counter()
    for stratum in {*marks, *sizes}:
        values = marks.get(stratum, ())
        key = stratum if len(values) > 1 else ()
        pooled[key] += values
        weights[key] += sizes.get(stratum, 0)
    judged = {key: values for key, values in pooled.items() if values and weights[key]}
    whole = sum(weights[key] for key in judged)
    share, squares = 0.0, 0.0
    for key, values in judged.items():
        weight = weights[key] / whole
        share += weight * sum(values) / len(values)
        squares += weight**2 / len(values)
    size = 1 / squares
    low, high = wilson(min(share * size, size), size, confidence)
    return Estimate(share, low, high, sum(map(len, judged.values())), size)


def _is_overturned(
    sample: TaskState,
    original: TaskState,
    decisions: Iterable[ReviewDecision],
    needed: int | None,
) -> bool | None:
    """Whether the senior's decision differs from the result; None where there is nothing to say."""
    kind = KINDS[original.task.kind]
    senior = [d for d in sample.decisions if d.role == "senior"]
    if not senior or sample.task.content_hash != original.task.content_hash:
        return None
    before = [d for d in decisions if d.time < senior[0].time]
    result = compute_state(original.task, kind, before, count_needed(kind, needed)).fields
    return None if result is None else bool(list_differences(kind, result, senior[0].fields))


def _measure_kind(
    kind: str,
    marks: Mapping[str, bool],
    states: Iterable[TaskState],
    confidence: float,
    is_simulated: bool,
) -> ResidualError:
    strata = {
        state.task.id: find_stratum(state)
        for state in states
        if state.task.kind == kind and state.task.purpose == "work"
        if state.status == "settled" or state.task.id in marks
    }
    by_stratum: dict[Stratum, list[bool]] = defaultdict(list)
    for name, is_overturned in marks.items():
        by_stratum[strata[name]].append(is_overturned)
    estimate = estimate_weighted_share(by_stratum, Counter(strata.values()), confidence)
    return ResidualError(
        kind,
        settled=len(strata),
        judged=len(marks),
        overturned=tuple(name for name, is_overturned in marks.items() if is_overturned),
        rate=estimate.mean,
        low=estimate.lo,
        high=estimate.hi,
        simulated=is_simulated,
    )
