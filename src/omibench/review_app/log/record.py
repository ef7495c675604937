"""The record and the live log: decisions.jsonl is taken over, and extended from the log."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from omibench.errors import OutputError, reason_of
from omibench.files.locks import open_lock, wait_lock
from omibench.review.chain import format_event
from omibench.review.read import DECISIONS, read_decisions
from omibench.review_app.log.database import LIVE, Database
from omibench.review_app.log.events import append_event, list_ids, read_events
from omibench.schemas.review import ReviewDecision

log = logging.getLogger("omibench.review")


def take_over_record(database: Database, folder: Path) -> int:
    """Append those decisions of decisions.jsonl to the live log that it lacks.

    Args:
        database: The live log.
        folder: Of the review; it may have no decisions.jsonl yet.

    Returns:
        How many were appended.
    """
    decisions = _read_record(folder / DECISIONS)
    with database.write() as connection:
        ids = list_ids(connection)
        missing = [decision for decision in decisions if decision.id not in ids]
        for decision in {decision.id: decision for decision in missing}.values():
            append_event(connection, decision)
    return len(missing)


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
    path = folder / DECISIONS
    try:
        file = open_lock(path, 0o644)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason_of(error)}") from None
    try:
        wait_lock(file)
        ids = {decision.id for decision in _read_record(path)}
        with database.read() as connection:
            events = [event for event in read_events(connection) if event.id not in ids]
        _append_lines(file, [format_event(event) for event in events])
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason_of(error)}") from None
    finally:
        os.close(file)
    return len(events)


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


def _read_record(path: Path) -> list[ReviewDecision]:
    if not path.exists():
        return []
    lines = read_decisions(path)
    for error in lines.errors:
        log.warning("%s; the line is left out", error)
    return list(lines.rows)


def _append_lines(file: int, lines: list[str]) -> None:
    """Write lines behind what a file holds, whose last line may lack its end; durable."""
    if not lines:
        return
    size = os.lseek(file, 0, os.SEEK_END)
    needs_end = size > 0 and os.pread(file, 1, size - 1) != b"\n"
    data = ("\n" * needs_end + "".join(f"{line}\n" for line in lines)).encode()
    while data:
        data = data[os.write(file, data) :]
    os.fsync(file)
