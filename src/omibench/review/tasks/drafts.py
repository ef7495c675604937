"""New tasks with their picture files, not assigned yet."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from omibench.errors import FileFormatError, OutputError, reason_of
from omibench.files.locks import LockError, open_lock, wait_lock
from omibench.files.outputs import made_folder, write_atomically
from omibench.files.pictures import PICTURE_BYTES, read_picture
from omibench.files.reading import read_bytes
from omibench.params.review import TASKS
from omibench.review.contents import Content, drop_empty, hash_content
from omibench.review.folder import read_tasks
from omibench.review.kinds import find_kind
from omibench.schemas.review import ReviewDecision, ReviewedResponse, ReviewTask, TaskPicture
from omibench.schemas.tables import write_jsonl
from omibench.schemas.validation import explain


class PictureFile(NamedTuple):
    """A picture of a task and its source file."""

    picture: TaskPicture
    path: Path


class TaskDraft(NamedTuple):
    """A task that is not in the review folder yet."""

    task: ReviewTask
    files: Mapping[str, Path] = {}
    """The picture files by SHA-256."""


def draft_task(
    kind: str,
    subject: str,
    content: Content,
    pictures: Iterable[PictureFile] = (),
    **values: Any,
) -> TaskDraft:
    r"""Make a task.

    Args:
        kind: The name of its kind.
        subject: What it is about: a problem, `MODEL/SETTING/ID#INDEX`, or a photograph.
        content: The parts; line ends become `\n`, and empty parts are omitted.
        pictures: Its pictures in order.
        values: Other fields of the task: `strata`, without the empty ones, `response`, `simulated`
            and `purpose`.

    Raises:
        FileFormatError: The name of the subject is too long for an id.
    """
    files = list(pictures)
    parts = drop_empty(content)
    strata = {name: value for name, value in values.pop("strata", {}).items() if value}
    response: ReviewedResponse | None = values.get("response")
    images = [file.picture for file in files]
    try:
        task = ReviewTask(
            id=f"{kind}:{subject}",
            kind=kind,
            problem=response.id if response else subject,
            content=parts,
            content_hash=hash_content(find_kind(kind), parts, images),
            pictures=images,
            strata=strata,
            **values,
        )
    except ValidationError as error:
        raise FileFormatError(f"{kind}:{subject[:80]}: {explain(error, ReviewTask)}") from None
    return TaskDraft(task, {file.picture.sha256: file.path for file in files})


# Updates of tasks.jsonl: add new tasks, replace changed ones.

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
    lines = [
        fresh_by_id[old.id].model_copy(update={"people": old.people})
        if old.id in fresh_by_id
        else old
        for old in present
    ]
    changed = {
        old.id: old.content_hash
        for old, line in zip(present, lines, strict=True)
        if old.content_hash != line.content_hash
    }
    new = [task for task in fresh if task.id not in before]
    made = [task for task in present if task.kind == kind and task.of is None]
    return TaskChanges(
        tasks=(*lines, *new),
        new=tuple(task.id for task in new),
        changed=tuple(changed),
        stale=sum(changed.get(d.task) == d.content_hash for d in decisions),
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


# Pictures of tasks, stored once in the review folder under the hash of their bytes.

FOLDER = "pictures"


class PictureKeeper:
    """Stores pictures in the folder of a review, each once."""

    def __init__(self, folder: Path) -> None:
        """Store pictures in `folder`/pictures/."""
        self._folder = folder
        self._kept: dict[str, str] = {}
        """SHA-256 -> suffix of existing, verified pictures."""

    def keep_pictures(self, draft: TaskDraft) -> ReviewTask:
        """Store a task's pictures.

        Args:
            draft: The task with its picture files.

        Returns:
            The task; picture suffixes match their content.

        Raises:
            MissingInputError: A file does not exist.
            FileFormatError: A file is not a picture, or not the one that was read.
            OutputError: The folder cannot be written.
        """
        pictures = []
        for picture in draft.task.pictures:
            if picture.sha256 not in self._kept:
                source = draft.files[picture.sha256]
                self._kept[picture.sha256] = self._store(draft.task, picture, source)
            suffix = self._kept[picture.sha256]
            pictures.append(picture.model_copy(update={"suffix": suffix}))
        return draft.task.model_copy(update={"pictures": pictures})

    def _store(self, task: ReviewTask, picture: TaskPicture, source: Path) -> str:
        content = read_bytes(source, PICTURE_BYTES)
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 != picture.sha256:
            raise FileFormatError(
                f"{task.id}: {source}: its content ({sha256[:12]}) has changed since it was read "
                f"({picture.sha256[:12]}); run the previous stage again"
            )
        suffix = read_picture(content, str(source), decode=False).suffix
        target = self._folder / FOLDER / f"{sha256}.{suffix}"
        if not target.exists():
            _link_or_write(source, target, content)
        return suffix


def _link_or_write(source: Path, target: Path, content: bytes) -> None:
    """Create a hard link, or copy the file if links are not possible."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError, NotImplementedError):
            if not source.is_symlink():
                os.link(source, target)
                return
        write_atomically(target, content)
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {reason_of(error)}") from None
