"""The decision log, decisions.jsonl: append-only, and intact after a kill.

Its head hash changes if any of its lines changes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from omibench.errors import OutputError, reason_of
from omibench.files.atomic import replace_atomically
from omibench.files.intake import FILE_BYTES, read_bytes
from omibench.files.locks import wait_path
from omibench.review.folder import DECISIONS, FileSignature, read_record, sign_file
from omibench.schemas.review import ReviewDecision

LOCK: Final = ".decisions.lock"
"""The lock file with which writers of one folder wait for each other; it can be deleted."""

PlacedDecision = tuple[str, ReviewDecision]
"""A decision and its place, `FILE, line N`."""
EMPTY_HEAD: Final = "0" * 64
"""The head of an empty log."""


@dataclass(frozen=True)
class RecordGrowth:
    """The result of appending decisions.

    Attributes:
        added: The new decisions, in order.
        repeated: The number of decisions that are already in the log.
        errors: Decisions with the id of a different decision, one line each.
    """

    added: tuple[ReviewDecision, ...] = ()
    repeated: int = 0
    errors: tuple[str, ...] = ()


def format_event(decision: ReviewDecision) -> str:
    """Return the canonical JSON of a decision: sorted keys, no spaces, default values omitted.

    Because defaults are omitted, fields added by later versions do not change earlier hashes.
    """
    values = decision.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def extend_head(head: str, decision: ReviewDecision) -> str:
    """Return the head after one more decision: SHA-256 of the previous head, a newline and the
    event.
    """
    link = f"{head}\n{format_event(decision)}"
    return hashlib.sha256(link.encode("utf-8", "surrogatepass")).hexdigest()


def compute_head(decisions: Iterable[ReviewDecision]) -> str:
    """Return the head of a log. The order counts: each link depends on the previous one.

    Args:
        decisions: Decisions in the order of the log.
    """
    head = EMPTY_HEAD
    for decision in decisions:
        head = extend_head(head, decision)
    return head


def append_decisions(folder: Path, decisions: Iterable[PlacedDecision]) -> RecordGrowth:
    """Append decisions to the log of a folder, each event once, all of them or none.

    Other writers wait. Existing events are skipped, and events with the id of a different one are
    reported.

    Args:
        folder: The review folder.
        decisions: Decisions with their places, in order.

    Raises:
        OutputError: The log cannot be written.
        FileFormatError: The log is larger than 1 GiB.
    """
    with _write_alone(folder) as path:
        growth = sort_new(read_record(folder).rows, decisions)
        if growth.added:
            _write(path, growth.added)
    return growth


def sort_new(
    recorded: Iterable[ReviewDecision], decisions: Iterable[PlacedDecision]
) -> RecordGrowth:
    """Return the decisions that are missing in a log.

    Args:
        recorded: The log.
        decisions: New decisions with their places.
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
                f"{place}: the id {decision.id!r} belongs to another decision (on {earlier.task} "
                f"by {earlier.person}); events never change, so give a new decision a new id"
            )
    return RecordGrowth(tuple(added), repeated, tuple(errors))


def extend_unchanged(
    folder: Path, decisions: Sequence[ReviewDecision], signature: FileSignature
) -> FileSignature | None:
    """Append decisions without reading the log, if it still has a signature.

    Args:
        folder: The review folder.
        decisions: Decisions that the log lacks, in order.
        signature: The signature of the log that the caller knows.

    Returns:
        The new signature; None, and nothing is written, if others have changed the log.

    Raises:
        OutputError: The log cannot be written.
    """
    if not decisions:
        return signature
    with _write_alone(folder) as path:
        if sign_file(path) != signature:
            return None
        _write(path, decisions)
        return sign_file(path)


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
def _write_alone(folder: Path) -> Iterator[Path]:
    """Yield the path of the log while other writers wait."""
    path = folder / DECISIONS
    try:
        with wait_path(folder / LOCK):
            yield path
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason_of(error)}") from None
