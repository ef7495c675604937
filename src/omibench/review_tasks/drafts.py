"""A task as it is made: with the files of its pictures, and nobody asked yet."""

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
    """A picture that a task shows, and where its bytes lie now."""

    picture: TaskPicture
    path: Path


@dataclass(frozen=True)
class TaskDraft:
    """A task that is not yet in the folder of a review."""

    task: ReviewTask
    files: Mapping[str, Path] = field(default_factory=dict)
    """Where the bytes of its pictures lie, by their SHA-256."""


@dataclass(frozen=True)
class TaskDetails:
    """What a task has beside what it shows.

    Attributes:
        strata: What samples are stratified by; `subject` says whom it may be given to.
        simulated: Whether a text of it comes from a simulated model.
        purpose: What the decisions on it are for.
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
    r"""Make a task of what it shows.

    Args:
        kind: The name of its kind.
        subject: What it is about: a problem, `MODEL/SETTING/ID#INDEX`, a photograph.
        content: The parts; line ends become `\n`, and parts that are empty are left out.
        pictures: Its pictures in order.
        details: What else it has.

    Raises:
        FileFormatError: The name of what it is about is too long for an id.
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
