"""Who may do what with a task: pure functions of the task, its state and a person."""

from __future__ import annotations

import dataclasses
from typing import Final, Literal

from omibench.review.kinds.declaration import Kind
from omibench.review.people import AssignedRole, Reviewer
from omibench.review.state import Status, TaskState
from omibench.schemas.review import ReviewTask

Awaited = Literal["annotator", "auditor", "senior", "everyone"]
"""Whom a task waits for. `everyone`: each person who is asked decides apart."""
_BY_STATUS: Final[dict[Status, Awaited]] = {
    "open": "annotator",
    "audit": "auditor",
    "escalated": "senior",
}
_APART: Final = frozenset({"calibration", "familiarisation"})
_ORDER: Final[tuple[AssignedRole, ...]] = ("annotator", "auditor", "senior")


def fit_kind(kind: Kind, task: ReviewTask) -> Kind:
    """The kind as it holds for a task: what has a gold answer is decided by each person apart."""
    return dataclasses.replace(kind, design="everyone") if task.purpose in _APART else kind


def find_awaited(task: ReviewTask, kind: Kind, state: TaskState) -> Awaited | None:
    """Whom a task waits for; None where it is settled.

    Settled work that is judged again for a sample waits for a senior (OMIBench, A.4.3).
    """
    if kind.design == "everyone":
        return "everyone"
    if state.status == "settled":
        return None
    return "senior" if task.purpose == "sample" else _BY_STATUS[state.status]


def read_subject(task: ReviewTask) -> str | None:
    """The subject of a task's problem, where its strata say it."""
    return task.strata.get("subject")


def is_asked(task: ReviewTask, role: Awaited, person: Reviewer) -> bool:
    """Whether a task is for a person in a role: by name, else by role and subject."""
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
    """The roles in which a person has decided on the task as it is now."""
    roles = {decision.role for decision in state.decisions if decision.person == person.name}
    return {"annotator" if role == "imported" else role for role in roles}


def choose_role(
    task: ReviewTask, kind: Kind, state: TaskState, person: Reviewer
) -> AssignedRole | None:
    """In which role a person sees a task; None where it is not for them.

    Who has decided on it keeps that role, since nobody audits or settles what they decided
    themselves (OMIBench, A.4.1). Else it is the role that the task waits for, and then, to look on,
    the first that the person has; an auditor sees no history before the audit.
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
    """Whether a person may decide on a task now: it waits for them, or they correct themselves.

    A senior may also decide anew on what is settled.
    """
    taken = list_taken_roles(state, person)
    if taken:
        return role in taken
    awaited = find_awaited(task, kind, state)
    if awaited is None:
        return role == "senior" and is_asked(task, role, person)
    return awaited in {role, "everyone"} and is_asked(task, awaited, person)
