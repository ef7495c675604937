"""Reading of a whole review folder."""

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
