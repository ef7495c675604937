"""Assignment of tasks to people, by role, balanced and seeded."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from omibench.errors import MissingInputError
from omibench.review.kinds import find_kind
from omibench.review.people import Reviewer, find_reviewer
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
    return [_open_roles(task, names) for task in tasks]


def _open_roles(task: ReviewTask, names: Collection[str]) -> ReviewTask:
    kept = {role: [n for n in people if n in names] for role, people in task.people.items()}
    people = {role: left for role, left in kept.items() if left}
    return task if people == task.people else task.model_copy(update={"people": people})


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
        _check_annotator(find_reviewer(reviewers, name))
    chosen = [reviewer for reviewer in reviewers if not only or reviewer.name in only]
    return [_draw(task, chosen, reviewers, load, seed) for task in tasks]


def _check_annotator(reviewer: Reviewer) -> None:
    if "annotator" not in reviewer.roles:
        roles = ", ".join(reviewer.roles)
        raise MissingInputError(
            f"review: {reviewer.name} has the roles {roles} in reviewers.yaml, not annotator; add "
            "the role, or pass another person with --to"
        )


def _draw(
    task: ReviewTask,
    chosen: Sequence[Reviewer],
    reviewers: Sequence[Reviewer],
    load: Load,
    seed: int,
) -> ReviewTask:
    kind = find_kind(task.kind)
    annotators = [r for r in chosen if _may_do(r, "annotator", task)]
    if not annotators:
        raise MissingInputError(_refuse(task, "annotator"))
    if kind.design == "everyone":
        members = _choose_measured(annotators)
        people = {"annotator": [reviewer.name for reviewer in members]}
    else:
        auditors = [r for r in reviewers if _may_do(r, "auditor", task)]
        people = _draw_two(task, annotators, auditors, load, seed)
    load.update((role, name) for role, names in people.items() for name in names)
    return task.model_copy(update={"people": people})


def _may_do(reviewer: Reviewer, role: str, task: ReviewTask) -> bool:
    """Return whether a person has a role, and covers the task's subject, if any."""
    subject = task.strata.get("subject")
    return role in reviewer.roles if subject is None else reviewer.may_review(role, subject)


def _choose_measured(annotators: Sequence[Reviewer]) -> list[Reviewer]:
    """Return the people of the baseline: those in a group, or all if no one has a group."""
    return [reviewer for reviewer in annotators if reviewer.group] or list(annotators)


def _draw_two(
    task: ReviewTask,
    annotators: Sequence[Reviewer],
    auditors: Sequence[Reviewer],
    load: Load,
    seed: int,
) -> dict[str, list[str]]:
    if find_kind(task.kind).reviewers < 2:
        return {"annotator": [_take("annotator", task, annotators, load, seed)]}
    only_auditor = auditors[0].name if len(auditors) == 1 else None
    first = [r for r in annotators if r.name != only_auditor]
    second = [r for r in auditors if any(other.name != r.name for other in annotators)]
    if not first or not second:
        raise MissingInputError(_refuse(task, "auditor", " who does not annotate it"))
    annotator = _take("annotator", task, first, load, seed)
    others = [reviewer for reviewer in auditors if reviewer.name != annotator]
    return {"annotator": [annotator], "auditor": [_take("auditor", task, others, load, seed)]}


def _take(
    role: str, task: ReviewTask, candidates: Sequence[Reviewer], load: Load, seed: int
) -> str:
    def place(reviewer: Reviewer) -> tuple[int, str]:
        text = f"{seed}\0{task.id}\0{role}\0{reviewer.name}"
        return load[role, reviewer.name], hashlib.sha256(text.encode()).hexdigest()

    return min(candidates, key=place).name


def _refuse(task: ReviewTask, role: str, condition: str = "") -> str:
    subject = f" (subject {task.strata['subject']})" if "subject" in task.strata else ""
    return (
        f"review: {task.id}: no one in reviewers.yaml can be its {role}{condition}{subject}; add a "
        "person with that role and subject"
    )
