"""Progress of a review, as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from omibench.review.calibration import CalibrationResult, is_hurried
from omibench.review.kinds import KINDS
from omibench.review.report import ReviewReport, compute_states
from omibench.review.state import TaskState
from omibench.schemas.review import ReviewDecision, ReviewRole, ReviewTask
from omibench.text.lists import list_first
from omibench.text.terminal import align_columns, printable

_ROLE_OF_STATUS: Mapping[str, ReviewRole] = {
    "open": "annotator",
    "audit": "auditor",
    "escalated": "senior",
}
_PERSON_COLUMNS = ["person", "kind", "done", "waiting", "stale", "median", "hurried"]
LISTED_IDS = 10
"""The maximum number of stale and escalated task ids to print."""


@dataclass(frozen=True)
class PersonProgress:
    """One person's progress in one kind of task.

    Attributes:
        person: Name.
        kind: Name of the kind.
        done: Tasks that the person decided on their current content.
        waiting: Tasks assigned to the person that wait for that role.
        stale: Tasks that the person decided only on other content.
        seconds: The median time of a decision, in seconds; None if no time was measured.
        hurried: The number of decisions in less time than `review.shortest_seconds`.
        simulated: Whether the person is simulated.
    """

    person: str
    kind: str
    done: int = 0
    waiting: int = 0
    stale: int = 0
    seconds: float | None = None
    hurried: int = 0
    simulated: bool = False


def measure_people(
    tasks: Iterable[ReviewTask],
    decisions: Iterable[ReviewDecision],
    reviewers: int | None = None,
    shortest_seconds: float = 0.0,
) -> list[PersonProgress]:
    """Return each person's progress by kind, in alphabetical order of people.

    Args:
        tasks: Tasks of every purpose.
        decisions: The decisions on them.
        reviewers: The study's number of required decisions (`count_needed`).
        shortest_seconds: The least credible time of a decision.
    """
    every_decision = list(decisions)
    done: Mapping[tuple[str, str], set[str]] = defaultdict(set)
    stale: Mapping[tuple[str, str], set[str]] = defaultdict(set)
    waiting: Mapping[tuple[str, str], set[str]] = defaultdict(set)
    seconds: Mapping[tuple[str, str], list[float]] = defaultdict(list)
    hurried: Counter[tuple[str, str]] = Counter()
    for state in compute_states(tasks, every_decision, reviewers).values():
        kind = state.task.kind
        for person in list_people_waited_for(state):
            waiting[person, kind].add(state.task.id)
        for decision in state.decisions:
            done[decision.person, kind].add(state.task.id)
            hurried[decision.person, kind] += is_hurried(decision, shortest_seconds)
            if decision.seconds is not None:
                seconds[decision.person, kind].append(decision.seconds)
        for decision in state.stale:
            stale[decision.person, kind].add(state.task.id)
    simulated = {decision.person for decision in every_decision if decision.simulated}
    order = {name: number for number, name in enumerate(KINDS)}
    places = sorted({*done, *stale, *waiting}, key=lambda place: (place[0], order[place[1]]))
    return [
        PersonProgress(
            person,
            kind,
            done=len(done[person, kind]),
            waiting=len(waiting[person, kind]),
            stale=len(stale[person, kind] - done[person, kind]),
            seconds=median(seconds[person, kind]) if seconds[person, kind] else None,
            hurried=hurried[person, kind],
            simulated=person in simulated,
        )
        for person, kind in places
    ]


def list_people_waited_for(state: TaskState) -> list[str]:
    """Return the assignees that a task waits for; empty if it is settled or open to a whole role.

    For a task that everyone does independently, these are the people who have not decided yet.
    """
    if state.status == "settled":
        return []
    people = state.task.people
    decided = {decision.person for decision in state.decisions}
    if KINDS[state.task.kind].design == "everyone":
        return sorted({name for names in people.values() for name in names} - decided)
    asked = people.get(_ROLE_OF_STATUS[state.status], [])
    if state.status == "escalated":
        return sorted(asked)
    return sorted(set(asked) - decided)


def describe_progress(report: ReviewReport, people: Sequence[PersonProgress]) -> str:
    """Return the text of `omibench review status`."""
    kinds = [
        [k.kind, k.open, k.audit, k.escalated, k.settled, k.tasks, k.people] for k in report.kinds
    ]
    header = ["kind", "open", "audit", "escalated", "settled", "tasks", "people"]
    lines = align_columns([header, *kinds]) if kinds else ["no tasks"]
    rows = [
        [
            printable(p.person) + " (SIMULATED)" * p.simulated,
            p.kind,
            p.done,
            p.waiting,
            p.stale,
            "-" if p.seconds is None else f"{p.seconds:.0f} s",
            p.hurried,
        ]
        for p in people
    ]
    if rows:
        lines += [
            "",
            *align_columns([_PERSON_COLUMNS, *rows]),
        ]
    lines += ["", f"{report.decisions} decisions, head {report.head}"]
    lines += _list_ids("escalated", report.escalations)
    lines += _list_ids("stale, to decide again", report.stale)
    if report.superseded:
        lines.append(f"{report.superseded} stale decisions on tasks settled since")
    if report.orphans:
        lines.append(f"{report.orphans} decisions on missing tasks")
    return "\n".join(lines)


def dump_progress(
    report: ReviewReport,
    people: Sequence[PersonProgress],
    tests: Sequence[CalibrationResult] = (),
) -> str:
    """Return the same as a JSON document for scripts, with the results of calibrations."""
    values = {
        **asdict(report),
        "by_person": [asdict(person) for person in people],
        "calibration": [asdict(test) for test in tests],
    }
    return json.dumps(values, indent=2, ensure_ascii=False)


def _list_ids(title: str, ids: Sequence[str]) -> list[str]:
    if not ids:
        return []
    return [f"{title} ({len(ids)}): {list_first(list(map(printable, ids)), LISTED_IDS)}"]
