"""The live log of a review in SQLite: immutable decisions, and the states of tasks.

A decision and the resulting state of its task are written in one transaction, so that pages never
fold the log. Everything except `events` can be rebuilt or is of little value.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from omibench.errors import FileFormatError, MissingInputError, reason_of
from omibench.files.modes import open_new

LIVE: Final = "live.sqlite"
"""The log file in a review folder. It contains password hashes: never commit it to git."""
BUSY_S: Final = 30.0
"""How long a writer waits for another process."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task TEXT NOT NULL,
    person TEXT NOT NULL,
    seconds REAL,
    event TEXT NOT NULL,
    head TEXT NOT NULL
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

CREATE TABLE IF NOT EXISTS task_state (
    task TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    purpose TEXT NOT NULL,
    subject TEXT,
    status TEXT NOT NULL,
    waits_for TEXT,
    rounds INTEGER NOT NULL,
    stale INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS task_state_by_role ON task_state (waits_for, position);
CREATE TABLE IF NOT EXISTS task_people (
    task TEXT NOT NULL, role TEXT NOT NULL, person TEXT NOT NULL,
    PRIMARY KEY (task, role, person)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS task_readers (
    task TEXT NOT NULL, person TEXT NOT NULL, role TEXT NOT NULL,
    PRIMARY KEY (task, person, role)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS task_readers_by_person ON task_readers (person, task);

CREATE TABLE IF NOT EXISTS drafts (
    task TEXT NOT NULL, person TEXT NOT NULL, draft TEXT NOT NULL,
    PRIMARY KEY (task, person)
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
            self._connection.execute("PRAGMA trusted_schema = OFFf")
            self._connection.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            raise FileFormatError(
                f"{path}: not a review log ({error}); move it away; decisions written by `omibench "
                "review export` are in decisions.jsonl"
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
