"""Updates of tasks.jsonl: add new tasks, replace changed ones."""

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
from omibench.review.folder import TASKS, read_tasks
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.schemas.tables import write_jsonl

LOCK: Final = ".tasks.lock"
"""The lock file of writers of tasks.jsonl."""


@dataclass(frozen=True)
class TaskChanges:
    """The changes to tasks.jsonl.

    Attributes:
        tasks: All of its lines: existing ones in order, then new ones.
        new: Ids of new tasks.
        changed: Ids of tasks with changed content.
        stale: The number of decisions on their old content.
        kept: The number of unchanged tasks of the kind.
        gone: Ids of tasks of the kind that would no longer be made; they are kept.
    """

    tasks: tuple[ReviewTask, ...]
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    stale: int = 0
    kept: int = 0
    gone: tuple[str, ...] = ()


def read_present_tasks(folder: Path) -> list[ReviewTask]:
    """Return the tasks of a review; empty before the first ones are made.

    Raises:
        FileFormatError: A line is invalid; unreadable files are never overwritten.
    """
    path = folder / TASKS
    return list(read_tasks(path).require_whole()) if path.exists() else []


def merge_tasks(
    kind: str,
    present: Sequence[ReviewTask],
    fresh: Sequence[ReviewTask],
    decisions: Iterable[ReviewDecision] = (),
) -> TaskChanges:
    """Merge new tasks with existing ones; decisions are never changed.

    Args:
        kind: The kind of the new tasks; tasks of other kinds and purposes are unchanged.
        present: The lines of tasks.jsonl.
        fresh: All current tasks of the kind; existing ones keep their people.
        decisions: Existing decisions.
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
    """Lock a folder's tasks.jsonl for the block, to read, change and write it.

    Raises:
        OutputError: The folder cannot be created or written.
    """
    made_folder(folder, "--review")
    try:
        file = open_lock(folder / LOCK)
    except OSError as error:
        raise OutputError(f"{folder / LOCK}: cannot be written: {reason_of(error)}") from None
    try:
        with suppress(LockError):  # without locks, users must avoid concurrent writers
            wait_lock(file)
        yield
    finally:
        os.close(file)


def write_tasks(folder: Path, tasks: Sequence[ReviewTask]) -> None:
    """Write tasks.jsonl atomically; `lock_tasks` excludes other writers.

    Raises:
        OutputError: The file cannot be written.
    """
    try:
        write_jsonl(folder / TASKS, tasks)
    except OSError as error:
        raise OutputError(f"{folder / TASKS}: cannot be written: {reason_of(error)}") from None


def _renew(old: ReviewTask, fresh: ReviewTask | None) -> ReviewTask:
    """Return the current task with the people of the existing one."""
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
