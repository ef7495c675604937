"""Sets of calibration tasks, drawn from settled work (OMIBench, A.3.2).

A set tests nothing if most of its gold decisions are one and the same: most settled items are
valid. At least a third of a set therefore has other verdicts, if need be those of faulty variants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from pydantic import JsonValue

from omibench.errors import ParamsError
from omibench.review.calibration import find_verdict, measure_constant
from omibench.review.kinds import KINDS, Field
from omibench.review.report import compute_states
from omibench.review.sampling.faults import make_faulty
from omibench.review.sampling.strata import draw_stratified, find_stratum, rank_name
from omibench.review.state import TaskState
from omibench.schemas.review import ReviewDecision, ReviewTask

OTHER_VERDICTS: Final = 1 / 3
"""The least share of a set whose gold decision is not the most frequent one."""


@dataclass(frozen=True)
class CalibrationPlan:
    """A set of calibration tasks.

    Attributes:
        kind: Name of the kind.
        items: The number of tasks, stratified by problem type and difficulty.
        name: Name of the set, part of the ids of its tasks.
        seed: Seed of the draw.
    """

    kind: str
    items: int = 30
    name: str = "calibration"
    seed: int = 0


def draw_calibration(
    tasks: Sequence[ReviewTask],
    decisions: Iterable[ReviewDecision],
    plan: CalibrationPlan,
    needed: int | None = None,
) -> list[ReviewTask]:
    """Draw settled tasks as a calibration set with their results as gold decisions (A.3.2).

    For kinds with a verdict, at most two thirds of the set have the most frequent one; where too
    few others are settled, variants of further tasks with a fault take their place.

    Args:
        tasks: All tasks.
        decisions: All decisions.
        plan: Kind, size and name of the set.
        needed: The study's `review.reviewers`; each kind's number by default.

    Returns:
        The new tasks, open to everyone; existing ones are omitted.

    Raises:
        ParamsError: Too few tasks of the kind are settled, or a constant answer would agree with
            more than two thirds of the set.
    """
    states = {
        state.task.id: state
        for state in compute_states(tasks, decisions, needed).values()
        if state.task.kind == plan.kind
        and state.task.purpose == "work"
        and state.status == "settled"
    }
    if len(states) < plan.items:
        raise ParamsError(
            f"--calibration {plan.items}: only {len(states)} {plan.kind!r} tasks are settled and "
            "can be used as gold"
        )
    present = {task.id: task for task in tasks}
    earlier = {name: present[key] for name in states if (key := f"{name}@{plan.name}") in present}
    drawn = _draw_balanced(states, plan, earlier)
    _refuse_constant(plan, [*earlier.values(), *drawn])
    return drawn


def _draw_balanced(
    states: Mapping[str, TaskState], plan: CalibrationPlan, earlier: Mapping[str, ReviewTask]
) -> list[ReviewTask]:
    """Draw the missing tasks of a set: those with rare verdicts first, then faulty variants."""
    verdict = find_verdict(KINDS[plan.kind])
    verdicts = {name: _read_verdict(verdict, state.fields or {}) for name, state in states.items()}
    frequent = Counter(verdicts.values()).most_common(1)[0][0]
    others = 0 if verdict is None else ceil(plan.items * OTHER_VERDICTS)
    others -= sum(_read_verdict(verdict, task.gold) != frequent for task in earlier.values())
    free = {n: find_stratum(state) for n, state in states.items() if n not in earlier}
    common = {name: stratum for name, stratum in free.items() if verdicts[name] == frequent}
    rare = {name: stratum for name, stratum in free.items() if name not in common}
    tasks = [_make_test(states[n], plan) for n in draw_stratified(rare, max(0, others), plan.seed)]
    sources = [state.task for state in states.values()]
    for name in sorted(common, key=lambda name: rank_name(plan.seed, name)):
        if len(tasks) >= others:
            break
        if faulty := make_faulty(states[name].task, sources, plan.seed):
            tasks.append(_make_test(states[name], plan, faulty))
            del common[name]
    size = max(0, plan.items - len(earlier) - len(tasks))
    return tasks + [_make_test(states[n], plan) for n in draw_stratified(common, size, plan.seed)]


def _make_test(
    state: TaskState, plan: CalibrationPlan, faulty: ReviewTask | None = None
) -> ReviewTask:
    """Return the test of a settled task, or of its faulty variant."""
    name, task = state.task.id, faulty or state.task
    gold = faulty.gold if faulty else dict(state.fields or {})
    changes = {"id": f"{name}@{plan.name}", "purpose": "calibration", "of": name, "people": {}}
    return task.model_copy(update={**changes, "gold": gold})


def _read_verdict(verdict: Field | None, fields: Mapping[str, JsonValue]) -> JsonValue:
    return None if verdict is None else fields.get(verdict.name)


def _refuse_constant(plan: CalibrationPlan, tasks: Sequence[ReviewTask]) -> None:
    share = measure_constant(KINDS[plan.kind], [task.gold for task in tasks])
    if share > 1 - OTHER_VERDICTS + 1e-9:
        raise ParamsError(
            f"--calibration {plan.items}: one answer to every task would agree with "
            f"{share:.0%} of the {plan.kind!r} tasks that can be drawn; settle more tasks with "
            "other results, so that it agrees with at most two thirds"
        )
