"""The tasks of a review, as its folder holds them, and the pictures that they show."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from omibench.review.kinds import KINDS
from omibench.review.kinds.declaration import Kind
from omibench.review.people import Reviewer, read_reviewers
from omibench.review.read import DECISIONS, REVIEWERS, TASKS, read_tasks
from omibench.review_app.roles import fit_kind
from omibench.schemas.review import ReviewRole, ReviewTask, TaskPicture

PICTURE_BYTES: Final = 64 * 2**20
"""The largest picture that is sent."""
MEDIA_TYPES: Final[Mapping[str, str]] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}


class ListedTask(NamedTuple):
    """A task with its place in the list, and its kind as it holds for it."""

    position: int
    task: ReviewTask
    kind: Kind


@dataclass(frozen=True)
class ReviewContent:
    """What the files of a review hold: tasks by id, people by name, pictures by hash.

    Attributes:
        tasks: Those of a kind that is known, in the order of the file.
        people: Everybody of reviewers.yaml.
        pictures: Where each picture is shown: in which task, and as what.
        errors: What is wrong with other lines.
    """

    tasks: Mapping[str, ListedTask]
    people: Mapping[str, Reviewer]
    pictures: Mapping[str, Sequence[tuple[ListedTask, TaskPicture]]]
    errors: tuple[str, ...] = ()

    @cached_property
    def samples(self) -> Mapping[str, Sequence[ListedTask]]:
        """The samples of each task, by its id: settled work that is judged again."""
        samples: dict[str, list[ListedTask]] = defaultdict(list)
        for listed in self.tasks.values():
            if listed.task.purpose == "sample" and listed.task.of:
                samples[listed.task.of].append(listed)
        return samples

    @cached_property
    def calibration(self) -> tuple[ReviewTask, ...]:
        """The tasks with a gold answer that its reader does not see (OMIBench, A.3.2)."""
        tasks = (listed.task for listed in self.tasks.values())
        return tuple(task for task in tasks if task.purpose == "calibration")


def sign_files(folder: Path) -> tuple[tuple[int, int] | None, ...]:
    """What changes when the files of a review change: time and size of each."""
    return tuple(_sign_file(folder / name) for name in (TASKS, REVIEWERS, DECISIONS))


def read_content(folder: Path) -> ReviewContent:
    """Read the tasks and people of a review.

    Raises:
        MissingInputError: One of the files is not there.
        FileFormatError: One cannot be read at all; a bad line of tasks.jsonl is left out and named
            in `errors`.
    """
    lines = read_tasks(folder / TASKS)
    known_tasks = [task for task in lines.rows if task.kind in KINDS]
    unknown_kinds = [
        f"{place}: the kind {task.kind!r} is not known; the task is left out"
        for task, place in zip(lines.rows, lines.places, strict=True)
        if task.kind not in KINDS
    ]
    tasks = {
        task.id: ListedTask(position, task, fit_kind(KINDS[task.kind], task))
        for position, task in enumerate(known_tasks)
    }
    people = {person.name: person for person in read_reviewers(folder / REVIEWERS)}
    errors = (*lines.errors, *unknown_kinds)
    return ReviewContent(tasks, people, _index_pictures(tasks.values()), errors)


def shows_picture(kind: Kind, role: ReviewRole, picture: TaskPicture) -> bool:
    """Whether a role sees a picture of a task.

    Pages are shown where a part for pages is; pictures of the problem also stand at their marks in
    a text, and are hidden only by a part of pictures that is hidden.
    """
    visible = {part.style for part in kind.list_visible_parts(role)}
    if picture.part == "page":
        return "pages" in visible
    return "images" in visible or all(part.style != "images" for part in kind.parts)


def read_picture(folder: Path, picture: TaskPicture) -> bytes | None:
    """The bytes of a picture; None where the file is not there or is not what its name says.

    The path is made of the hash and suffix that tasks.jsonl states, and what lies there must be a
    regular file with this hash: nothing that a browser asks for becomes a path.
    """
    try:
        file = os.open(folder / picture.file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        data = opened.read(PICTURE_BYTES + 1)
    is_sound = len(data) <= PICTURE_BYTES and hashlib.sha256(data).hexdigest() == picture.sha256
    return data if is_sound else None


def _sign_file(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _index_pictures(
    tasks: Iterable[ListedTask],
) -> Mapping[str, Sequence[tuple[ListedTask, TaskPicture]]]:
    index: defaultdict[str, list[tuple[ListedTask, TaskPicture]]] = defaultdict(list)
    for listed in tasks:
        for picture in listed.task.pictures:
            index[picture.sha256].append((listed, picture))
    return dict(index)
