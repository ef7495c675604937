"""Access rules: pure functions of a task, its state and a person."""

from __future__ import annotations

import dataclasses
from typing import Final, Literal

from omibench.review.kinds.declaration import Kind
from omibench.review.people import AssignedRole, Reviewer
from omibench.review.state import Status, TaskState
from omibench.schemas.review import ReviewTask

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


def list_taken_roles(state: TaskState, person: Reviewer) -> set[str]:
    """Return the roles in which a person has decided on the current content of the task."""
    roles = {decision.role for decision in state.decisions if decision.person == person.name}
    return {"annotator" if role == "imported" else role for role in roles}


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
