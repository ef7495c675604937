"""New tasks with their picture files, not assigned yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue, ValidationError

from omibench.errors import FileFormatError
from omibench.review.contents import Content
from omibench.review.hashing import hash_content, normalise_lines
from omibench.review.kinds import find_kind
from omibench.schemas.review import ReviewedResponse, ReviewTask, TaskPicture, TaskPurpose
from omibench.schemas.validation import explain


@dataclass(frozen=True)
class PictureFile:
    """A picture of a task and its source file."""

    picture: TaskPicture
    path: Path


@dataclass(frozen=True)
class TaskDraft:
    """A task that is not in the review folder yet."""

    task: ReviewTask
    files: Mapping[str, Path] = field(default_factory=dict)
    """The picture files by SHA-256."""


@dataclass(frozen=True)
class TaskDetails:
    """The properties of a task apart from its content.

    Attributes:
        strata: The strata for samples; `subject` also restricts the assignment.
        simulated: Whether any of its texts comes from a simulated model.
        purpose: The purpose of its decisions.
        response: The response that it is about.
    """

    strata: Mapping[str, str] = field(default_factory=dict)
    simulated: bool = False
    purpose: TaskPurpose = "work"
    response: ReviewedResponse | None = None


def draft_task(
    kind: str,
    subject: str,
    content: Content,
    pictures: Iterable[PictureFile] = (),
    details: TaskDetails | None = None,
) -> TaskDraft:
    r"""Make a task.

    Args:
        kind: The name of its kind.
        subject: What it is about: a problem, `MODEL/SETTING/ID#INDEX`, or a photograph.
        content: The parts; line ends become `\n`, and empty parts are omitted.
        pictures: Its pictures in order.
        details: Other properties.

    Raises:
        FileFormatError: The name of the subject is too long for an id.
    """
    details = details or TaskDetails()
    files = list(pictures)
    empty: tuple[JsonValue, ...] = (None, "", [], {})
    parts = {name: normalise_lines(part) for name, part in content.items() if part not in empty}
    shown = [file.picture for file in files]
    try:
        task = ReviewTask(
            id=f"{kind}:{subject}",
            kind=kind,
            problem=details.response.id if details.response else subject,
            content=parts,
            content_hash=hash_content(find_kind(kind), parts, shown),
            pictures=shown,
            response=details.response,
            strata={name: value for name, value in details.strata.items() if value},
            purpose=details.purpose,
            simulated=details.simulated,
        )
    except ValidationError as error:
        raise FileFormatError(f"{kind}:{subject[:80]}: {explain(error, ReviewTask)}") from None
    return TaskDraft(task, {file.picture.sha256: file.path for file in files})
