"""tasks.jsonl: new tasks are added, changed ones take the place of their old lines."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from omibench.errors import OutputError, reason_of
from omibench.files.locks import LockError, open_lock, wait_lock
from omibench.files.outputs import made_folder
from omibench.review.read import TASKS, read_tasks
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.schemas.tables import write_jsonl

LOCK: Final = ".tasks.lock"
"""The file through which writers of tasks.jsonl wait for each other."""


@dataclass(frozen=True)
class TaskChanges:
    """What becomes of tasks.jsonl.

    Attributes:
        tasks: All of its lines: those that were there in their order, then the new ones.
        new: Ids of tasks that were not there.
        changed: Ids of tasks whose content is another now.
        stale: How many decisions are on the old content of these.
        kept: How many tasks of the kind are as before.
        gone: Ids of tasks of the kind that nothing would be made of now; they stay.
    """

    tasks: tuple[ReviewTask, ...]
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    stale: int = 0
    kept: int = 0
    gone: tuple[str, ...] = ()


def read_present_tasks(folder: Path) -> list[ReviewTask]:
    """The tasks of a review; none before the first were made.

    Raises:
        FileFormatError: A line is wrong: nothing is written over what cannot be read.
    """
    path = folder / TASKS
    return list(read_tasks(path).require_whole()) if path.exists() else []


def merge_tasks(
    kind: str,
    present: Sequence[ReviewTask],
    fresh: Sequence[ReviewTask],
    decisions: Iterable[ReviewDecision] = (),
) -> TaskChanges:
    """Put tasks beside those that are there; decisions are never touched.

    Args:
        kind: Of the fresh tasks; tasks of other kinds and purposes stay as they are.
        present: The lines of tasks.jsonl.
        fresh: All tasks of the kind, as they are now; those that are there keep their people.
        decisions: Those that are there.
    """
    fresh_by_id = {task.id: task for task in fresh}
    before = {task.id: task for task in present}
    lines = [_renew(task, fresh_by_id.get(task.id)) for task in present]
    changed = {
        old.id
        for old, line in zip(present, lines, strict=True)
        if old.content_hash != line.content_hash
    }
    new = [task for task in fresh if task.id not in before]
    made = [task for task in present if task.kind == kind and task.of is None]
    return TaskChanges(
        tasks=(*lines, *new),
        new=tuple(task.id for task in new),
        changed=tuple(task.id for task in present if task.id in changed),
        stale=_count_stale(changed, before, decisions),
        kept=sum(task.id in fresh_by_id and task.id not in changed for task in made),
        gone=tuple(t.id for t in made if t.id not in fresh_by_id and t.purpose != "calibration"),
    )


@contextmanager
def lock_tasks(folder: Path) -> Iterator[None]:
    """Hold other writers of a folder's tasks.jsonl off: read, change and write it in the block.

    Raises:
        OutputError: The folder cannot be made or written.
    """
    made_folder(folder, "--review")
    try:
        file = open_lock(folder / LOCK)
    except OSError as error:
        raise OutputError(f"{folder / LOCK}: cannot be written: {reason_of(error)}") from None
    try:
        with suppress(LockError):  # without locks, one writer at a time is up to the user
            wait_lock(file)
        yield
    finally:
        os.close(file)


def write_tasks(folder: Path, tasks: Sequence[ReviewTask]) -> None:
    """Write tasks.jsonl, whole or not at all; `lock_tasks` holds others off.

    Raises:
        OutputError: It cannot be written.
    """
    try:
        write_jsonl(folder / TASKS, tasks)
    except OSError as error:
        raise OutputError(f"{folder / TASKS}: cannot be written: {reason_of(error)}") from None


def _renew(old: ReviewTask, fresh: ReviewTask | None) -> ReviewTask:
    """The task as it is now, with the people who were asked."""
    return old if fresh is None else fresh.model_copy(update={"people": old.people})


def _count_stale(
    changed: Collection[str],
    before: Mapping[str, ReviewTask],
    decisions: Iterable[ReviewDecision],
) -> int:
    return sum(
        decision.task in changed and decision.content_hash == before[decision.task].content_hash
        for decision in decisions
    )
