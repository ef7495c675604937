"""Decisions of others, checked against the tasks before they are recorded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from omibench.errors import OmibenchError
from omibench.review.check import DecisionFieldError, check_fields
from omibench.review.folder import ReviewRecord, read_review
from omibench.review.kinds import KINDS, find_kind
from omibench.review.people import Reviewer
from omibench.review.read import DECISIONS, read_decisions
from omibench.review.record import PlacedDecision, append_decisions
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.schemas.validation import suggest_name

SEARCHED_TASKS: Final = 1_000
"""Among how many tasks the nearest id is looked for, so that a wrong file is refused soon."""


@dataclass(frozen=True)
class ImportOutcome:
    """What became of a file of decisions.

    Attributes:
        added: How many were recorded.
        repeated: How many had been recorded before.
        stale: Ids of the tasks of those that were recorded and are about other content.
        errors: Why others were not, one line each.
    """

    added: int = 0
    repeated: int = 0
    stale: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


def import_files(folder: Path, files: Iterable[Path]) -> ImportOutcome:
    """Record the decisions of JSON Lines files.

    Args:
        folder: The folder of the review.
        files: Files with lines as those of decisions.jsonl.

    Raises:
        MissingInputError: A file or the folder's tasks are not there.
        OutputError: The record cannot be written.
    """
    review = read_review(folder)
    decisions: list[PlacedDecision] = []
    errors: list[str] = []
    for file in files:
        lines = read_decisions(file)
        decisions += zip(lines.places, lines.rows, strict=True)
        errors += lines.errors
    return import_decisions(review, decisions, errors)


def import_decisions(
    review: ReviewRecord, decisions: Iterable[PlacedDecision], errors: Sequence[str] = ()
) -> ImportOutcome:
    """Record decisions that fit their tasks; importing them again changes nothing.

    Args:
        review: The folder as it was read.
        decisions: With their places, in order.
        errors: What is wrong with others already, one line each.

    Returns:
        What became of each, with the bad lines of the review itself. A decision on other content
        than its task has now is recorded, and said to be stale.

    Raises:
        OutputError: The record cannot be written.
    """
    tasks = {task.id: task for task in review.tasks}
    people = {reviewer.name: reviewer for reviewer in review.reviewers}
    good: list[PlacedDecision] = []
    bad = [*review.errors, *errors]
    for place, decision in decisions:
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
    """Check that a decision is one on a task, by somebody who may decide it.

    The fields of a decision on other content are not checked beyond their names: what the task
    offered then is not known.

    Args:
        decision: The decision.
        tasks: Tasks by id.
        people: People by name; anybody may decide where there are none.

    Raises:
        DecisionFieldError: A field of the decision is wrong; the line names it with its value.
        ParamsError: Its kind does not exist.
    """
    kind = find_kind(decision.kind)
    task = tasks.get(decision.task)
    if task is None:
        near = get_close_matches(decision.task, list(tasks)[:SEARCHED_TASKS], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise DecisionFieldError("task", f"there is no task {decision.task!r}{hint}")
    if task.kind != decision.kind:
        raise DecisionFieldError(
            "kind", f"the task {task.id!r} is of the kind {task.kind!r} (got {decision.kind!r})"
        )
    _check_person(decision, people)
    if decision.content_hash == task.content_hash:
        check_fields(kind, task, decision.fields)
        return
    for name in decision.fields:
        if name not in KINDS[kind.name].by_name:
            raise DecisionFieldError(
                name, f"is no field of {kind.name!r} tasks{suggest_name(name, list(kind.by_name))}"
            )


def list_wrong_decisions(review: ReviewRecord) -> list[str]:
    """What is wrong with decisions of the record itself, one line each.

    Others than `omibench review` may have written decisions.jsonl. Decisions on tasks that are
    gone, and people who are not in reviewers.yaml by now, are no mistake of a record.

    Args:
        review: The folder as it was read.
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
    if not people:
        return
    reviewer = people.get(decision.person)
    if reviewer is None:
        hint = suggest_name(decision.person, list(people))
        raise DecisionFieldError(
            "person", f"nobody of reviewers.yaml is called {decision.person!r}{hint}"
        )
    if decision.role != "imported" and decision.role not in reviewer.roles:
        raise DecisionFieldError(
            "role",
            f"{reviewer.name} is {' and '.join(reviewer.roles)} in reviewers.yaml "
            f"(got {decision.role!r})",
        )
    if reviewer.simulated and not decision.simulated:
        raise DecisionFieldError(
            "simulated", f"{reviewer.name} is simulated in reviewers.yaml: write true"
        )
