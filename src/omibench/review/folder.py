"""The folder of a review, read whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from omibench.errors import MissingInputError
from omibench.review.people import Reviewer, read_reviewers
from omibench.review.read import (
    DECISIONS,
    REVIEWERS,
    TASKS,
    ReviewLines,
    read_decisions,
    read_tasks,
)
from omibench.schemas.review import ReviewDecision, ReviewTask


@dataclass(frozen=True)
class ReviewRecord:
    """What the folder of a review holds.

    Attributes:
        folder: The folder.
        tasks: Its tasks, in the order of the file.
        decisions: Its decisions, in the order of the file.
        reviewers: Its people; none where there is no reviewers.yaml.
        errors: Lines of tasks.jsonl and decisions.jsonl that cannot be read.
    """

    folder: Path
    tasks: tuple[ReviewTask, ...] = ()
    decisions: tuple[ReviewDecision, ...] = ()
    reviewers: tuple[Reviewer, ...] = ()
    errors: tuple[str, ...] = ()


def read_review(folder: Path) -> ReviewRecord:
    """Read tasks, decisions and people; before anybody decided there is no decisions.jsonl.

    Raises:
        MissingInputError: There is no such folder, or no tasks.jsonl in it.
        FileFormatError: reviewers.yaml is wrong.
    """
    if not (folder / TASKS).is_file():
        raise MissingInputError(
            f"{folder}: holds no {TASKS}: make tasks with `omibench review assign`, or name the "
            "folder that has them"
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
    """The decisions of a folder, none where there is no decisions.jsonl yet."""
    path = folder / DECISIONS
    return read_decisions(path) if path.exists() else ReviewLines()
