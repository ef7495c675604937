"""Import of external decisions after validation against the tasks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from omibench.errors import OmibenchError
from omibench.params.review import DECISIONS
from omibench.review.check import DecisionFieldError, check_fields
from omibench.review.folder import (
    PlacedDecision,
    ReviewRecord,
    append_decisions,
    read_decisions,
    read_review,
)
from omibench.review.kinds import find_kind
from omibench.review.people import Reviewer
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.schemas.validation import suggest_name

SEARCHED_TASKS: Final = 1_000
"""The maximum number of tasks in which the nearest id is searched, so that wrong files fail fast.
"""


@dataclass(frozen=True)
class ImportOutcome:
    """The result of importing decisions.

    Attributes:
        added: The number of new decisions.
        repeated: The number of decisions that already existed.
        stale: Ids of the tasks whose added decisions are about other content.
        errors: Reasons for rejected decisions, one line each.
    """

    added: int = 0
    repeated: int = 0
    stale: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


def import_files(folder: Path, files: Iterable[Path]) -> ImportOutcome:
    """Add decisions of JSON Lines files that fit their tasks; a second import changes nothing.

    Args:
        folder: The review folder.
        files: Files with the line format of decisions.jsonl.

    Returns:
        The result, including bad lines of the files and of the review itself. Decisions on content
        that has changed are added and reported as stale.

    Raises:
        MissingInputError: A file or the folder's tasks file does not exist.
        OutputError: The decisions cannot be written.
    """
    review = read_review(folder)
    tasks = {task.id: task for task in review.tasks}
    people = {reviewer.name: reviewer for reviewer in review.reviewers}
    good: list[PlacedDecision] = []
    bad = list(review.errors)
    for lines in [read_decisions(file) for file in files]:
        bad += lines.errors
        for place, decision in zip(lines.places, lines.rows, strict=True):
            try:
                check_decision(decision, tasks, people)
            except OmibenchError as error:
                bad.append(f"{place}: {error}")
            else:
                good.append((place, decision))
    growth = append_decisions(review.folder, good)
    stale = [d.task for d in growth.added if d.content_hash != tasks[d.task].content_hash]
    return ImportOutcome(
        len(growth.added),
        growth.repeated,
        tuple(dict.fromkeys(stale)),
        (*bad, *growth.errors),
    )


def check_decision(
    decision: ReviewDecision, tasks: dict[str, ReviewTask], people: dict[str, Reviewer]
) -> None:
    """Check that a decision is on an existing task and by an eligible person.

    For decisions on other content, only the field names are checked because the options at that
    time are unknown.

    Args:
        decision: The decision.
        tasks: Tasks by id.
        people: People by name; if empty, anyone can decide.

    Raises:
        DecisionFieldError: A field is invalid; the message gives its name and value.
        ParamsError: The kind does not exist.
    """
    kind = find_kind(decision.kind)
    task = tasks.get(decision.task)
    if task is None:
        near = get_close_matches(decision.task, list(tasks)[:SEARCHED_TASKS], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise DecisionFieldError("task", f"task {decision.task!r} not found{hint}")
    if task.kind != decision.kind:
        raise DecisionFieldError(
            "kind", f"the kind of task {task.id!r} is {task.kind!r} (got {decision.kind!r})"
        )
    if people:
        _check_person(decision, people)
    if decision.content_hash == task.content_hash:
        check_fields(kind, task, decision.fields)
        return
    for name in decision.fields:
        if name not in kind.by_name:
            raise DecisionFieldError(
                name,
                f"is not a field of {kind.name!r} tasks{suggest_name(name, list(kind.by_name))}",
            )


def list_wrong_decisions(review: ReviewRecord) -> list[str]:
    """Return the errors of existing decisions, one line each.

    decisions.jsonl may have been written by other programs. Decisions on removed tasks, or by
    people no longer in reviewers.yaml, are not errors.

    Args:
        review: The review.
    """
    tasks = {task.id: task for task in review.tasks}
    wrong: list[str] = []
    for decision in review.decisions:
        if decision.task not in tasks:
            continue
        try:
            check_decision(decision, tasks, {})
        except OmibenchError as error:
            wrong.append(f"{review.folder / DECISIONS}, decision {decision.id!r}: {error}")
    return wrong


def _check_person(decision: ReviewDecision, people: dict[str, Reviewer]) -> None:
    reviewer = people.get(decision.person)
    if reviewer is None:
        hint = suggest_name(decision.person, list(people))
        raise DecisionFieldError("person", f"{decision.person!r} is not in reviewers.yaml{hint}")
    if decision.role != "imported" and decision.role not in reviewer.roles:
        raise DecisionFieldError(
            "role",
            f"the roles of {reviewer.name} are {' and '.join(reviewer.roles)} in reviewers.yaml "
            f"(got {decision.role!r})",
        )
    if reviewer.simulated and not decision.simulated:
        raise DecisionFieldError(
            "simulated", f"{reviewer.name} is simulated in reviewers.yaml: write true"
        )
