"""Implementation of `omibench review assign`: make tasks, draw people, write files."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from omibench.errors import MissingInputError
from omibench.graph.provenance.reading import check_inputs
from omibench.params.study import Study
from omibench.review.calibration import list_qualified
from omibench.review.contents import PROBLEM_KINDS
from omibench.review.folder import REVIEWERS, read_record
from omibench.review.kinds import find_kind
from omibench.review.people import Reviewer, read_reviewers
from omibench.review_tasks.drafts import TaskDraft
from omibench.review_tasks.people import count_load, draw_people, open_roles
from omibench.review_tasks.photographs import PHOTO_KINDS
from omibench.review_tasks.pictures import PictureKeeper
from omibench.review_tasks.request import AssignOptions, TaskRequest
from omibench.review_tasks.study_photographs import draft_study_photographs
from omibench.review_tasks.study_problems import draft_study_problems
from omibench.review_tasks.study_responses import (
    draft_study_baseline,
    draft_study_disagreements,
    draft_study_ratings,
    draft_study_steps,
)
from omibench.review_tasks.tasks_file import (
    TaskChanges,
    lock_tasks,
    merge_tasks,
    read_present_tasks,
    write_tasks,
)
from omibench.schemas.review import ReviewTask

MAKERS: Final[Mapping[str, Callable[[TaskRequest], list[TaskDraft]]]] = {
    **dict.fromkeys(PROBLEM_KINDS, draft_study_problems),
    **dict.fromkeys(PHOTO_KINDS, draft_study_photographs),
    "baseline": draft_study_baseline,
    "steps": draft_study_steps,
    "disagreement": draft_study_disagreements,
    "rating": draft_study_ratings,
}
"""The functions that make the tasks of each kind."""


_RESPONSE_STAGES: Final = ("freeze", "infer", "score")
STAGES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(PROBLEM_KINDS, ("ocr", "filter", "rationale")),
    "baseline": ("freeze",),
    "steps": _RESPONSE_STAGES,
    "disagreement": _RESPONSE_STAGES,
    "rating": ("freeze", "infer"),
}
"""The stages whose files a kind's tasks are made from; none for a folder of photographs."""


@dataclass(frozen=True)
class Assignment:
    """The result for one kind.

    Attributes:
        kind: The kind.
        changes: The changes to tasks.jsonl.
        people: New tasks by role and name; empty if they are open to everyone.
        simulated: Names of simulated people.
        opened: The number of tasks assigned to people who are no longer in reviewers.yaml; these
            roles are now open to everyone.
    """

    kind: str
    changes: TaskChanges
    people: Mapping[tuple[str, str], int] = field(default_factory=dict)
    simulated: Collection[str] = ()
    opened: int = 0


def assign_tasks(
    kind: str, study: Study, results: Path, review: Path, options: AssignOptions
) -> Assignment:
    """Make the tasks of a kind, assign new ones to people, and write tasks.jsonl.

    Args:
        kind: The name of the kind.
        study: The study.
        results: The folder of its results.
        review: The review folder, created if missing.
        options: The user's options.

    Returns:
        The result. A task with changed content replaces its old line and keeps its people;
        decisions are never changed.

    Raises:
        ParamsError: The kind does not exist.
        MissingInputError: A file is missing, or no one is eligible.
        FileFormatError: A file is invalid.
        OutputError: The review folder cannot be written.
        UntrustedError: A file is not the one that its stage has written.
    """
    find_kind(kind)
    check_inputs(*(results / stage for stage in STAGES.get(kind, ())))
    with lock_tasks(review):
        return _assign(kind, study, results, review, options)


def describe_assignment(assignment: Assignment) -> list[str]:
    """Describe the result, one fact per line."""
    changes = assignment.changes
    lines = [
        f"{assignment.kind}: {len(changes.new)} new, {len(changes.changed)} changed, "
        f"{changes.kept} unchanged"
    ]
    if changes.stale:
        lines.append(f"  {changes.stale} decisions are on changed content and must be made again")
    if assignment.opened:
        lines.append(
            f"  {assignment.opened} tasks were assigned to people who are not in reviewers.yaml: "
            "they are now open to everyone with the role"
        )
    if changes.gone:
        shown = ", ".join(changes.gone[:5]) + (", ..." if len(changes.gone) > 5 else "")
        lines.append(f"  {len(changes.gone)} tasks no longer match anything in the study: {shown}")
    for role in dict.fromkeys(role for role, _ in assignment.people):
        counts = (
            f"{name}{' (simulated)' * (name in assignment.simulated)} {count}"
            for (asked_role, name), count in sorted(assignment.people.items())
            if asked_role == role
        )
        lines.append(f"  {role}: {', '.join(counts)}")
    if changes.new and not assignment.people:
        lines.append("  open to everyone: reviewers.yaml not found")
    return lines


def _assign(
    kind: str, study: Study, results: Path, review: Path, options: AssignOptions
) -> Assignment:
    reviewers = _read_people(review, options)
    lines = read_present_tasks(review)
    present = open_roles(lines, reviewers) if reviewers else lines
    opened = sum(line != task for line, task in zip(lines, present, strict=True))
    decisions = read_record(review).rows
    with tempfile.TemporaryDirectory(prefix="omibench-review-") as scratch:
        request = TaskRequest(
            kind, study, results, Path(scratch), present, decisions, **vars(options)
        )
        drafts = MAKERS[kind](request)
        names = {task.id for task in present}
        new = [draft.task for draft in drafts if draft.task.id not in names]
        if reviewers:
            qualified = _choose_qualified(kind, reviewers, request)
            load = count_load(present)
            new = draw_people(new, qualified, load, request.draw_seed, options.only)
        people = {task.id: task.people for task in new}
        keeper = PictureKeeper(review)
        fresh = [
            keeper.keep_pictures(_give_people(draft, people.get(draft.task.id, {})))
            for draft in drafts
        ]
    changes = merge_tasks(kind, present, fresh, decisions)
    write_tasks(review, changes.tasks)
    simulated = {reviewer.name for reviewer in reviewers if reviewer.simulated}
    return Assignment(kind, changes, _count_people(new), simulated, opened)


def _read_people(review: Path, options: AssignOptions) -> list[Reviewer]:
    path = review / REVIEWERS
    if path.is_file():
        return read_reviewers(path)
    if options.only:
        raise MissingInputError(
            f"--to {min(options.only)}: {path} not found, so people cannot be chosen"
        )
    return []


def _choose_qualified(
    kind: str, reviewers: Sequence[Reviewer], request: TaskRequest
) -> list[Reviewer]:
    rule = request.study.review.calibration
    qualified = list_qualified(reviewers, kind, request.present, request.decisions, rule)
    if _has_annotator(reviewers) and not _has_annotator(qualified):
        raise MissingInputError(
            f"review: no annotator has passed the calibration of {kind!r} tasks yet "
            "(`review.calibration`); see `omibench review status`"
        )
    return qualified


def _has_annotator(reviewers: Sequence[Reviewer]) -> bool:
    return any("annotator" in reviewer.roles for reviewer in reviewers)


def _give_people(draft: TaskDraft, people: Mapping[str, list[str]]) -> TaskDraft:
    return replace(draft, task=draft.task.model_copy(update={"people": dict(people)}))


def _count_people(tasks: Sequence[ReviewTask]) -> dict[tuple[str, str], int]:
    return dict(
        Counter((role, name) for t in tasks for role, names in t.people.items() for name in names)
    )
