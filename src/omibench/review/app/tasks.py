"""Access rules: pure functions of a task, its state and a person."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import stat
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, NamedTuple

from omibench.params.review import REVIEWERS, TASKS
from omibench.review.folder import FileSignature, read_tasks, sign_file
from omibench.review.kinds import KINDS
from omibench.review.kinds.declaration import Kind
from omibench.review.people import AssignedRole, Reviewer, read_reviewers
from omibench.review.state import Status, TaskState, read_role
from omibench.schemas.review import ReviewRole, ReviewTask, TaskPicture

Awaited = Literal["annotator", "auditor", "senior", "everyone"]
"""The role that a task waits for. `everyone`: each assignee decides independently."""
_BY_STATUS: Final[dict[Status, Awaited]] = {
    "open": "annotator",
    "audit": "auditor",
    "escalated": "senior",
}
_APART: Final = frozenset({"calibration", "familiarisation"})
_ORDER: Final[tuple[AssignedRole, ...]] = ("annotator", "auditor", "senior")


def fit_kind(kind: Kind, task: ReviewTask) -> Kind:
    """Return the kind adjusted for a task: tasks with a gold answer are decided independently."""
    return dataclasses.replace(kind, design="everyone") if task.purpose in _APART else kind


def find_awaited(task: ReviewTask, kind: Kind, state: TaskState) -> Awaited | None:
    """Return the role that a task waits for; None if it is settled.

    A sample of settled work waits for a senior (OMIBench, A.4.3).
    """
    if kind.design == "everyone":
        return "everyone"
    if state.status == "settled":
        return None
    return "senior" if task.purpose == "sample" else _BY_STATUS[state.status]


def read_subject(task: ReviewTask) -> str | None:
    """Return the subject of a task's problem, if its strata contain it."""
    return task.strata.get("subject")


def is_asked(task: ReviewTask, role: Awaited, person: Reviewer) -> bool:
    """Return whether a task is for a person in a role: by assignment, else by role and subject."""
    if role == "everyone":
        names = {name for asked in task.people.values() for name in asked}
        return not names or person.name in names
    if role not in person.roles:
        return False
    if asked := task.people.get(role):
        return person.name in asked
    subject = read_subject(task)
    return subject is None or person.subjects is None or subject in person.subjects


def list_taken_roles(state: TaskState, person: Reviewer) -> set[ReviewRole]:
    """Return the roles in which a person has decided on the current content of the task.

    Imported decisions count as an annotator's.
    """
    return {read_role(d) for d in state.decisions if d.person == person.name}


def choose_role(
    task: ReviewTask, kind: Kind, state: TaskState, person: Reviewer
) -> AssignedRole | None:
    """Return the role in which a person sees a task; None if they cannot.

    People who have decided keep that role, since they cannot audit or settle their own decisions
    (OMIBench, A.4.1). Otherwise it is the role that the task waits for, or, for reading only, the
    person's first role; auditors see no history before the audit.
    """
    taken = list_taken_roles(state, person)
    for role in _ORDER:
        if role in taken:
            return role
    awaited = find_awaited(task, kind, state)
    if awaited == "everyone":
        return "annotator" if is_asked(task, awaited, person) else None
    if awaited is not None and is_asked(task, awaited, person):
        return awaited
    return next((role for role in _ORDER if is_asked(task, role, person)), None)


def may_decide(
    task: ReviewTask, kind: Kind, state: TaskState, person: Reviewer, role: AssignedRole
) -> bool:
    """Return whether a person can decide now: the task waits for them, or they correct their own.

    Seniors can also change the decision on a settled task.
    """
    taken = list_taken_roles(state, person)
    if taken:
        return role in taken
    awaited = find_awaited(task, kind, state)
    if awaited is None:
        return role == "senior" and is_asked(task, role, person)
    return awaited in {role, "everyone"} and is_asked(task, awaited, person)


def find_withheld(
    listed: ListedTask, state: TaskState, person: Reviewer, role: AssignedRole, answer: str | None
) -> frozenset[str]:
    """Return the parts that a person does not see before they answer the problem themselves.

    Seniors who settle a task see everything, since the decisions of others quote the key; a sample
    is judged like a new task. Decisions of earlier versions have no answer, and show everything.

    Args:
        listed: The task.
        state: Its state.
        person: The person.
        role: The role in which they see it.
        answer: Their own answer; None if they have not given one.
    """
    is_settling = role == "senior" and listed.task.purpose != "sample"
    if answer is not None or is_settling or list_taken_roles(state, person):
        return frozenset()
    return listed.kind.list_withheld_parts(listed.task.content)


def find_waiting_role(listed: ListedTask, state: TaskState, person: Reviewer) -> Awaited | None:
    """Return the role as which a task waits for a person who has not read it yet, or None.

    Seniors can settle an escalated task again.
    """
    awaited = find_awaited(listed.task, listed.kind, state)
    if awaited is None or not is_asked(listed.task, awaited, person):
        return None
    taken = list_taken_roles(state, person)
    return None if taken - ({"senior"} if awaited == "senior" else set()) else awaited


# Tasks of a review folder, and the pictures that they show.

PICTURE_BYTES: Final = 64 * 2**20
"""The maximum size of a picture."""
MEDIA_TYPES: Final[Mapping[str, str]] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}


class ListedTask(NamedTuple):
    """A task with its position in the list, and its kind adjusted for the task."""

    position: int
    task: ReviewTask
    kind: Kind


@dataclass(frozen=True)
class ReviewContent:
    """The contents of a review folder: tasks by id, people by name, pictures by hash.

    Attributes:
        tasks: Tasks of known kinds, in file order.
        people: Everyone in reviewers.yaml.
        errors: Errors of other lines.
    """

    tasks: Mapping[str, ListedTask]
    people: Mapping[str, Reviewer]
    errors: tuple[str, ...] = ()

    @cached_property
    def pictures(self) -> Mapping[str, Sequence[tuple[ListedTask, TaskPicture]]]:
        """The uses of each picture by its hash: in which tasks, and as what."""
        index: defaultdict[str, list[tuple[ListedTask, TaskPicture]]] = defaultdict(list)
        for listed in self.tasks.values():
            for picture in listed.task.pictures:
                index[picture.sha256].append((listed, picture))
        return index

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
        """Tasks with a gold answer that is hidden from the reader (OMIBench, A.3.2)."""
        tasks = (listed.task for listed in self.tasks.values())
        return tuple(task for task in tasks if task.purpose == "calibration")


def sign_files(folder: Path) -> tuple[FileSignature, ...]:
    """Return the signatures of the files of tasks and people, which change with them."""
    return tuple(sign_file(folder / name) for name in (TASKS, REVIEWERS))


def read_content(folder: Path) -> ReviewContent:
    """Read the tasks and people of a review.

    Raises:
        MissingInputError: A file does not exist.
        FileFormatError: A file cannot be read at all. Bad lines of tasks.jsonl are skipped and
            added to `errors`.
    """
    lines = read_tasks(folder / TASKS)
    known_tasks = [task for task in lines.rows if task.kind in KINDS]
    unknown_kinds = [
        f"{place}: unknown kind {task.kind!r}; the task is skipped"
        for task, place in zip(lines.rows, lines.places, strict=True)
        if task.kind not in KINDS
    ]
    tasks = {
        task.id: ListedTask(position, task, fit_kind(KINDS[task.kind], task))
        for position, task in enumerate(known_tasks)
    }
    people = {person.name: person for person in read_reviewers(folder / REVIEWERS)}
    errors = (*lines.errors, *unknown_kinds)
    return ReviewContent(tasks, people, errors)


def shows_picture(kind: Kind, role: ReviewRole, picture: TaskPicture) -> bool:
    """Return whether a role can see a picture of a task.

    Pages are visible if the part for pages is. Pictures of the problem can also be at their marks
    in a text, and are hidden only if a part of pictures is hidden.
    """
    visible = {part.style for part in kind.list_visible_parts(role)}
    if picture.part == "page":
        return "pages" in visible
    return "images" in visible or all(part.style != "images" for part in kind.parts)


def read_picture(folder: Path, picture: TaskPicture) -> bytes | None:
    """Return the bytes of a picture, or None if the file is missing or does not match its hash.

    The path is built from the hash and suffix in tasks.jsonl, and must be a regular file with this
    hash: no browser input becomes a path.
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
