"""The JSON of a task for a browser, restricted to the person's role.

Hidden content never leaves the server: no gold decision, no part that the kind hides from the role,
no key or solution before the person's own answer, and for auditors nothing from the annotator:
name, rating or label (OMIBench, A.4.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from pydantic import JsonValue, ValidationError

from omibench.errors import FileFormatError
from omibench.review.app.pages import link_task
from omibench.review.app.service import OpenedTask
from omibench.review.app.tasks import shows_picture
from omibench.review.check import read_answer_text, read_choices_text, write_part_text
from omibench.review.kinds.declaration import Field, Kind, PartStyle, list_options
from omibench.review.own_answers import compare_with_key
from omibench.review.people import AssignedRole, Reviewer
from omibench.review.state import TaskState
from omibench.schemas.problem import Choice
from omibench.schemas.review import ReviewDecision, ReviewTask

_SHOWN: Final = (
    "name", "title", "type", "scale", "required", "edits", "options_from", "prefill", "when", "key",
    "help", "group", "narrowed_by",
)  # fmt: skip
"""Escalation rules and the effect of an answer, which a form does not show."""

BESIDE: Final = frozenset({"pages", "steps", "response"})
"""The parts that a task compares with the problem, which are shown beside it."""


def describe_task(
    opened: OpenedTask, person: Reviewer, neighbours: tuple[str | None, str | None] = (None, None)
) -> dict[str, Any]:
    """Build the document from which a browser renders a task.

    Args:
        opened: The task as opened by the person.
        person: The person.
        neighbours: Ids of the next and previous task.
    """
    task, kind = opened.listed.task, opened.listed.kind
    content, original = show_content(opened)
    is_senior = opened.role == "senior"
    following, previous = (link_task(name) if name else None for name in neighbours)
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
                {
                    "url": f"/pictures/{picture.sha256}",
                    "part": picture.part,
                    "label": picture.label,
                    "boxes": [list(box) for box in picture.boxes],
                }
                for picture in task.pictures
                if shows_picture(kind, opened.role, picture)
            ],
            "simulated": task.simulated,
        },
        "kind": {
            "name": kind.name,
            "title": kind.title,
            "instruction": kind.instruction,
            "parts": [
                {
                    "name": part.name,
                    "title": part.title,
                    "style": part.style,
                    "is_beside": part.name in BESIDE,
                }
                for part in kind.list_visible_parts(opened.role)
            ],
            "fields": [] if opened.withheld else describe_fields(kind, content),
            "timed": kind.timed,
        },
        "role": opened.role,
        "asks_first": bool(opened.withheld),
        "own_answer": describe_own_answer(task, opened.own_answer),
        "draft": opened.draft,
        "base": opened.base,
        "state": describe_state(opened.state, opened.role),
        "history": describe_history(opened, person),
        "may_decide": opened.may_decide,
        "claimed": opened.claimed_by is not None,
        "claimed_by": opened.claimed_by if is_senior else None,
        "next": following,
        "previous": previous,
    }


def show_content(
    opened: OpenedTask,
) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """Return the parts visible to a person, and the original texts of those the annotator edited.

    Later readers see the annotator's version: the audit covers the text to be published.
    """
    task, kind, role = opened.listed.task, opened.listed.kind, opened.role
    visible = [p.name for p in kind.list_visible_parts(role) if p.name not in opened.withheld]
    content = {name: task.content[name] for name in visible if name in task.content}
    if role == "annotator" or kind.design == "everyone":
        return content, {}
    edits = _find_edits(task, kind, opened.state)
    original = {name: content[name] for name in edits if name in content}
    return content | {name: edits[name] for name in original}, original


def describe_own_answer(task: ReviewTask, answer: str | None) -> dict[str, Any] | None:
    """Return a person's own answer, and whether it is the official one; None without one."""
    return None if answer is None else {"text": answer, "is_right": compare_with_key(task, answer)}


def describe_state(state: TaskState, role: AssignedRole) -> dict[str, Any]:
    """Return the state of a task for a senior.

    Others learn nothing: that a task was escalated would show that their decision is audited.
    """
    if role != "senior":
        return {"status": None, "rounds": 0, "differences": []}
    return {
        "status": state.status, "rounds": state.rounds, "differences": list(state.differences)
    }  # fmt: skip


def describe_history(opened: OpenedTask, person: Reviewer) -> list[dict[str, Any]]:
    """Return the decisions on a task visible to a person: all for seniors, else their own.

    In samples, which seniors judge blindly, names are hidden. While a sample waits, seniors do not
    see the decisions of others on the task itself (OMIBench, A.4.3).
    """
    is_senior = opened.role == "senior" and not (
        opened.is_judged_again and opened.state.status == "settled"
    )
    is_named = is_senior and opened.listed.task.purpose != "sample"
    people = list(dict.fromkeys(event.person for event in opened.events))
    stale = {event.id for event in opened.state.stale}
    counting = {decision.id for decision in opened.state.decisions}
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
            "is_replaced": event.id not in stale | counting,
            "own_answer": event.own_answer,
            "simulated": event.simulated,
        }
        for event in opened.events
        if not opened.withheld and (is_senior or event.person == person.name)
    ]


def _find_edits(task: ReviewTask, kind: Kind, state: TaskState) -> Mapping[str, JsonValue]:
    """Return the parts that the annotator edited, by name, in their edited form.

    A text written from candidates does not replace a part.
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
    """Convert an edited text to the form of its part; None for styles without editable text."""
    if style in {"markdown", "text"}:
        return text
    if style == "answer":
        return list[JsonValue](read_answer_text(text))
    if style == "choices" and isinstance(part, list):
        choices = [Choice.model_validate(entry) for entry in part]
        return [c.model_dump(mode="json") for c in read_choices_text(text, choices)]
    return None


def describe_fields(kind: Kind, content: Mapping[str, JsonValue]) -> list[dict[str, Any]]:
    """Return the fields of a kind as the form of one task needs them.

    In addition to the declaration, a field has `options` (value, title, key, help) with those of
    the task included. Fields with initial values have:

    - `start`: the text or value of a part;
    - `starts` and `starts_by`: texts by the answer to another field, whose options are the entries
      of the part (the candidates of a rationale).

    Args:
        kind: The kind of the task.
        content: The parts that the person sees; hidden parts are not used.
    """
    return [
        {name: getattr(field, name) for name in _SHOWN}
        | {
            "options": [
                {
                    name: getattr(option, name)
                    for name in ("value", "title", "key", "help", "subjects")
                }
                for option in list_options(field, content)
                if option.value != field.absent
            ]
        }
        | _find_start(kind, field, content)
        for field in kind.fields
        if not field.about or content.get(field.about)
    ]


def _find_start(kind: Kind, field: Field, content: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    part = content.get(field.edits or field.prefill or "")
    if part is None:
        return {}
    if field.prefill:
        return {"start": write_part_text(part) if field.type == "text" else part}
    chooser = kind.find_chooser(field)
    if chooser is None:
        return {"start": write_part_text(part)}
    entries = part if isinstance(part, list) else []
    texts: dict[str, JsonValue] = {
        str(entry.get("id")): write_part_text(entry.get("text"))
        for entry in entries
        if isinstance(entry, dict)
    }
    return {"starts": texts, "starts_by": chooser}
