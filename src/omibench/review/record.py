"""The record of decisions, decisions.jsonl: it only grows, and a kill leaves it whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from omibench.errors import OutputError, reason_of
from omibench.files.atomic import replace_atomically
from omibench.files.intake import FILE_BYTES, read_bytes
from omibench.files.locks import LockError, has_none, open_lock, wait_lock
from omibench.review.chain import format_event
from omibench.review.folder import read_record
from omibench.review.read import DECISIONS
from omibench.schemas.review import ReviewDecision

LOCK: Final = ".decisions.lock"
"""The file through which writers of one folder wait for each other; it may be deleted between."""

PlacedDecision = tuple[str, ReviewDecision]
"""A decision, and where it stands: `FILE, line N`."""


@dataclass(frozen=True)
class RecordGrowth:
    """What became of decisions that were to be recorded.

    Attributes:
        added: Those that are new, in order.
        repeated: How many stand in the record already.
        errors: Those whose id is another decision's, one line each.
    """

    added: tuple[ReviewDecision, ...] = ()
    repeated: int = 0
    errors: tuple[str, ...] = ()


def append_decisions(folder: Path, decisions: Iterable[PlacedDecision]) -> RecordGrowth:
    """Add decisions to the record of a folder, each event once, all of them or none.

    Other writers wait. An event that is there already is left out, and one that has the id of
    another is named.

    Args:
        folder: The folder of the review.
        decisions: With their places, in order.

    Raises:
        OutputError: The record cannot be written.
        FileFormatError: It is larger than 1 GiB.
    """
    path = folder / DECISIONS
    try:
        with _lock(folder):
            growth = sort_new(read_record(folder).rows, decisions)
            if growth.added:
                _write(path, growth.added)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason_of(error)}") from None
    return growth


def sort_new(
    recorded: Iterable[ReviewDecision], decisions: Iterable[PlacedDecision]
) -> RecordGrowth:
    """Which decisions a record lacks.

    Args:
        recorded: The record.
        decisions: Those to be recorded, with their places.
    """
    events = {decision.id: decision for decision in recorded}
    added: list[ReviewDecision] = []
    errors: list[str] = []
    repeated = 0
    for place, decision in decisions:
        earlier = events.get(decision.id)
        if earlier is None:
            events[decision.id] = decision
            added.append(decision)
        elif format_event(earlier) == format_event(decision):
            repeated += 1
        else:
            errors.append(
                f"{place}: the id {decision.id!r} is that of another decision (on {earlier.task} "
                f"by {earlier.person}): an event never changes; give a new decision an id of its "
                "own"
            )
    return RecordGrowth(tuple(added), repeated, tuple(errors))


def _write(path: Path, decisions: Sequence[ReviewDecision]) -> None:
    content = read_bytes(path, FILE_BYTES) if path.exists() else b""
    if content and not content.endswith(b"\n"):
        content += b"\n"
    lines = "".join(f"{format_event(decision)}\n" for decision in decisions)
    with replace_atomically(path) as partial, partial.open("wb") as file:
        file.write(content + lines.encode())
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    file = open_lock(folder / LOCK)
    try:
        try:
            wait_lock(file)
        except LockError as error:
            if not has_none(error):
                raise
        yield
    finally:
        os.close(file)
