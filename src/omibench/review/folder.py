"""The files of a review folder. Bad lines are reported, and the rest is used."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from omibench.errors import FileFormatError, MissingInputError, OutputError, reason_of
from omibench.files.locks import wait_path
from omibench.files.outputs import replace_atomically
from omibench.files.reading import FILE_BYTES, open_regular, parse_json, read_bytes
from omibench.params.review import DECISIONS, REVIEWERS, TASKS
from omibench.review.people import Reviewer, read_reviewers
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.schemas.validation import explain

LINE_BYTES: Final = 8 * 2**20
"""The maximum length of a line: a task with sixteen long rationales has less than 1 MiB."""

FileSignature = tuple[int, ...]
"""Time, size and inode of a file, empty if it is missing: it changes with the file."""

Line = TypeVar("Line", bound=BaseModel)


@dataclass(frozen=True)
class ReviewLines(Generic[Line]):
    """The contents of a file.

    Attributes:
        rows: Its good lines, in order.
        places: The place of each row, as `FILE, line N`.
        errors: The errors of the other lines, one line each, starting with the place.
    """

    rows: tuple[Line, ...] = ()
    places: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def require_whole(self) -> tuple[Line, ...]:
        """Return the rows of a file without bad lines.

        Raises:
            FileFormatError: Some lines are bad; the message gives the first.
        """
        raise_bad_lines(self.errors)
        return self.rows


@dataclass(frozen=True)
class ReviewRecord:
    """The contents of a review folder.

    Attributes:
        folder: The folder.
        tasks: Its tasks, in file order.
        decisions: Its decisions, in file order.
        reviewers: Its people; empty without reviewers.yaml.
        errors: Unreadable lines of tasks.jsonl and decisions.jsonl.
    """

    folder: Path
    tasks: tuple[ReviewTask, ...] = ()
    decisions: tuple[ReviewDecision, ...] = ()
    reviewers: tuple[Reviewer, ...] = ()
    errors: tuple[str, ...] = ()


def raise_bad_lines(errors: Sequence[str]) -> None:
    """Raise FileFormatError with the first bad line, if any."""
    if errors:
        others = len(errors) - 1
        more = f" (and {others} more bad line{'s' * (others > 1)})" if others else ""
        raise FileFormatError(f"{errors[0]}{more}")


def read_review(folder: Path) -> ReviewRecord:
    """Read tasks, decisions and people. decisions.jsonl may be missing before the first decision.

    Raises:
        MissingInputError: The folder or its tasks.jsonl does not exist.
        FileFormatError: reviewers.yaml is invalid.
    """
    if not (folder / TASKS).is_file():
        raise MissingInputError(
            f"{folder}: {TASKS} not found; make tasks with `omibench review assign`, or pass the "
            "folder that contains it"
        )
    tasks = read_tasks(folder / TASKS)
    decisions = read_record(folder)
    people = folder / REVIEWERS
    return ReviewRecord(
        folder,
        tasks.rows,
        decisions.rows,
        tuple(read_reviewers(people)) if people.is_file() else (),
        (*tasks.errors, *decisions.errors),
    )


def read_record(folder: Path) -> ReviewLines[ReviewDecision]:
    """Read the decisions of a folder; empty without decisions.jsonl."""
    path = folder / DECISIONS
    return read_decisions(path) if path.exists() else ReviewLines()


def read_tasks(path: str | Path) -> ReviewLines[ReviewTask]:
    """Read tasks.jsonl; a repeated task is a bad line.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: The file is larger than 1 GiB.
    """
    lines = read_lines(Path(path), ReviewTask)
    first: dict[str, str] = {}
    rows: dict[str, ReviewTask] = {}
    errors = list(lines.errors)
    for task, place in zip(lines.rows, lines.places, strict=True):
        if first.setdefault(task.id, place) == place:
            rows[place] = task
        else:
            errors.append(f"{place}: the task {task.id!r} is already at {first[task.id]}")
    return ReviewLines(tuple(rows.values()), tuple(rows), tuple(errors))


def read_decisions(path: str | Path) -> ReviewLines[ReviewDecision]:
    """Read decisions of any file; repeated events are kept.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: The file is larger than 1 GiB.
    """
    return read_lines(Path(path), ReviewDecision)


def sign_file(path: Path) -> FileSignature:
    """Return the signature of a file."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def read_lines(path: Path, row: type[Line]) -> ReviewLines[Line]:
    """Read a file of one JSON object per line; lines that do not fit are errors.

    Args:
        path: The file.
        row: The type of a line.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: The file is larger than 1 GiB.
    """
    rows: dict[str, Line] = {}
    errors: list[str] = []
    for number, line in _iter_lines(path):
        place = f"{path}, line {number}"
        try:
            if len(line) > LINE_BYTES:
                raise FileFormatError(f"{place}: is longer than {LINE_BYTES // 2**20} MiB")
            rows[place] = row.model_validate(parse_json(line, place))
        except ValidationError as error:
            errors.append(f"{place}: {explain(error, row)}")
        except FileFormatError as error:
            errors.append(str(error))
    return ReviewLines(tuple(rows.values()), tuple(rows), tuple(errors))


def _iter_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each non-empty line with its number from 1, cut if it is too long."""
    with open_regular(path, FILE_BYTES) as file:
        number = 0
        while line := file.readline(LINE_BYTES + 1):
            number += 1
            rest = line
            while len(rest) > LINE_BYTES and not rest.endswith(b"\n"):
                rest = file.readline(LINE_BYTES + 1)
            if line.strip():
                yield number, line


# The decision log, decisions.jsonl: append-only, and intact after a kill.
#
# Its head hash changes if any of its lines changes.

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
    with write_alone(folder / DECISIONS, folder / LOCK) as path:
        growth = sort_new(read_record(folder).rows, decisions)
        if growth.added:
            append_lines(path, map(format_event, growth.added))
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
    with write_alone(folder / DECISIONS, folder / LOCK) as path:
        if sign_file(path) != signature:
            return None
        append_lines(path, map(format_event, decisions))
        return sign_file(path)


def append_lines(path: Path, lines: Iterable[str]) -> None:
    """Append lines to a file, all of them or none; a last line that was cut is ended first."""
    content = read_bytes(path, FILE_BYTES) if path.exists() else b""
    if content and not content.endswith(b"\n"):
        content += b"\n"
    with replace_atomically(path) as partial, partial.open("wb") as file:
        file.write(content + "".join(f"{line}\n" for line in lines).encode())
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def write_alone(path: Path, lock: Path) -> Iterator[Path]:
    """Yield the path of a file while its other writers wait; its folder is made if missing.

    Raises:
        OutputError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with wait_path(lock):
            yield path
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason_of(error)}") from None
