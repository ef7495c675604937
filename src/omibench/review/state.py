"""State of a task from its decisions (open, escalated, settled), as pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from pydantic import JsonValue

from omibench.review.kinds.declaration import Field, Kind
from omibench.schemas.review import ReviewDecision, ReviewRole, ReviewTask

Status = Literal["open", "audit", "escalated", "settled"]
"""`open` waits for an annotator, `audit` for an auditor, `escalated` for a senior."""
STATUSES: Final[tuple[Status, ...]] = get_args(Status)


@dataclass(frozen=True)
class TaskState:
    """The state of a task.

    Attributes:
        task: The task.
        status: Its status.
        decisions: The effective decisions, one per person and role, ordered by time.
        stale: Decisions on other content than the current one.
        differences: Names of the fields over which it was last escalated.
        rounds: The number of escalations.
        fields: The result if settled: the annotator's fields, confirmed by the auditor, or those of
            the senior.
        settled_by: The role of the decision that settled it.
    """

    task: ReviewTask
    status: Status = "open"
    decisions: tuple[ReviewDecision, ...] = ()
    stale: tuple[ReviewDecision, ...] = ()
    differences: tuple[str, ...] = ()
    rounds: int = 0
    fields: Mapping[str, JsonValue] | None = None
    settled_by: ReviewRole | None = None


def compute_state(
    task: ReviewTask, kind: Kind, decisions: Iterable[ReviewDecision], reviewers: int | None = None
) -> TaskState:
    """Fold the decisions on a task, in order of time.

    A person's later decision in a role replaces the earlier one; the history keeps both. Each
    person has one role in a task, that of the first decision, so they cannot audit or settle their
    own. A senior's decision is binding once another person has read the task, or if one reader is
    enough; samples are for seniors only. A later decision that differs from it in an escalating
    field opens another round.

    Args:
        task: The task in its current form.
        kind: Its kind.
        decisions: Decisions; those on other tasks are ignored.
        reviewers: The number of people who decide before it is settled; the kind's by default.
    """
    on_task = sorted((d for d in decisions if d.task == task.id), key=lambda d: (d.time, d.id))
    stale = tuple(d for d in on_task if d.content_hash != task.content_hash)
    current = [d for d in on_task if d.content_hash == task.content_hash]
    needed = max(1, kind.reviewers if reviewers is None else reviewers)
    if kind.design == "everyone":
        return _gather(task, current, stale)
    state = TaskState(task, stale=stale)
    for decision in current:
        state = _advance(state, kind, decision, needed)
    return state


def count_needed(kind: Kind, reviewers: int | None = None) -> int:
    """Return the number of people who decide before a task is settled.

    Args:
        kind: The kind of the task; its own number is the maximum.
        reviewers: The study's number (`review.reviewers`); the kind's if None.
    """
    return kind.reviewers if reviewers is None else min(kind.reviewers, max(1, reviewers))


def list_differences(
    kind: Kind, first: Mapping[str, JsonValue], second: Mapping[str, JsonValue]
) -> tuple[str, ...]:
    """Return the names of the fields whose difference escalates (OMIBench, A.4.2)."""
    return tuple(
        field.name
        for field in kind.fields
        if _differs(field, first.get(field.name), second.get(field.name))
    )


def list_corrections(
    kind: Kind, first: Mapping[str, JsonValue], second: Mapping[str, JsonValue]
) -> tuple[str, ...]:
    """Return the names of the parts that two readers leave in different words.

    A senior decides whose words count (OMIBench, A.4.2): otherwise the first reader's words would
    be published without a check, and the second reader's lost. For kinds with one reader, the first
    reader's words count.
    """
    if kind.reviewers < 2:
        return ()
    return tuple(
        field.name
        for field in kind.fields
        if field.edits and _are_unequal(field, first.get(field.name), second.get(field.name))
    )


def _differs(field: Field, first: JsonValue, second: JsonValue) -> bool:
    if field.tolerance is not None and isinstance(first, int) and isinstance(second, int):
        return abs(first - second) > field.tolerance
    return field.critical and _are_unequal(field, first, second)


def _are_unequal(field: Field, first: JsonValue, second: JsonValue) -> bool:
    first, second = (None if value == field.absent else value for value in (first, second))
    if field.type == "choices":
        sets = [set(map(str, v)) if isinstance(v, list) else set() for v in (first, second)]
        return sets[0] != sets[1]
    if field.type == "text" and isinstance(first, str) and isinstance(second, str):
        return first.split() != second.split()  # ignore spaces and line ends
    return first != second


def _advance(state: TaskState, kind: Kind, decision: ReviewDecision, needed: int) -> TaskState:
    """Return the state after one more decision on the current content."""
    role = read_role(decision)
    if any(d.person == decision.person and read_role(d) != role for d in state.decisions):
        return state
    kept = [d for d in state.decisions if (d.person, d.role) != (decision.person, decision.role)]
    before, decisions = state, (*kept, decision)
    state = replace(state, decisions=decisions, fields=None, settled_by=None)
    if role == "senior":
        is_alone = all(read_role(d) == "senior" for d in decisions)
        if is_alone and needed > 1 and state.task.purpose != "sample":
            return replace(state, status="open")
        return replace(state, status="settled", fields=decision.fields, settled_by="senior")
    if before.settled_by == "senior" and before.fields is not None:
        differences = list_differences(kind, before.fields, decision.fields)
        if not differences:
            return replace(before, decisions=decisions)
        return _escalate(state, differences)
    return _compare(state, kind, needed)


def _compare(state: TaskState, kind: Kind, needed: int) -> TaskState:
    readers = [d for d in state.decisions if d.role != "senior"]
    first = next((d for d in readers if d.role != "auditor"), None)
    if first is None:
        return replace(state, status="open")
    for other in readers:
        differences = list_differences(kind, first.fields, other.fields)
        corrections = list_corrections(kind, first.fields, other.fields)
        if disputed := tuple(dict.fromkeys((*differences, *corrections))):
            return _escalate(state, disputed)
    if len({d.person for d in readers}) < needed:
        return replace(state, status="audit")
    return replace(state, status="settled", fields=first.fields, settled_by=readers[-1].role)


def _escalate(state: TaskState, differences: tuple[str, ...]) -> TaskState:
    rounds = state.rounds + (state.status != "escalated")
    return replace(state, status="escalated", differences=differences, rounds=rounds)


def read_role(decision: ReviewDecision) -> ReviewRole:
    """Return the role as which a decision counts; imported ones count as an annotator's."""
    return "annotator" if decision.role == "imported" else decision.role


def _gather(
    task: ReviewTask, current: Sequence[ReviewDecision], stale: tuple[ReviewDecision, ...]
) -> TaskState:
    """Return the state of an independent task: settled once all assignees have decided."""
    latest = {decision.person: decision for decision in current}
    asked = {name for names in task.people.values() for name in names}
    is_done = bool(latest) and asked <= set(latest)
    return TaskState(task, "settled" if is_done else "open", tuple(latest.values()), stale)
