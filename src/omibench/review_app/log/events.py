"""Events of the live log: appended, read, and checked against the chain of their hashes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from omibench.errors import FileFormatError
from omibench.review.chain import EMPTY_HEAD, extend_head, format_event
from omibench.schemas.review import ReviewDecision


def append_event(connection: sqlite3.Connection, decision: ReviewDecision) -> str:
    """Append a decision to the log; the head hash after it.

    Args:
        connection: In a transaction.
        decision: One whose id the log does not have.
    """
    number, head = read_head(connection)
    head = extend_head(head, decision)
    connection.execute(
        "INSERT INTO events (number, id, task, person, seconds, event, head)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            number + 1,
            decision.id,
            decision.task,
            decision.person,
            decision.seconds,
            format_event(decision),
            head,
        ),
    )
    return head


def read_head(connection: sqlite3.Connection) -> tuple[int, str]:
    """The number of events, and the head hash of the log (`review.chain`)."""
    row = connection.execute("SELECT number, head FROM events ORDER BY number DESC LIMIT 1")
    return row.fetchone() or (0, EMPTY_HEAD)


def read_events(connection: sqlite3.Connection, after: int = 0) -> Iterator[ReviewDecision]:
    """All events in their order, from behind the given number on."""
    rows = connection.execute("SELECT event FROM events WHERE number > ? ORDER BY number", (after,))
    for (event,) in rows:
        yield ReviewDecision.model_validate_json(event)


def read_task_events(connection: sqlite3.Connection, task: str) -> list[ReviewDecision]:
    """The events on one task, in their order."""
    rows = connection.execute("SELECT event FROM events WHERE task = ? ORDER BY number", (task,))
    return [ReviewDecision.model_validate_json(event) for (event,) in rows]


def read_events_of(
    connection: sqlite3.Connection, person: str, tasks: Sequence[str]
) -> list[ReviewDecision]:
    """The events of one person on some tasks, in their order."""
    rows = connection.execute(
        "SELECT event FROM events WHERE person = ?"
        " AND task IN (SELECT value FROM json_each(?)) ORDER BY number",
        (person, json.dumps(tasks)),
    )
    return [ReviewDecision.model_validate_json(event) for (event,) in rows]


def list_ids(connection: sqlite3.Connection) -> set[str]:
    """The ids of all events."""
    return {name for (name,) in connection.execute("SELECT id FROM events")}


def find_time(events: list[ReviewDecision], now: datetime) -> datetime:
    """The time of a new event on a task: now, yet later than every earlier event on it.

    Decisions are folded in order of time, and a clock may be set back.
    """
    latest = max((event.time for event in events), default=now - timedelta(days=1))
    return max(now, latest + timedelta(microseconds=1))


def verify_events(connection: sqlite3.Connection) -> str:
    """Compare every event with the chain of hashes; the head of the log.

    Raises:
        FileFormatError: An event or a hash is not what was appended; names its number.
    """
    head = EMPTY_HEAD
    rows = connection.execute("SELECT number, id, event, head FROM events ORDER BY number")
    for place, (number, name, event, stated_head) in enumerate(rows, 1):
        decision = ReviewDecision.model_validate_json(event)
        head = extend_head(head, decision)
        if (number, name, stated_head) != (place, decision.id, head):
            raise FileFormatError(
                f"live log: event {number} ({name}) does not follow from those before it: it was "
                "changed behind the application"
            )
    return head
