"""The test before a person gets work: decisions compared with a gold standard."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal, NamedTuple

import numpy as np
from pydantic import JsonValue

from omibench.params.review import CalibrationParams
from omibench.results.statistics.agreement import Unit, make_cohen_kappa
from omibench.review.kinds import KINDS
from omibench.review.kinds.declaration import Field, Kind
from omibench.review.people import Reviewer
from omibench.review.state import list_differences
from omibench.schemas.review import ReviewDecision, ReviewTask

CalibrationStatus = Literal["passed", "failed", "not done", "no test"]
"""`no test`: one answer to every task would pass."""


class Miss(NamedTuple):
    """A field of a calibration task in which a decision does not agree with the gold one."""

    task: str
    field: str
    given: JsonValue
    gold: JsonValue


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
        kappa: Cohen's kappa of the person's verdicts and the gold ones; None if the kind has no
            verdict, or neither side varies.
        missed: The fields that do not agree, task by task.
        hurried: The number of decisions in less time than `review.shortest_seconds`.
        simulated: Whether the person is simulated.
    """

    person: str
    kind: str
    set_name: str
    status: CalibrationStatus
    decided: int
    agreeing: int
    needed: int
    kappa: float | None = None
    missed: tuple[Miss, ...] = ()
    hurried: int = 0
    simulated: bool = False

    @property
    def is_done(self) -> bool:
        """Whether enough tasks are decided: only then can the person learn what was missed."""
        return self.status != "not done"

    @property
    def share(self) -> float:
        """The share of decided tasks that agree, in [0, 1]; 0 before the first decision."""
        return self.agreeing / self.decided if self.decided else 0.0


def measure_calibration(
    tasks: Iterable[ReviewTask],
    decisions: Iterable[ReviewDecision],
    rule: CalibrationParams,
    shortest_seconds: float = 0.0,
) -> list[CalibrationResult]:
    """Return the result of each person who decided a calibration task (OMIBench, A.3.2).

    A person's first decision on a task counts if it is on the current content. It agrees if no
    field differs from the gold decision by more than would be escalated (A.4.2).

    Args:
        tasks: Tasks of every purpose. Only those with the purpose `calibration` and a comparable
            gold decision count.
        decisions: Decisions on them.
        rule: The required number of tasks and share of agreement.
        shortest_seconds: The least credible time of a decision.

    Returns:
        One result for each person, kind and set, in alphabetical order.
    """
    by_id = {task.id: task for task in tasks if _has_gold(task)}
    first: Mapping[tuple[str, str, str], dict[str, ReviewDecision]] = defaultdict(dict)
    for decision in sorted(decisions, key=lambda d: (d.time, d.id)):
        task = by_id.get(decision.task)
        if task is None or decision.role == "imported":
            continue
        if decision.content_hash != task.content_hash:
            continue
        place = (decision.person, task.kind, find_set_name(task))
        first[place].setdefault(task.id, decision)
    return [
        _measure_set(place, [(by_id[d.task], d) for d in made.values()], rule, shortest_seconds)
        for place, made in sorted(first.items())
    ]


def find_verdict(kind: Kind) -> Field | None:
    """Return the field with a kind's verdict: its first critical choice among declared options."""
    return next(
        (f for f in kind.fields if f.critical and f.type == "choice" and f.prefill is None), None
    )


def measure_constant(kind: Kind, golds: Sequence[Mapping[str, JsonValue]]) -> float:
    """Return the share of gold decisions that the best constant answer agrees with, in [0, 1]."""
    best = max(
        (sum(not _find_misses(kind, gold, fields) for gold in golds) for fields in golds), default=0
    )
    return best / len(golds) if golds else 0.0


def is_hurried(decision: ReviewDecision, shortest_seconds: float) -> bool:
    """Return whether a decision took less time than is credible; False without a time."""
    return decision.seconds is not None and decision.seconds < shortest_seconds


def _measure_set(
    place: tuple[str, str, str],
    answers: Sequence[tuple[ReviewTask, ReviewDecision]],
    rule: CalibrationParams,
    shortest_seconds: float,
) -> CalibrationResult:
    kind = KINDS[place[1]]
    missed = tuple(
        Miss(task.id, name, made.fields.get(name), task.gold.get(name))
        for task, made in answers
        for name in _find_misses(kind, task.gold, made.fields)
    )
    agreeing = len(answers) - len({miss.task for miss in missed})
    constant = measure_constant(kind, [task.gold for task, _ in answers])
    return CalibrationResult(
        *place,
        _judge(len(answers), agreeing, constant, rule),
        decided=len(answers),
        agreeing=agreeing,
        needed=rule.items,
        kappa=_compute_kappa(find_verdict(kind), answers),
        missed=missed,
        hurried=sum(is_hurried(made, shortest_seconds) for _, made in answers),
        simulated=any(made.simulated for _, made in answers),
    )


def _compute_kappa(
    verdict: Field | None, answers: Sequence[tuple[ReviewTask, ReviewDecision]]
) -> float | None:
    if verdict is None:
        return None
    units = [
        Unit(number, {"person": str(made.fields.get(name)), "gold": str(task.gold.get(name))})
        for name in [verdict.name]
        for number, (task, made) in enumerate(answers)
    ]
    order = sorted({value for unit in units for value in unit.values.values()}, key=str)
    kappa = make_cohen_kappa(units, ("person", "gold"), order, quadratic=False)
    value = float(kappa(np.ones((1, len(units)))).coefficient[0])
    return None if isnan(value) else value


def _find_misses(
    kind: Kind, gold: Mapping[str, JsonValue], fields: Mapping[str, JsonValue]
) -> tuple[str, ...]:
    """Return the fields of a gold decision that differ by more than would be escalated."""
    return list_differences(kind, gold, {name: fields.get(name) for name in gold})


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


def _judge(
    decided: int, agreeing: int, constant: float, rule: CalibrationParams
) -> CalibrationStatus:
    if decided < rule.items:
        return "not done"
    # Binary fractions must not turn 0.8 of 30 items into 25.
    enough = round(rule.agreement * decided, 9)
    if round(constant * decided, 9) >= enough:
        return "no test"
    return "passed" if agreeing >= enough else "failed"
