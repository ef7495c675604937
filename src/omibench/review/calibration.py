"""The test before a person is given work: decisions held against a gold standard."""

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
    """What one person showed in one set of calibration tasks.

    Attributes:
        person: Name.
        kind: Name of the kind of task.
        set_name: What stands behind the `@` of the tasks' ids; empty without one.
        status: `not done` until enough tasks are decided.
        decided: How many of its tasks the person decided.
        agreeing: On how many of these the decision agrees with the gold one.
        needed: How many tasks the rule asks for.
        simulated: Whether a program stands in for the person.
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
        """The share of decided tasks that agree, in [0, 1]; 0 before the first."""
        return self.agreeing / self.decided if self.decided else 0.0


def measure_calibration(
    tasks: Iterable[ReviewTask], decisions: Iterable[ReviewDecision], rule: CalibrationParams
) -> list[CalibrationResult]:
    """What everybody showed who decided a calibration task (OMIBench, A.3.2).

    The first decision of a person on a task counts, on its content as it is. It agrees where no
    field differs from the gold one by more than what would go to a senior (A.4.2).

    Args:
        tasks: Tasks of every purpose; those with the purpose `calibration` and a gold decision that
            can be compared count.
        decisions: Decisions on them.
        rule: How many tasks are needed, and which share must agree.

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
    """Whether no field of the gold decision differs by more than what would be escalated."""
    fields = {name: decision.fields.get(name) for name in task.gold}
    return not list_differences(kind, task.gold, fields)


def find_set_name(task: ReviewTask) -> str:
    """The set that a calibration task belongs to: what stands behind the last `@` of its id."""
    return task.id.rpartition("@")[2] if "@" in task.id else ""


def needs_calibration(kind: str, tasks: Iterable[ReviewTask], rule: CalibrationParams) -> bool:
    """Whether people need to pass the test before they are given tasks of a kind."""
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
    """The people to whom tasks of a kind may be given.

    Args:
        reviewers: Everybody, in the order in which they are returned. Seniors, who make the gold
            standard, need no test.
        kind: Name of the kind.
        tasks: All tasks, those of the calibration among them.
        decisions: All decisions.
        rule: `review.calibration` of the params; without it everybody may be asked.

    Returns:
        Those who have passed some set of the kind; everybody where the kind needs no test.
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
    # A share of 0.8 of 30 items is 24 of them, whatever the binary fractions say.
    return "passed" if sum(answers) >= round(rule.agreement * len(answers), 9) else "failed"
