"""A person's workload and the overall progress, for pages and programs."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from pydantic import JsonValue

from omibench.review.app.database import list_drafts
from omibench.review.app.decisions import count_events
from omibench.review.app.pages import KindLine, MissLine, PersonLine, TaskLine, TestLine, Workload
from omibench.review.app.service import ReviewService
from omibench.review.app.states import (
    WaitingQuery,
    count_decided,
    count_stale,
    count_states,
    count_waiting,
    find_next,
    list_decided,
    list_touched,
    list_waiting,
)
from omibench.review.app.tasks import Awaited, ListedTask
from omibench.review.calibration import Miss
from omibench.review.kinds import KINDS
from omibench.review.people import Reviewer

LISTED: Final = 200
"""The maximum number of waiting tasks in a list."""
DECIDED: Final = 50
"""The maximum number of recently decided tasks in a list."""


def list_tasks(
    service: ReviewService, person: Reviewer
) -> tuple[list[Workload], list[TaskLine], int]:
    """Return a person's tasks: counts by kind and role, the first tasks, and how many more wait."""
    tasks, query = service.content.tasks, service.find_waiting(person)
    with service.database.read() as connection:
        waiting = count_waiting(connection, query)
        workloads = _measure_workloads(connection, query, waiting)
        lines = _list_waiting(connection, query, tasks)
        hidden = max(0, sum(waiting.values()) - LISTED)
        lines += _list_decided(connection, person, tasks)
    return workloads, lines, hidden


def list_tests(service: ReviewService, person: Reviewer) -> list[TestLine]:
    """Return a person's results in the calibration tests; what was missed only after the test."""
    return [
        TestLine(
            KINDS[test.kind].title,
            test.set_name,
            test.status,
            test.agreeing,
            test.decided,
            test.needed,
            test.kappa,
            test.hurried,
            service.shortest_seconds,
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


def measure_kinds(service: ReviewService) -> tuple[list[KindLine], str]:
    """Return the progress of each kind, and the head hash of decisions.jsonl."""
    with service.database.read() as connection:
        counts, stale = count_states(connection), count_stale(connection)
    kinds = [
        KindLine(
            kind.title,
            {status: count for (name, status), count in counts.items() if name == kind.name},
            stale.get(kind.name, 0),
        )
        for kind in KINDS.values()
        if any(name == kind.name for name, _ in counts)
    ]
    return kinds, service.log.head


def format_metrics(service: ReviewService) -> str:
    """Return metrics in the Prometheus text format: decisions, tasks by kind and status, stale
    tasks, and the head hash of decisions.jsonl.
    """
    with service.database.read() as connection:
        number = count_events(connection)
        states, stale = count_states(connection), count_stale(connection)
    lines = [
        "# TYPE omibench_review_events_total counter",
        f"omibench_review_events_total {number}",
        "# TYPE omibench_review_head_info gauge",
        f'omibench_review_head_info{{sha256="{service.log.head}"}} 1',
        "# TYPE omibench_review_tasks gauge",
        *(
            f'omibench_review_tasks{{kind="{kind}",status="{status}"}} {count}'
            for (kind, status), count in sorted(states.items())
        ),
        "# TYPE omibench_review_stale_tasks gauge",
        *(
            f'omibench_review_stale_tasks{{kind="{kind}"}} {count}'
            for kind, count in sorted(stale.items())
        ),
    ]
    return "\n".join(lines) + "\n"


def measure_people(service: ReviewService, only: str | None = None) -> list[PersonLine]:
    """Return people's work, in the order of reviewers.yaml.

    Args:
        service: The review.
        only: Restrict to this person; everyone if None.
    """
    seconds: defaultdict[str, list[float | None]] = defaultdict(list)
    with service.database.read() as connection:
        for name, duration in connection.execute("SELECT person, seconds FROM events"):
            seconds[name].append(duration)
    return [
        _describe_person(person, seconds[person.name], service.shortest_seconds)
        for person in service.content.people.values()
        if only in (None, person.name)
    ]


def _describe_person(
    person: Reviewer, seconds: Sequence[float | None], shortest: float
) -> PersonLine:
    times = [duration for duration in seconds if duration is not None]
    return PersonLine(
        person.name,
        tuple(person.roles),
        decided=len(seconds),
        median_seconds=median(times) if times else None,
        hurried=sum(duration < shortest for duration in times),
        simulated=person.simulated,
    )


def _measure_workloads(
    connection: sqlite3.Connection,
    query: WaitingQuery,
    waiting: Mapping[tuple[str, Awaited], int],
) -> list[Workload]:
    decided = count_decided(connection, query.person.name)
    open_count = {(kind, _name_role(awaited)): n for (kind, awaited), n in waiting.items()}
    next_tasks = {
        (kind, _name_role(awaited)): find_next(
            connection, query._replace(kind=kind, awaited=awaited)
        )
        for kind, awaited in waiting
    }
    order = list(KINDS)
    pairs = sorted({*open_count, *decided}, key=lambda pair: (order.index(pair[0]), pair[1]))
    return [
        Workload(
            KINDS[kind].title,
            role,
            done=decided.get((kind, role), 0),
            total=decided.get((kind, role), 0) + open_count.get((kind, role), 0),
            next_task=next_tasks.get((kind, role)),
        )
        for kind, role in pairs
    ]


def _list_waiting(
    connection: sqlite3.Connection, query: WaitingQuery, tasks: Mapping[str, ListedTask]
) -> list[TaskLine]:
    name = query.person.name
    drafts, touched = list_drafts(connection, name), list_touched(connection, name)
    rows = list_waiting(connection, query, LISTED)
    return [
        _describe_line(
            tasks[row.task],
            _name_role(row.awaited),
            "changed" if row.task in touched else "draft" if row.task in drafts else "open",
        )
        for row in rows
        if row.task in tasks
    ]


def _list_decided(
    connection: sqlite3.Connection, person: Reviewer, tasks: Mapping[str, ListedTask]
) -> list[TaskLine]:
    rows = list_decided(connection, person.name, DECIDED)
    return [
        _describe_line(
            tasks[task],
            role,
            "escalated" if (role, status) == ("senior", "escalated") else "done",
        )
        for task, role, status in rows
        if task in tasks
    ]


def _describe_line(listed: ListedTask, role: str, status: str) -> TaskLine:
    task = listed.task
    return TaskLine(task.id, listed.kind.title, role, status, task.purpose, task.simulated)


def _name_role(awaited: Awaited) -> str:
    """Return the role for display; `everyone` is shown as annotator."""
    return "annotator" if awaited == "everyone" else awaited
