"""What a browser is given of a task: only what the person may see in their role.

Nothing that is hidden leaves the server: no gold, no part that the kind hides from the role, and
for an auditor nothing that the annotator said, neither name nor rating nor label (OMIBench, A.4.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from pydantic import JsonValue, ValidationError

from omibench.errors import FileFormatError
from omibench.review.kinds.declaration import Kind, PartStyle
from omibench.review.part_texts import read_answer_text, read_choices_text
from omibench.review.people import AssignedRole, Reviewer
from omibench.review.state import TaskState
from omibench.review_app.forms import describe_fields
from omibench.review_app.pages import link_task
from omibench.review_app.service import OpenedTask
from omibench.review_app.tasks import shows_picture
from omibench.schemas.problem import Choice
from omibench.schemas.review import ReviewDecision, ReviewTask, TaskPicture


class Neighbours(NamedTuple):
    """The tasks that a person goes to from one: the next that waits, and the one before."""

    next_task: str | None = None
    previous_task: str | None = None


def describe_task(opened: OpenedTask, person: Reviewer, neighbours: Neighbours) -> dict[str, Any]:
    """The document from which a browser makes the page of a task.

    Args:
        opened: The task as the person meets it.
        person: Who looks at it.
        neighbours: Ids of the tasks that the person goes to from it.
    """
    task, kind = opened.listed.task, opened.listed.kind
    content, original = show_content(task, kind, opened.state, opened.role)
    is_senior = opened.role == "senior"
    return {
        "task": {
            "id": task.id,
            "url": link_task(task.id),
            "kind": task.kind,
            "title": f"{kind.title} {task.problem}",
            "purpose": task.purpose,
            "content": content,
            "original": original,
            "edited": list(original),
            "content_hash": task.content_hash,
            "pictures": [
                _describe_picture(picture)
                for picture in task.pictures
                if shows_picture(kind, opened.role, picture)
            ],
            "simulated": task.simulated,
        },
        "kind": _describe_kind(kind, opened.role, content),
        "role": opened.role,
        "draft": opened.draft,
        "base": opened.find_base(person),
        "state": describe_state(opened.state, opened.role),
        "history": describe_history(opened, person),
        "may_decide": opened.may_decide,
        "claimed": opened.claimed_by is not None,
        "claimed_by": opened.claimed_by if is_senior else None,
        "next": _link(neighbours.next_task),
        "previous": _link(neighbours.previous_task),
    }


def show_content(
    task: ReviewTask, kind: Kind, state: TaskState, role: AssignedRole
) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """The parts that a role sees, and the text before of those that the annotator edited.

    Who reads after the annotator reads the final form: the audit is of what would be published.
    """
    visible = [part.name for part in kind.list_visible_parts(role)]
    content = {name: task.content[name] for name in visible if name in task.content}
    if role == "annotator" or kind.design == "everyone":
        return content, {}
    edits = _find_edits(task, kind, state)
    original = {name: content[name] for name in edits if name in content}
    return content | {name: edits[name] for name in original}, original


def describe_state(state: TaskState, role: AssignedRole) -> dict[str, Any]:
    """Where a task stands; the fields that people differ over are for the senior alone."""
    differences = list(state.differences) if role == "senior" else []
    return {"status": state.status, "rounds": state.rounds, "differences": differences}


def describe_history(opened: OpenedTask, person: Reviewer) -> list[dict[str, Any]]:
    """The decisions on a task that a person may see: a senior all of them, others their own.

    Of a sample, which seniors judge without knowing whose work it is, names are left out; while one
    waits, seniors see nothing of what others decided on the task itself (OMIBench, A.4.3).
    """
    is_senior = opened.role == "senior" and not (
        opened.is_judged_again and opened.state.status == "settled"
    )
    is_named = is_senior and opened.listed.task.purpose != "sample"
    people = list(dict.fromkeys(event.person for event in opened.events))
    stale = {event.id for event in opened.state.stale}
    return [
        {
            "id": event.id,
            "person": event.person if is_named or event.person == person.name else None,
            "reader": f"reader {people.index(event.person) + 1}",
            "role": event.role,
            "time": event.time.isoformat(timespec="seconds"),
            "fields": event.fields,
            "comment": event.comment,
            "seconds": event.seconds,
            "stale": event.id in stale,
            "simulated": event.simulated,
        }
        for event in opened.events
        if is_senior or event.person == person.name
    ]


def _link(task: str | None) -> str | None:
    return link_task(task) if task else None


def _find_edits(task: ReviewTask, kind: Kind, state: TaskState) -> Mapping[str, JsonValue]:
    """The parts that the annotator edited, by name, in their edited form.

    A text that is written anew from candidates replaces no part.
    """
    first: ReviewDecision | None = next(
        (d for d in state.decisions if d.role not in {"auditor", "senior"}), None
    )
    if first is None:
        return {}
    styles = {part.name: part.style for part in kind.parts}
    edits: dict[str, JsonValue] = {}
    for field in kind.fields:
        text = first.fields.get(field.name)
        if field.edits and isinstance(text, str):
            part = task.content.get(field.edits)
            with suppress(FileFormatError, ValidationError):
                edits[field.edits] = _read_part(styles.get(field.edits), text, part)
    return {name: part for name, part in edits.items() if part is not None}


def _read_part(style: PartStyle | None, text: str, part: JsonValue) -> JsonValue:
    """An edited text as the part that it edits; None for a style that no text replaces."""
    if style in {"markdown", "text"}:
        return text
    if style == "answer":
        return list[JsonValue](read_answer_text(text))
    if style == "choices" and isinstance(part, list):
        choices = [Choice.model_validate(entry) for entry in part]
        return [c.model_dump(mode="json") for c in read_choices_text(text, choices)]
    return None


def _describe_picture(picture: TaskPicture) -> dict[str, Any]:
    return {
        "url": f"/pictures/{picture.sha256}",
        "part": picture.part,
        "label": picture.label,
        "boxes": [list(box) for box in picture.boxes],
    }


def _describe_kind(
    kind: Kind, role: AssignedRole, content: Mapping[str, JsonValue]
) -> dict[str, Any]:
    return {
        "name": kind.name,
        "title": kind.title,
        "instruction": kind.instruction,
        "parts": [
            {"name": part.name, "title": part.title, "style": part.style}
            for part in kind.list_visible_parts(role)
        ],
        "fields": describe_fields(kind, content),
        "timed": kind.timed,
    }
