"""A person's workload and the overall progress, for pages and programs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from statistics import median
from typing import Final

from pydantic import JsonValue

from omibench.review.app.database import list_drafts
from omibench.review.app.pages import KindLine, MissLine, PersonLine, ResultLine, TaskLine, Workload
from omibench.review.app.service import OpenedTask, ReviewService, WaitingTask
from omibench.review.app.tasks import ListedTask, list_taken_roles
from omibench.review.calibration import Miss
from omibench.review.kinds import KINDS
from omibench.review.people import Reviewer
from omibench.review.state import TaskState

LISTED: Final = 200
"""The maximum number of waiting tasks in a list."""
DECIDED: Final = 50
"""The maximum number of a person's last decisions whose tasks are listed."""


def list_tasks(
    service: ReviewService, person: Reviewer
) -> tuple[list[Workload], list[TaskLine], int]:
    """Return a person's tasks: counts by kind and role, the first tasks, and how many more wait."""
    tasks, states, waiting = service.content.tasks, service.states, service.list_waiting(person)
    own = [event.task for event in reversed(service.log.events) if event.person == person.name]
    touched = set(own)
    with service.database.read() as connection:
        drafts = list_drafts(connection, person.name)
    lines = []
    for listed, role in waiting[:LISTED]:
        name = listed.task.id
        status = "changed" if name in touched else "draft" if name in drafts else "open"
        lines.append(_describe_line(listed, role, status))
    for name in dict.fromkeys(islice(own, DECIDED)):
        for taken in list_taken_roles(states[name], person) if name in states else ():
            is_escalated = (taken, states[name].status) == ("senior", "escalated")
            status = "escalated" if is_escalated else "done"
            lines.append(_describe_line(tasks[name], taken, status))
    return _measure_workloads(person, states, waiting), lines, max(0, len(waiting) - LISTED)


def _measure_workloads(
    person: Reviewer, states: Mapping[str, TaskState], waiting: list[WaitingTask]
) -> list[Workload]:
    done: Counter[tuple[str, str]] = Counter(
        (state.task.kind, role)
        for state in states.values()
        for role in list_taken_roles(state, person)
    )
    asked: Counter[tuple[str, str]] = Counter((listed.task.kind, role) for listed, role in waiting)
    first: dict[tuple[str, str], str] = {
        (listed.task.kind, role): listed.task.id for listed, role in reversed(waiting)
    }
    order = list(KINDS)
    return [
        Workload(
            KINDS[pair[0]].title,
            pair[1],
            done=done[pair],
            total=done[pair] + asked[pair],
            next_task=first.get(pair),
        )
        for pair in sorted({*asked, *done}, key=lambda pair: (order.index(pair[0]), pair[1]))
    ]


FEWEST: Final = 3
"""The number of a person's own times that an estimate of the time left needs."""


def measure_pace(
    service: ReviewService, opened: OpenedTask, person: Reviewer
) -> dict[str, int | float | None]:
    """Return a person's place in their tasks of one kind and role, and an estimated time left.

    Returns:
        `number` of the open task (None if it does not wait), `total`, and `left_s`: the waiting
        tasks times the median of the person's times in this kind; None with fewer than `FEWEST`.
    """
    kind, role = opened.listed.task.kind, opened.role
    waiting = {
        listed.task.id
        for listed, asked in service.list_waiting(person)
        if (listed.task.kind, asked) == (kind, role)
    }
    done = sum(
        state.task.kind == kind and role in list_taken_roles(state, person)
        for state in service.states.values()
    )
    times = [
        event.seconds
        for event in service.log.events
        if (event.person, event.kind) == (person.name, kind) and event.seconds is not None
    ]
    is_waiting = opened.listed.task.id in waiting
    return {
        "number": done + 1 if is_waiting else None,
        "total": done + len(waiting),
        "left_s": len(waiting) * median(times) if len(times) >= FEWEST else None,
    }


def _describe_line(listed: ListedTask, role: str, status: str) -> TaskLine:
    task = listed.task
    return TaskLine(task.id, listed.kind.title, role, status, task.purpose, task.simulated)


def list_tests(service: ReviewService, person: Reviewer) -> list[ResultLine]:
    """Return a person's results in the calibration tests; what was missed only after the test."""
    return [
        ResultLine(
            KINDS[test.kind].title,
            test,
            tuple(_describe_miss(test.kind, miss) for miss in test.missed if test.is_done),
        )
        for test in service.measure_tests(person)
    ]


def _describe_miss(kind: str, miss: Miss) -> MissLine:
    field = KINDS[kind].by_name[miss.field]
    titles = {option.value: option.title for option in field.options}

    def name(value: JsonValue) -> str:
        values = value if isinstance(value, list) else [value]
        return ", ".join(titles.get(str(v), str(v)) for v in values if v is not None) or "–"

    return MissLine(miss.task, field.title, name(miss.given), name(miss.gold))


def measure_kinds(service: ReviewService) -> dict[str, KindLine]:
    """Return the progress of each kind that has tasks, by its name."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    stale: Counter[str] = Counter()
    for state in service.states.values():
        counts[state.task.kind][state.status] += 1
        stale[state.task.kind] += bool(state.stale) and state.status != "settled"
    return {
        name: KindLine(kind.title, counts[name], stale[name])
        for name, kind in KINDS.items()
        if name in counts
    }


def format_metrics(service: ReviewService) -> str:
    """Return metrics in the Prometheus text format: decisions, tasks by kind and status, stale
    tasks, and the head hash of decisions.jsonl.
    """
    kinds = sorted(measure_kinds(service).items())

    def list_lines() -> Iterator[str]:
        yield "# TYPE omibench_review_events_total counter"
        yield f"omibench_review_events_total {len(service.log.events)}"
        yield "# TYPE omibench_review_head_info gauge"
        yield f'omibench_review_head_info{{sha256="{service.log.head}"}} 1'
        yield "# TYPE omibench_review_tasks gauge"
        for name, kind in kinds:
            for status, count in sorted(kind.counts.items()):
                yield f'omibench_review_tasks{{kind="{name}",status="{status}"}} {count}'
        yield "# TYPE omibench_review_stale_tasks gauge"
        for name, kind in kinds:
            if kind.stale:
                yield f'omibench_review_stale_tasks{{kind="{name}"}} {kind.stale}'

    return "".join(f"{line}\n" for line in list_lines())


def measure_people(service: ReviewService, only: str | None = None) -> list[PersonLine]:
    """Return people's work, in the order of reviewers.yaml.

    Args:
        service: The review.
        only: Restrict to this person; everyone if None.
    """
    seconds: defaultdict[str, list[float | None]] = defaultdict(list)
    for event in service.log.events:
        seconds[event.person].append(event.seconds)
    lines = []
    for person in service.content.people.values():
        if only in (None, person.name):
            times = [duration for duration in seconds[person.name] if duration is not None]
            hurried = sum(duration < service.shortest_seconds for duration in times)
            number, time = len(seconds[person.name]), median(times) if times else None
            lines.append(PersonLine(person, number, time, hurried))
    return lines
