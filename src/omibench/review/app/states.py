"""Table of task states, stored with the events, for queries in task order."""

from __future__ import annotations

import json
import sqlite3
from typing import Final, NamedTuple

from omibench.review.app.tasks import Awaited, read_subject
from omibench.review.people import Reviewer
from omibench.review.state import TaskState
from omibench.schemas.review import ReviewRole, ReviewTask


class QueuedTask(NamedTuple):
    """A task that waits for a person."""

    task: str
    kind: str
    awaited: Awaited
    position: int


class WaitingQuery(NamedTuple):
    """A query for tasks that wait for a person and are not claimed by others.

    Attributes:
        person: The person.
        now: The current time, as in claims.
        kind: Return only tasks of this kind.
        awaited: Return only tasks that wait for this role.
        barred: Kinds for which the person has not passed the test.
    """

    person: Reviewer
    now: float
    kind: str | None = None
    awaited: Awaited | None = None
    barred: frozenset[str] = frozenset()

    @property
    def values(self) -> dict[str, str | float | None]:
        """Return the values of the query's placeholders."""
        roles = [*self.person.roles, "everyone"] if self.awaited is None else [self.awaited]
        subjects = self.person.subjects
        return {
            "roles": json.dumps(roles),
            "person": self.person.name,
            "subjects": None if subjects is None else json.dumps(subjects),
            "now": self.now,
            "kind": self.kind,
            "barred": json.dumps(sorted(self.barred)),
        }


_WAITING: Final = """
SELECT s.task, s.kind, s.waits_for, s.position FROM task_state s
WHERE s.waits_for IN (SELECT value FROM json_each(:roles))
AND (:kind IS NULL OR s.kind = :kind)
AND (s.purpose <> 'work' OR s.kind NOT IN (SELECT value FROM json_each(:barred)))
AND NOT EXISTS (
    SELECT 1 FROM task_readers r WHERE r.task = s.task AND r.person = :person
    AND (s.waits_for <> 'senior' OR r.role <> 'senior')
)
AND CASE
    WHEN EXISTS (SELECT 1 FROM task_people p WHERE p.task = s.task AND p.role = s.waits_for)
    THEN EXISTS (
        SELECT 1 FROM task_people p
        WHERE p.task = s.task AND p.role = s.waits_for AND p.person = :person
    )
    ELSE :subjects IS NULL OR s.subject IS NULL OR s.waits_for = 'everyone'
        OR s.subject IN (SELECT value FROM json_each(:subjects))
    END
AND NOT EXISTS (
    SELECT 1 FROM claims c WHERE c.task = s.task AND c.person <> :person AND c.until > :now
    AND s.waits_for <> 'everyone'
)
"""


def write_state(
    connection: sqlite3.Connection,
    position: int,
    task: ReviewTask,
    state: TaskState,
    awaited: Awaited | None,
) -> None:
    """Write the state of a task, in the transaction of the event that changed it.

    Args:
        connection: In a transaction.
        position: The position of the task in tasks.jsonl.
        task: The task.
        state: Its state.
        awaited: The role that it waits for.
    """
    connection.execute(
        "INSERT OR REPLACE INTO task_state"
        " (task, position, kind, purpose, subject, status, waits_for, rounds, stale)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            task.id,
            position,
            task.kind,
            task.purpose,
            read_subject(task),
            state.status,
            awaited,
            state.rounds,
            len(state.stale),
        ),
    )
    connection.execute("DELETE FROM task_readers WHERE task = ?", (task.id,))
    connection.executemany(
        "INSERT OR IGNORE INTO task_readers (task, person, role) VALUES (?, ?, ?)",
        [(task.id, d.person, _name_reader(d.role)) for d in state.decisions],
    )


def write_people(connection: sqlite3.Connection, task: ReviewTask, awaited: Awaited | None) -> None:
    """Write the assignees of a task, by role."""
    connection.execute("DELETE FROM task_people WHERE task = ?", (task.id,))
    rows = [
        (task.id, "everyone" if awaited == "everyone" else role, name)
        for role, names in task.people.items()
        for name in names
    ]
    connection.executemany(
        "INSERT OR IGNORE INTO task_people (task, role, person) VALUES (?, ?, ?)", rows
    )


def clear_states(connection: sqlite3.Connection) -> None:
    """Empty the tables that can be rebuilt from events and tasks."""
    for table in ("task_state", "task_people", "task_readers"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608


def list_waiting(
    connection: sqlite3.Connection, query: WaitingQuery, limit: int
) -> list[QueuedTask]:
    """Return the first tasks that wait for a person."""
    rows = connection.execute(
        f"{_WAITING} ORDER BY s.position LIMIT :limit", {**query.values, "limit": limit}
    )
    return [QueuedTask(*row) for row in rows]


def count_waiting(
    connection: sqlite3.Connection, query: WaitingQuery
) -> dict[tuple[str, Awaited], int]:
    """Return the number of tasks that wait for a person, by kind and role."""
    rows = connection.execute(
        f"SELECT kind, waits_for, COUNT(*) FROM ({_WAITING}) GROUP BY kind, waits_for",  # noqa: S608
        query.values,
    )
    return {(kind, awaited): count for kind, awaited, count in rows}


def find_next(
    connection: sqlite3.Connection, query: WaitingQuery, position: int = -1
) -> str | None:
    """Return the next task that waits for a person: after a position, then from the first on.

    Args:
        connection: The log.
        query: The query of the person.
        position: The position of the current task, which is not returned.
    """
    values = {**query.values, "position": position}
    for side in (">", "<"):
        sql = f"{_WAITING} AND s.position {side} :position ORDER BY s.position LIMIT 1"
        if row := connection.execute(sql, values).fetchone():
            return str(row[0])
    return None


def find_previous(connection: sqlite3.Connection, query: WaitingQuery, position: int) -> str | None:
    """Return the nearest task before a position that waits for a person or that they decided."""
    sql = f"{_WAITING} AND s.position < :position ORDER BY s.position DESC LIMIT 1"
    values = {**query.values, "position": position}
    waiting = connection.execute(sql, values).fetchone()
    decided = connection.execute(
        "SELECT s.task, s.kind, s.waits_for, s.position FROM task_readers r"
        " JOIN task_state s ON s.task = r.task"
        " WHERE r.person = :person AND s.position < :position ORDER BY s.position DESC LIMIT 1",
        {"person": query.person.name, "position": position},
    ).fetchone()
    nearest = max((row for row in (waiting, decided) if row), key=lambda row: row[3], default=None)
    return str(nearest[0]) if nearest else None


def list_decided(
    connection: sqlite3.Connection, person: str, limit: int
) -> list[tuple[str, str, str]]:
    """Return a person's most recently decided tasks, latest first: task, role, status.

    Args:
        connection: The log.
        person: The name.
        limit: The maximum number of the person's last events to read.
    """
    rows = connection.execute(
        "WITH latest AS ("
        " SELECT task, MAX(number) AS number FROM ("
        "  SELECT task, number FROM events WHERE person = :person ORDER BY number DESC LIMIT :limit"
        " ) GROUP BY task"
        ")"
        " SELECT r.task, r.role, s.status FROM latest l"
        " JOIN task_readers r ON r.task = l.task AND r.person = :person"
        " JOIN task_state s ON s.task = l.task ORDER BY l.number DESC",
        {"person": person, "limit": limit},
    )
    return rows.fetchall()


def list_touched(connection: sqlite3.Connection, person: str) -> set[str]:
    """Return the tasks on which a person ever decided, on any content."""
    rows = connection.execute("SELECT DISTINCT task FROM events WHERE person = ?", (person,))
    return {task for (task,) in rows}


def count_decided(connection: sqlite3.Connection, person: str) -> dict[tuple[str, str], int]:
    """Return the number of tasks that a person has decided on their current content, by kind and
    role.
    """
    rows = connection.execute(
        "SELECT s.kind, r.role, COUNT(*) FROM task_readers r JOIN task_state s ON s.task = r.task"
        " WHERE r.person = ? GROUP BY s.kind, r.role",
        (person,),
    )
    return {(kind, role): count for kind, role, count in rows}


def count_states(connection: sqlite3.Connection) -> dict[tuple[str, str], int]:
    """Return the number of tasks by kind and status."""
    rows = connection.execute("SELECT kind, status, COUNT(*) FROM task_state GROUP BY kind, status")
    return {(kind, status): count for kind, status, count in rows}


def count_stale(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the number of unsettled tasks with decisions on other content, by kind."""
    rows = connection.execute(
        "SELECT kind, COUNT(*) FROM task_state"
        " WHERE stale > 0 AND status <> 'settled' GROUP BY kind"
    )
    return dict(rows.fetchall())


def _name_reader(role: ReviewRole) -> ReviewRole:
    """Return the role as which a decision counts; imported decisions count as an annotator's."""
    return "annotator" if role == "imported" else role
