"""The test before a person gets work: decisions compared with a gold standard."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from omibench.params.review import CalibrationParams
from omibench.review.kinds import KINDS
from omibench.review.kinds.declaration import Field, Kind
from omibench.review.people import Reviewer
from omibench.review.state import list_differences
from omibench.schemas.review import ReviewDecision, ReviewTask

CalibrationStatus = Literal["passed", "failed", "not done"]


@dataclass(frozen=True)
class CalibrationResult:
    """One person's result in one set of calibration tasks.

    Attributes:
        person: Name.
        kind: Name of the kind of task.
        set_name: The part of the task ids after `@`; empty if there is none.
        status: `not done` until enough tasks are decided.
        decided: The number of its tasks that the person decided.
        agreeing: The number of these that agree with the gold decision.
        needed: The number of tasks that the rule requires.
        simulated: Whether the person is simulated.
    """

    person: str
    kind: str
    set_name: str
    status: CalibrationStatus
    decided: int
    agreeing: int
    needed: int
    simulated: bool = False

    @property
    def share(self) -> float:
        """The share of decided tasks that agree, in [0, 1]; 0 before the first decision."""
        return self.agreeing / self.decided if self.decided else 0.0


def measure_calibration(
    tasks: Iterable[ReviewTask], decisions: Iterable[ReviewDecision], rule: CalibrationParams
) -> list[CalibrationResult]:
    """Return the result of each person who decided a calibration task (OMIBench, A.3.2).

    A person's first decision on a task counts if it is on the current content. It agrees if no
    field differs from the gold decision by more than would be escalated (A.4.2).

    Args:
        tasks: Tasks of every purpose. Only those with the purpose `calibration` and a comparable
            gold decision count.
        decisions: Decisions on them.
        rule: The required number of tasks and share of agreement.

    Returns:
        One result for each person, kind and set, in alphabetical order.
    """
    by_id = {task.id: task for task in tasks if _has_gold(task)}
    marks: Mapping[tuple[str, str, str], dict[str, bool]] = defaultdict(dict)
    simulated: set[str] = set()
    for decision in sorted(decisions, key=lambda d: (d.time, d.id)):
        task = by_id.get(decision.task)
        if task is None or decision.role == "imported":
            continue
        if decision.content_hash != task.content_hash:
            continue
        place = (decision.person, task.kind, find_set_name(task))
        marks[place].setdefault(task.id, agrees_with_gold(KINDS[task.kind], task, decision))
        if decision.simulated:
            simulated.add(decision.person)
    return [
        CalibrationResult(
            person,
            kind,
            set_name,
            _judge(list(answers.values()), rule),
            decided=len(answers),
            agreeing=sum(answers.values()),
            needed=rule.items,
            simulated=person in simulated,
        )
        for (person, kind, set_name), answers in sorted(marks.items())
    ]


def agrees_with_gold(kind: Kind, task: ReviewTask, decision: ReviewDecision) -> bool:
    """Return whether no field differs from the gold decision by more than would be escalated."""
    fields = {name: decision.fields.get(name) for name in task.gold}
    return not list_differences(kind, task.gold, fields)


def find_set_name(task: ReviewTask) -> str:
    """Return the set of a calibration task: the part of its id after the last `@`."""
    return task.id.rpartition("@")[2] if "@" in task.id else ""


def needs_calibration(kind: str, tasks: Iterable[ReviewTask], rule: CalibrationParams) -> bool:
    """Return whether reviewers must pass the test before they get tasks of a kind."""
    if rule.kinds:
        return kind in rule.kinds
    return any(task.kind == kind and task.purpose == "calibration" for task in tasks)


def list_qualified(
    reviewers: Iterable[Reviewer],
    kind: str,
    tasks: Sequence[ReviewTask],
    decisions: Iterable[ReviewDecision],
    rule: CalibrationParams | None,
) -> list[Reviewer]:
    """Return the people who are eligible for tasks of a kind.

    Args:
        reviewers: All people; their order is kept. Seniors make the gold standard and need no test.
        kind: Name of the kind.
        tasks: All tasks, including the calibration tasks.
        decisions: All decisions.
        rule: `review.calibration` of the params; without it everyone is eligible.

    Returns:
        The people who passed some set of the kind, or everyone if the kind needs no test.
    """
    if rule is None or not needs_calibration(kind, tasks, rule):
        return list(reviewers)
    passed = {
        result.person
        for result in measure_calibration(tasks, decisions, rule)
        if result.kind == kind and result.status == "passed"
    }
    return [r for r in reviewers if r.name in passed or "senior" in r.roles]


def _has_gold(task: ReviewTask) -> bool:
    kind = KINDS.get(task.kind)
    if kind is None or task.purpose != "calibration":
        return False
    return any(name in kind.by_name and _is_compared(kind.by_name[name]) for name in task.gold)


def _is_compared(field: Field) -> bool:
    return field.critical or field.tolerance is not None


def _judge(answers: Sequence[bool], rule: CalibrationParams) -> CalibrationStatus:
    if len(answers) < rule.items:
        return "not done"
    # Binary fractions must not turn 0.8 of 30 items into 25.
    return "passed" if sum(answers) >= round(rule.agreement * len(answers), 9) else "failed"
