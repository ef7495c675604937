"""Sets of calibration tasks, drawn from settled work (OMIBench, A.3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from omibench.errors import ParamsError
from omibench.review.report import compute_states
from omibench.review.sampling.strata import draw_stratified, find_stratum
from omibench.schemas.review import ReviewDecision, ReviewTask


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

    Args:
        tasks: All tasks.
        decisions: All decisions.
        plan: Kind, size and name of the set.
        needed: The study's `review.reviewers`; each kind's number by default.

    Returns:
        The new tasks, open to everyone; existing ones are omitted.

    Raises:
        ParamsError: Too few tasks of the kind are settled.
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
    present = {task.id for task in tasks}
    earlier = [task for task in states if f"{task}@{plan.name}" in present]
    strata = {task: find_stratum(state) for task, state in states.items()}
    return [
        states[task].task.model_copy(
            update={
                "id": f"{task}@{plan.name}",
                "purpose": "calibration",
                "of": task,
                "people": {},
                "gold": dict(states[task].fields or {}),
            }
        )
        for task in draw_stratified(strata, plan.items, plan.seed, earlier)
    ]
