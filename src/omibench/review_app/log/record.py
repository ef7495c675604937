"""The record and the live log: decisions.jsonl is taken over, and extended from the log."""

from __future__ import annotations

import logging
from pathlib import Path

from omibench.review.folder import read_record
from omibench.review.record import append_decisions
from omibench.review_app.log.database import LIVE, Database
from omibench.review_app.log.events import append_event, list_ids, read_events

log = logging.getLogger("omibench.review")


def take_over_record(database: Database, folder: Path) -> int:
    """Append those decisions of decisions.jsonl to the live log that it lacks.

    Args:
        database: The live log.
        folder: Of the review; it may have no decisions.jsonl yet.

    Returns:
        How many were appended.
    """
    record = read_record(folder)
    for error in record.errors:
        log.warning("%s; the line is left out", error)
    with database.write() as connection:
        ids = list_ids(connection)
        count = len(ids)
        for decision in record.rows:
            if decision.id not in ids:
                append_event(connection, decision)
                ids.add(decision.id)
    return len(ids) - count


def extend_record(database: Database, folder: Path) -> int:
    """Append those events of the live log to decisions.jsonl that it lacks.

    Nothing of the file is changed or taken out; doing it twice appends nothing the second time.

    Args:
        database: The live log.
        folder: Of the review.

    Returns:
        How many were appended.

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
    """How many decisions of the live log decisions.jsonl lacks; 0 without a live log.

    Args:
        folder: Of the review, which may be served at the same time.
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
    """As `extend_record`, for a review that may be served at the same time; 0 without a live log.

    Args:
        folder: Of the review.
    """
    if not (folder / LIVE).is_file():
        return 0
    database = Database(folder / LIVE)
    try:
        return extend_record(database, folder)
    finally:
        database.close()
