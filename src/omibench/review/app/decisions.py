"""Decisions: the journal of a running server in SQLite, and decisions.jsonl written from it.

A decision is durable in the journal first and then appended to decisions.jsonl, which is the only
input of the graph and has the only hash chain (`review.folder`). After a kill between the two
writes, the next start appends what is missing. Lines that others add to decisions.jsonl (git,
`review import`, notes of the explorer) are taken into the journal.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from pydantic import ValidationError

from omibench.errors import FileFormatError
from omibench.params.review import DECISIONS
from omibench.review.app.database import LIVE, Database
from omibench.review.folder import (
    EMPTY_HEAD,
    FileSignature,
    compute_head,
    extend_head,
    extend_unchanged,
    format_event,
    read_record,
    sign_file,
    sort_new,
)
from omibench.schemas.review import ReviewDecision

log = logging.getLogger("omibench.review")


class DecisionLog:
    """The decisions of a served review, the same in the journal and in decisions.jsonl."""

    def __init__(self, database: Database, folder: Path) -> None:
        """Make journal and decisions.jsonl equal.

        Args:
            database: The live log, which no other server writes.
            folder: The review folder; decisions.jsonl may be missing.

        Raises:
            FileFormatError: The journal is broken, or has another decision under the id of a line.
            OutputError: decisions.jsonl cannot be written.
        """
        self._database = database
        self._folder = folder
        self._signature: FileSignature | None = None
        self._missing: list[ReviewDecision] = []
        self.lock = threading.RLock()
        """Held by whoever adds decisions or computes something from all of them."""
        self.head = EMPTY_HEAD
        """The head hash of decisions.jsonl."""
        with database.write() as connection:
            self.events = list(read_events(connection))
            """All decisions, in the order of the journal."""
        self.synchronise()

    def has_changed(self) -> bool:
        """Return whether others have changed decisions.jsonl."""
        return sign_file(self._folder / DECISIONS) != self._signature

    def add(self, decision: ReviewDecision) -> None:
        """Add a decision that is in the journal; `synchronise` appends it to decisions.jsonl."""
        self.events.append(decision)
        self._missing.append(decision)

    def synchronise(self) -> None:
        """Append new decisions of the journal to decisions.jsonl, and take in lines of others.

        Raises:
            FileFormatError: decisions.jsonl is larger than 1 GiB.
            OutputError: decisions.jsonl cannot be written. The next call appends the decisions.
        """
        with self.lock:
            signature = None
            while signature is None:
                if self._signature is None or self.has_changed():
                    self._signature = self._take_in()
                signature = extend_unchanged(self._folder, self._missing, self._signature)
            self._signature = signature
            for decision in self._missing:
                self.head = extend_head(self.head, decision)
            self._missing = []

    def _take_in(self) -> FileSignature:
        """Take lines into the journal, and find its decisions that decisions.jsonl lacks."""
        signature, record = sign_file(self._folder / DECISIONS), read_record(self._folder)
        for error in record.errors:
            log.warning("%s; the line is skipped", error)
        growth = sort_new(self.events, zip(record.places, record.rows, strict=True))
        for error in growth.errors:
            if self._signature is None:
                raise FileFormatError(
                    f"{error}. The other one is in {LIVE}: restore the line from git, or, if "
                    f"{LIVE} was changed, move it away and set the passwords again"
                )
            log.warning("%s", error)
        with self._database.write() as connection:
            for decision in growth.added:
                append_event(connection, decision)
        self._missing = find_missing(self.events, record.rows)
        self.events += growth.added
        self.head = compute_head(record.rows)
        return signature


def append_event(connection: sqlite3.Connection, decision: ReviewDecision) -> None:
    """Append a decision to the journal.

    Args:
        connection: In a transaction.
        decision: A decision whose id is not in the journal.
    """
    event = decision.id, decision.task, decision.person, decision.seconds, format_event(decision)
    connection.execute(
        "INSERT INTO events (number, id, task, person, seconds, event)"
        " SELECT COALESCE(MAX(number), 0) + 1, ?, ?, ?, ?, ? FROM events",
        event,
    )


def read_events(connection: sqlite3.Connection) -> Iterator[ReviewDecision]:
    """Yield all decisions of the journal, in order.

    Raises:
        FileFormatError: An event is not the decision of its id.
    """
    rows = connection.execute("SELECT number, id, event FROM events ORDER BY number")
    for number, name, event in rows:
        try:
            decision = ReviewDecision.model_validate_json(event)
        except ValidationError:
            decision = None
        if decision is None or decision.id != name:
            raise FileFormatError(
                f"{LIVE}, event {number} ({name}): was changed outside the application; move the "
                "file away: recorded decisions are in decisions.jsonl"
            )
        yield decision


def find_missing(
    events: list[ReviewDecision], recorded: tuple[ReviewDecision, ...]
) -> list[ReviewDecision]:
    """Return the decisions of the journal that decisions.jsonl lacks."""
    ids = {decision.id for decision in recorded}
    return [event for event in events if event.id not in ids]


def list_unrecorded(folder: Path) -> list[ReviewDecision]:
    """Return decisions of the journal that decisions.jsonl lacks, as after a kill.

    Args:
        folder: The review folder, which may be served at the same time.
    """
    if not (folder / LIVE).is_file():
        return []
    # The journal first: a decision made in between is in decisions.jsonl when that is read.
    with closing(Database(folder / LIVE)) as database, database.read() as connection:
        events = list(read_events(connection))
    return find_missing(events, read_record(folder).rows)
