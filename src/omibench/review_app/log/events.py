"""Events of the live log: append, read, and verify against their hash chain."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from omibench.errors import FileFormatError
from omibench.review.chain import EMPTY_HEAD, extend_head, format_event
from omibench.schemas.review import ReviewDecision


def append_event(connection: sqlite3.Connection, decision: ReviewDecision) -> str:
    """Append a decision to the log and return the new head hash.

    Args:
        connection: In a transaction.
        decision: A decision whose id is not in the log.
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
    """Return the number of events, and the head hash of the log (`review.chain`)."""
    row = connection.execute("SELECT number, head FROM events ORDER BY number DESC LIMIT 1")
    return row.fetchone() or (0, EMPTY_HEAD)


def read_events(connection: sqlite3.Connection, after: int = 0) -> Iterator[ReviewDecision]:
    """Yield all events after the given number, in order."""
    rows = connection.execute("SELECT event FROM events WHERE number > ? ORDER BY number", (after,))
    for (event,) in rows:
        yield ReviewDecision.model_validate_json(event)


def read_task_events(connection: sqlite3.Connection, task: str) -> list[ReviewDecision]:
    """Return the events on one task, in order."""
    rows = connection.execute("SELECT event FROM events WHERE task = ? ORDER BY number", (task,))
    return [ReviewDecision.model_validate_json(event) for (event,) in rows]


def read_events_of(
    connection: sqlite3.Connection, person: str, tasks: Sequence[str]
) -> list[ReviewDecision]:
    """Return the events of one person on some tasks, in order."""
    rows = connection.execute(
        "SELECT event FROM events WHERE person = ?"
        " AND task IN (SELECT value FROM json_each(?)) ORDER BY number",
        (person, json.dumps(tasks)),
    )
    return [ReviewDecision.model_validate_json(event) for (event,) in rows]


def list_ids(connection: sqlite3.Connection) -> set[str]:
    """Return the ids of all events."""
    return {name for (name,) in connection.execute("SELECT id FROM events")}


def find_time(events: list[ReviewDecision], now: datetime) -> datetime:
    """Return the time of a new event on a task: now, but later than all earlier events on it.

    Decisions are folded in order of time, and the clock may be set back.
    """
    latest = max((event.time for event in events), default=now - timedelta(days=1))
    return max(now, latest + timedelta(microseconds=1))


def verify_events(connection: sqlite3.Connection) -> str:
    """Verify every event against the hash chain and return the head of the log.

    Raises:
        FileFormatError: An event or a hash differs from the chain; the message gives its number.
    """
    head = EMPTY_HEAD
    rows = connection.execute("SELECT number, id, event, head FROM events ORDER BY number")
    for place, (number, name, event, stated_head) in enumerate(rows, 1):
        decision = ReviewDecision.model_validate_json(event)
        head = extend_head(head, decision)
        if (number, name, stated_head) != (place, decision.id, head):
            raise FileFormatError(
                f"live log: event {number} ({name}) does not match the hash chain: it was changed "
                "outside the application"
            )
    return head
