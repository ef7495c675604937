"""What people have begun: drafts that are saved as they type, and claims that expire."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Final

CLAIM_S: Final = 1800.0
"""For how long a task stays with the person who began it, from their last draft on."""


def save_draft(
    connection: sqlite3.Connection, task: str, person: str, draft: dict[str, Any]
) -> None:
    """Keep what a person has filled in so far, in place of what was kept before."""
    connection.execute(
        "INSERT OR REPLACE INTO drafts (task, person, draft) VALUES (?, ?, ?)",
        (task, person, json.dumps(draft, ensure_ascii=False)),
    )


def read_draft(connection: sqlite3.Connection, task: str, person: str) -> dict[str, Any] | None:
    """What a person has filled in so far; None where there is nothing."""
    query = "SELECT draft FROM drafts WHERE task = ? AND person = ?"
    row = connection.execute(query, (task, person)).fetchone()
    return dict(json.loads(row[0])) if row else None


def list_drafts(connection: sqlite3.Connection, person: str) -> set[str]:
    """The tasks of which a person has a draft."""
    rows = connection.execute("SELECT task FROM drafts WHERE person = ?", (person,))
    return {task for (task,) in rows}


def drop_draft(connection: sqlite3.Connection, task: str, person: str) -> None:
    """Forget a draft, since it was sent."""
    connection.execute("DELETE FROM drafts WHERE task = ? AND person = ?", (task, person))


def find_claim(connection: sqlite3.Connection, task: str, now: float) -> str | None:
    """Who has claimed a task, and still holds it."""
    query = "SELECT person FROM claims WHERE task = ? AND until > ?"
    row = connection.execute(query, (task, now)).fetchone()
    return str(row[0]) if row else None


def claim_task(connection: sqlite3.Connection, task: str, person: str, now: float) -> bool:
    """Claim a task for a person, or renew the claim; False where another person holds it."""
    if find_claim(connection, task, now) not in (None, person):
        return False
    connection.execute(
        "INSERT OR REPLACE INTO claims (task, person, until) VALUES (?, ?, ?)",
        (task, person, now + CLAIM_S),
    )
    return True


def drop_claim(connection: sqlite3.Connection, task: str, person: str) -> None:
    """Give a claim back; that of another person stays."""
    connection.execute("DELETE FROM claims WHERE task = ? AND person = ?", (task, person))
