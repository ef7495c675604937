"""Unfinished work: drafts saved during typing, and claims that expire."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Final

CLAIM_S: Final = 1800.0
"""How long a claim lasts after the person's last draft."""


def save_draft(
    connection: sqlite3.Connection, task: str, person: str, draft: dict[str, Any]
) -> None:
    """Save a person's draft in place of the previous one."""
    connection.execute(
        "INSERT OR REPLACE INTO drafts (task, person, draft) VALUES (?, ?, ?)",
        (task, person, json.dumps(draft, ensure_ascii=False)),
    )


def read_draft(connection: sqlite3.Connection, task: str, person: str) -> dict[str, Any] | None:
    """Return a person's draft, or None."""
    query = "SELECT draft FROM drafts WHERE task = ? AND person = ?"
    row = connection.execute(query, (task, person)).fetchone()
    return dict(json.loads(row[0])) if row else None


def list_drafts(connection: sqlite3.Connection, person: str) -> set[str]:
    """Return the tasks of which a person has a draft."""
    rows = connection.execute("SELECT task FROM drafts WHERE person = ?", (person,))
    return {task for (task,) in rows}


def drop_draft(connection: sqlite3.Connection, task: str, person: str) -> None:
    """Delete a draft after it was submitted."""
    connection.execute("DELETE FROM drafts WHERE task = ? AND person = ?", (task, person))


def find_claim(connection: sqlite3.Connection, task: str, now: float) -> str | None:
    """Return the person with a valid claim on a task."""
    query = "SELECT person FROM claims WHERE task = ? AND until > ?"
    row = connection.execute(query, (task, now)).fetchone()
    return str(row[0]) if row else None


def claim_task(connection: sqlite3.Connection, task: str, person: str, now: float) -> bool:
    """Claim a task or renew the claim; return False if another person has claimed it."""
    if find_claim(connection, task, now) not in (None, person):
        return False
    connection.execute(
        "INSERT OR REPLACE INTO claims (task, person, until) VALUES (?, ?, ?)",
        (task, person, now + CLAIM_S),
    )
    return True


def drop_claim(connection: sqlite3.Connection, task: str, person: str) -> None:
    """Release a claim; those of other people are kept."""
    connection.execute("DELETE FROM claims WHERE task = ? AND person = ?", (task, person))
