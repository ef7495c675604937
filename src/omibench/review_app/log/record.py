"""Synchronisation of decisions.jsonl and the live log, in both directions."""

from __future__ import annotations

import logging
from pathlib import Path

from omibench.review.folder import read_record
from omibench.review.record import append_decisions
from omibench.review_app.log.database import LIVE, Database
from omibench.review_app.log.events import append_event, list_ids, read_events

log = logging.getLogger("omibench.review")


def take_over_record(database: Database, folder: Path) -> int:
    """Append decisions of decisions.jsonl that the live log lacks.

    Args:
        database: The live log.
        folder: The review folder; decisions.jsonl may be missing.

    Returns:
        The number of appended decisions.
    """
    record = read_record(folder)
    for error in record.errors:
        log.warning("%s; the line is skipped", error)
    with database.write() as connection:
        ids = list_ids(connection)
        count = len(ids)
        for decision in record.rows:
            if decision.id not in ids:
                append_event(connection, decision)
                ids.add(decision.id)
    return len(ids) - count


def extend_record(database: Database, folder: Path) -> int:
    """Append events of the live log that decisions.jsonl lacks.

    The existing lines are not changed. A second call appends nothing.

    Args:
        database: The live log.
        folder: The review folder.

    Returns:
        The number of appended events.

    Raises:
        OutputError: The file cannot be written.
    """
    with database.read() as connection:
        events = list(read_events(connection))
    places = (f"{folder / LIVE}, event {number}" for number in range(1, len(events) + 1))
    growth = append_decisions(folder, zip(places, events, strict=True))
    for error in growth.errors:
        log.warning("%s", error)
    return len(growth.added)


def count_unrecorded(folder: Path) -> int:
    """Return the number of decisions of the live log that decisions.jsonl lacks.

    Args:
        folder: The review folder, which may be served at the same time. Without a live log the
            number is 0.
    """
    if not (folder / LIVE).is_file():
        return 0
    database = Database(folder / LIVE)
    try:
        with database.read() as connection:
            live_ids = list_ids(connection)
    finally:
        database.close()
    return len(live_ids - {decision.id for decision in read_record(folder).rows})


def export_live_log(folder: Path) -> int:
    """Do the same as `extend_record` for a review that may be served at the same time.

    Args:
        folder: The review folder. Without a live log the result is 0.
    """
    if not (folder / LIVE).is_file():
        return 0
    database = Database(folder / LIVE)
    try:
        return extend_record(database, folder)
    finally:
        database.close()
