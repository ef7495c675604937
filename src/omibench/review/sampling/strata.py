"""Draws in proportion to strata."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from omibench.results.statistics.intervals import Estimate, wilson
from omibench.review.kinds import KINDS
from omibench.review.report import compute_states
from omibench.review.state import TaskState, compute_state, count_needed, list_differences
from omibench.schemas.review import ReviewDecision, ReviewTask

STRATA: Final = ("type", "difficulty")
"""The attributes by which samples are stratified, in addition to new or revised (OMIBench, A.4.3).
"""
Stratum = tuple[str, ...]


def find_stratum(state: TaskState) -> Stratum:
    """Return the stratum of a settled task: problem type, difficulty, `new` or `revised`.

    A task is revised if its content changed after a decision, or if its result edits it.
    """
    fields, kind = state.fields or {}, KINDS[state.task.kind]
    is_edited = any(field.edits and fields.get(field.name) is not None for field in kind.fields)
    source = "revised" if state.stale or is_edited else "new"
    return (*(state.task.strata.get(name, "") for name in STRATA), source)


def draw_stratified(
    strata: Mapping[str, Stratum], size: int, seed: int, earlier: Sequence[str] = ()
) -> list[str]:
    """Draw in proportion to strata by largest remainders; ties go to the first stratum.

    Args:
        strata: The stratum of each member.
        size: The total number to draw.
        seed: Seed of the draw.
        earlier: Members drawn before, which count.

    Returns:
        The additional members, in the order of `strata`.
    """
    members: dict[Stratum, list[str]] = defaultdict(list)
    for name, stratum in strata.items():
        members[stratum].append(name)
    quotas = share_out(min(size, len(strata)), {key: len(members[key]) for key in sorted(members)})
    drawn: set[str] = set()
    for stratum, names in members.items():
        missing = quotas[stratum] - sum(strata.get(name) == stratum for name in earlier)
        fresh = sorted(set(names) - set(earlier), key=lambda name: rank_name(seed, name))
        drawn |= set(fresh[: max(0, missing)])
    return [name for name in strata if name in drawn]


def share_out(total: int, sizes: Mapping[Stratum, int]) -> dict[Stratum, int]:
    """Split a number in proportion to sizes, by largest remainders (Hamilton's method)."""
    every = sum(sizes.values())
    parts = {key: divmod(total * size, every) for key, size in sizes.items()}
    rest = total - sum(whole for whole, _ in parts.values())
    by_remainder = sorted(parts, key=lambda key: -parts[key][1])
    return {key: parts[key][0] + (key in by_remainder[:rest]) for key in parts}


def rank_name(seed: int, *names: str) -> str:
    """Return a rank that depends only on seed and names."""
    return hashlib.sha256("\0".join((str(seed), *names)).encode()).hexdigest()


# Residual errors in settled work, estimated from samples that seniors judged again.

Marks = Mapping[Stratum, Sequence[bool]]
"""Whether each judged task of a stratum was overturned."""


@dataclass(frozen=True)
class ResidualError:
    """The residual error rate of one kind.

    Attributes:
        kind: Name of the kind.
        settled: The number of settled tasks, the population of the rate.
        judged: The number of tasks that a senior judged again.
        overturned: Ids of tasks whose result the senior did not confirm.
        rate: The share of errors in settled work, in [0, 1], weighted by strata.
        low: Lower end of its interval.
        high: Upper end.
        simulated: Whether any of the people is simulated.
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
        """Expected errors in tasks that no senior judged again: number, lower and upper end."""
        rest = self.settled - self.judged
        return self.rate * rest, self.low * rest, self.high * rest


def measure_residual_error(
    tasks: Sequence[ReviewTask],
    decisions: Iterable[ReviewDecision],
    confidence: float = 0.95,
    needed: int | None = None,
) -> list[ResidualError]:
    """Return the residual error rate of each kind that has judged samples (OMIBench, A.4.3).

    A senior overturns a result if the difference would be escalated. The result is the one at the
    time of the senior's decision, so that a later correction does not hide the error.

    Args:
        tasks: All tasks.
        decisions: All decisions.
        confidence: Two-sided level of the interval, in (0, 1).
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
    """Return a share over strata, each weighted by its size in the population.

    Strata with fewer than two judged tasks are merged. The interval is Wilson's at Kish's effective
    size, 1 / sum of squared weights (Korn and Graubard 1998).

    Args:
        marks: The findings of each stratum, at least one in total.
        sizes: The size of each stratum in the population.
        confidence: Two-sided level, in (0, 1).
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
    """Return whether the senior's decision differs from the result, or None if not comparable."""
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
