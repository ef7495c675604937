"""The live log of a review in SQLite, and what only the server keeps: passwords, drafts, claims.

`events` is the journal of decisions (`decisions.py`), which decisions.jsonl is written from.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from omibench.errors import FileFormatError, MissingInputError, OutputError, ParamsError, reason_of
from omibench.files.locks import hold, open_lock
from omibench.files.outputs import open_new

LIVE: Final = "live.sqlite"
"""The log file in a review folder. It contains password hashes: never commit it to git."""
LOCK: Final = ".server.lock"
"""The lock file of a served folder; it can be deleted."""
BUSY_S: Final = 30.0
"""How long a writer waits for another process."""
CLAIM_S: Final = 1800.0
"""How long a claim lasts after the person's last draft."""
SHORTEST: Final = 10
LONGEST: Final = 1000
"""Minimum and maximum number of characters of a password."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task TEXT NOT NULL,
    person TEXT NOT NULL,
    seconds REAL,
    event TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_by_task ON events (task, number);
CREATE INDEX IF NOT EXISTS events_by_person ON events (person, number);
CREATE TRIGGER IF NOT EXISTS events_keep BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: an event is never changed'); END;
CREATE TRIGGER IF NOT EXISTS events_stay BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: an event is never taken out'); END;
CREATE TRIGGER IF NOT EXISTS events_follow BEFORE INSERT ON events
    WHEN NEW.number <> (SELECT COALESCE(MAX(number), 0) + 1 FROM events)
        OR EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: an event takes the next number'); END;

CREATE TABLE IF NOT EXISTS drafts (
    task TEXT NOT NULL, person TEXT NOT NULL, draft TEXT NOT NULL,
    PRIMARY KEY (task, person)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS own_answers (
    task TEXT NOT NULL, person TEXT NOT NULL, content_hash TEXT NOT NULL, answer TEXT NOT NULL,
    PRIMARY KEY (task, person, content_hash)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (
    task TEXT PRIMARY KEY, person TEXT NOT NULL, until REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS users (name TEXT PRIMARY KEY, password TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ended_sessions (
    session TEXT PRIMARY KEY, until REAL NOT NULL
) WITHOUT ROWID;
"""


class Database:
    """One connection to the live log, shared by the threads of a process."""

    def __init__(self, path: Path) -> None:
        """Open the log; create it if missing, readable only by its owner.

        Args:
            path: The file.

        Raises:
            MissingInputError: The file can neither be opened nor created.
            FileFormatError: The file is not a live log.
        """
        self.path = path
        self._lock = threading.RLock()
        try:
            os.close(open_new(path, os.O_RDWR | os.O_NOFOLLOW))
        except OSError as error:
            raise MissingInputError(f"{path}: cannot be opened: {reason_of(error)}") from None
        try:
            self._connection = sqlite3.connect(
                path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            # A confirmed decision survives a power cut.
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA trusted_schema = OFF")
            self._connection.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            raise FileFormatError(
                f"{path}: not a review log ({error}); move it away; recorded decisions are in "
                "decisions.jsonl"
            ) from None

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Return the connection, for queries."""
        with self._lock:
            yield self._connection

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Return the connection in an exclusive transaction across all processes.

        It is rolled back if the block fails.
        """
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the connection; the file keeps its data."""
        with self._lock:
            self._connection.close()


def lock_folder(folder: Path) -> int:
    """Return the descriptor of the lock that a served folder has until it is closed.

    Raises:
        OutputError: Another server has it, or the folder cannot be written.
    """
    path = folder / LOCK
    try:
        file = open_lock(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason_of(error)}") from None
    if not hold(file):
        os.close(file)
        raise OutputError(f"{folder}: another server uses this review; stop it first")
    return file


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


def record_answer(
    connection: sqlite3.Connection, task: str, person: str, content_hash: str, answer: str
) -> None:
    """Record a person's own answer to a problem; an answer recorded before is kept."""
    connection.execute(
        "INSERT OR IGNORE INTO own_answers VALUES (?, ?, ?, ?)",
        (task, person, content_hash, answer),
    )


def read_answer(
    connection: sqlite3.Connection, task: str, person: str, content_hash: str
) -> str | None:
    """Return a person's own answer to a problem in its current form, or None."""
    query = "SELECT answer FROM own_answers WHERE task = ? AND person = ? AND content_hash = ?"
    row = connection.execute(query, (task, person, content_hash)).fetchone()
    return str(row[0]) if row else None


def read_claims(connection: sqlite3.Connection, now: float) -> dict[str, str]:
    """Return the person with a valid claim on each task that has one."""
    return dict(connection.execute("SELECT task, person FROM claims WHERE until > ?", (now,)))


def claim_task(connection: sqlite3.Connection, task: str, person: str, now: float) -> bool:
    """Claim a task or renew the claim; return False if another person has claimed it."""
    if read_claims(connection, now).get(task) not in (None, person):
        return False
    connection.execute(
        "INSERT OR REPLACE INTO claims (task, person, until) VALUES (?, ?, ?)",
        (task, person, now + CLAIM_S),
    )
    return True


def drop_claim(connection: sqlite3.Connection, task: str, person: str) -> None:
    """Release a claim; those of other people are kept."""
    connection.execute("DELETE FROM claims WHERE task = ? AND person = ?", (task, person))


def set_password(connection: sqlite3.Connection, name: str, password: str) -> None:
    """Set a person's password, replacing any other.

    Raises:
        ParamsError: The password is too short or too long.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise ParamsError(
            f"the password of {name} has {len(password)} characters; use {SHORTEST} to {LONGEST}"
        )
    connection.execute(
        "INSERT OR REPLACE INTO users (name, password) VALUES (?, ?)", (name, _hash(password))
    )


def remove_password(connection: sqlite3.Connection, name: str) -> bool:
    """Delete a person's password, which ends their sessions; return False if there is none."""
    return connection.execute("DELETE FROM users WHERE name = ?", (name,)).rowcount > 0


def read_hash(connection: sqlite3.Connection, name: str) -> str | None:
    """Return the hash of a person's password, or None."""
    query = "SELECT password FROM users WHERE name = ?"
    row = connection.execute(query, (name,)).fetchone()
    return str(row[0]) if row else None


def list_names(connection: sqlite3.Connection) -> set[str]:
    """Return everyone who has a password."""
    return {name for (name,) in connection.execute("SELECT name FROM users")}


def check_password(password_hash: str | None, password: str) -> bool:
    """Return whether a password matches a hash. Takes the same time for unknown names."""
    from argon2 import PasswordHasher
    from argon2.exceptions import InvalidHashError, VerificationError

    if len(password) > LONGEST:
        return False
    try:
        PasswordHasher().verify(password_hash or _ABSENT, password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def _hash(password: str) -> str:
    from argon2 import PasswordHasher

    return PasswordHasher().hash(password)


_ABSENT: Final = (
    "$argon2id$v=19$m=65536,t=3,p=4$AAAAAAAAAAAAAAAAAAAAAA$"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)
"""A hash that no password matches, with the cost of the others."""
