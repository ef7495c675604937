"""Assignment of tasks to people, by role, balanced and seeded."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from omibench.errors import MissingInputError
from omibench.graph.provenance import check_inputs
from omibench.params.review import REVIEWERS
from omibench.params.study import Study
from omibench.review.calibration import list_qualified
from omibench.review.contents import PROBLEM_KINDS
from omibench.review.folder import read_record
from omibench.review.kinds import find_kind
from omibench.review.outcomes import PHOTO_KINDS
from omibench.review.people import Reviewer, find_reviewer, read_reviewers
from omibench.review.sampling.strata import rank_name
from omibench.review.tasks.drafts import (
    PictureKeeper,
    TaskChanges,
    TaskDraft,
    lock_tasks,
    merge_tasks,
    read_present_tasks,
    write_tasks,
)
from omibench.review.tasks.photographs import draft_study_photographs, draft_study_problems
from omibench.review.tasks.request import AssignOptions, TaskRequest
from omibench.review.tasks.responses import (
    draft_study_baseline,
    draft_study_disagreements,
    draft_study_ratings,
    draft_study_steps,
)
from omibench.schemas.review import ReviewTask

Load = Counter[tuple[str, str]]
"""The number of tasks of each person in each role: (role, name) -> number."""


def count_load(tasks: Iterable[ReviewTask]) -> Load:
    """Return the number of tasks already assigned to each person."""
    return Counter(
        (role, name) for task in tasks for role, names in task.people.items() for name in names
    )


def open_roles(tasks: Sequence[ReviewTask], reviewers: Iterable[Reviewer]) -> list[ReviewTask]:
    """Remove people from tasks who are no longer in reviewers.yaml.

    Args:
        tasks: The tasks.
        reviewers: All people.

    Returns:
        The tasks in order; a role without people is open to everyone who has it.
    """
    names = {reviewer.name for reviewer in reviewers}
    opened = []
    for task in tasks:
        kept = {role: [n for n in people if n in names] for role, people in task.people.items()}
        people = {role: left for role, left in kept.items() if left}
        opened.append(task.model_copy(update={"people": people}))
    return opened


def draw_people(
    tasks: Sequence[ReviewTask],
    reviewers: Sequence[Reviewer],
    load: Load,
    seed: int,
    only: Collection[str] = (),
) -> list[ReviewTask]:
    """Assign people to each task.

    A task gets an annotator and, if two people decide, a different person as auditor. Independent
    tasks go to everyone. The person with the fewest tasks in a role comes first; ties are broken by
    seed and task. The senior role stays open: escalated tasks go to everyone who has it.

    Args:
        tasks: Tasks without people.
        reviewers: All people.
        load: Existing assignments; it is updated.
        seed: Seed of the draw.
        only: Names of the annotators; all annotators if empty.

    Returns:
        The tasks with `people`, in order.

    Raises:
        MissingInputError: No one is eligible for a task in a role.
    """
    for name in only:
        reviewer = find_reviewer(reviewers, name)
        if "annotator" not in reviewer.roles:
            raise MissingInputError(
                f"review: {name} has the roles {', '.join(reviewer.roles)} in reviewers.yaml, not "
                "annotator; add the role, or pass another person with --to"
            )
    chosen = [reviewer for reviewer in reviewers if not only or reviewer.name in only]
    drawn = []
    for task in tasks:
        people = _draw(task, chosen, reviewers, load, seed)
        load.update((role, name) for role, names in people.items() for name in names)
        drawn.append(task.model_copy(update={"people": people}))
    return drawn


def _draw(
    task: ReviewTask,
    chosen: Sequence[Reviewer],
    reviewers: Sequence[Reviewer],
    load: Load,
    seed: int,
) -> dict[str, list[str]]:
    subject, kind = task.strata.get("subject"), find_kind(task.kind)

    def list_people(role: str, people: Sequence[Reviewer]) -> list[str]:
        return [
            r.name
            for r in people
            if (role in r.roles if subject is None else r.may_review(role, subject))
        ]

    def take(role: str, names: Sequence[str], condition: str = "") -> str:
        if not names:
            of_subject = "" if subject is None else f" (subject {subject})"
            raise MissingInputError(
                f"review: {task.id}: no one in reviewers.yaml can be its {role}{condition}"
                f"{of_subject}; add a person with that role and subject"
            )
        return min(names, key=lambda n: (load[role, n], rank_name(seed, task.id, role, n)))

    annotators = list_people("annotator", chosen)
    take("annotator", annotators)
    if kind.design == "everyone":  # the baseline: those in a group, or all if no one has a group
        grouped = {reviewer.name for reviewer in reviewers if reviewer.group}
        return {"annotator": [name for name in annotators if name in grouped] or annotators}
    if kind.reviewers < 2:
        return {"annotator": [take("annotator", annotators)]}
    auditors = list_people("auditor", reviewers)
    if len(auditors) == 1:  # who annotates nothing
        annotators = [name for name in annotators if name not in auditors]
    first = take("annotator", annotators) if annotators else ""
    others = [name for name in auditors if first and name != first]
    return {
        "annotator": [first],
        "auditor": [take("auditor", others, " who does not annotate it")],
    }


# Implementation of `omibench review assign`: make tasks, draw people, write files.

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
        names = ", ".join(changes.gone[:5]) + (", ..." if len(changes.gone) > 5 else "")
        lines.append(f"  {len(changes.gone)} tasks no longer match anything in the study: {names}")
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
    path = review / REVIEWERS
    reviewers = read_reviewers(path) if path.is_file() else []
    if options.only and not path.is_file():
        raise MissingInputError(
            f"--to {min(options.only)}: {path} not found, so people cannot be chosen"
        )
    lines = read_present_tasks(review)
    present = open_roles(lines, reviewers) if reviewers else lines
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
            new = draw_people(new, qualified, count_load(present), request.draw_seed, options.only)
        drawn = {task.id: task for task in new}
        keeper = PictureKeeper(review)
        fresh = [
            keeper.keep_pictures(draft._replace(task=drawn.get(draft.task.id, draft.task)))
            for draft in drafts
        ]
    changes = merge_tasks(kind, present, fresh, decisions)
    write_tasks(review, changes.tasks)
    simulated = {reviewer.name for reviewer in reviewers if reviewer.simulated}
    opened = sum(line.people != task.people for line, task in zip(lines, present, strict=True))
    return Assignment(kind, changes, count_load(new), simulated, opened)


def _choose_qualified(
    kind: str, reviewers: Sequence[Reviewer], request: TaskRequest
) -> list[Reviewer]:
    rule = request.study.review.calibration
    qualified = list_qualified(reviewers, kind, request.present, request.decisions, rule)
    annotators, left = (
        [reviewer for reviewer in people if "annotator" in reviewer.roles]
        for people in (reviewers, qualified)
    )
    if annotators and not left:
        raise MissingInputError(
            f"review: no annotator has passed the calibration of {kind!r} tasks yet "
            "(`review.calibration`); see `omibench review status`"
        )
    return qualified
