"""Tasks in the import format of Label Studio."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import JsonValue

from omibench.review.kinds.declaration import Field, Kind, Part, list_options
from omibench.review.label_studio.configuration import describe_option
from omibench.review.label_studio.names import (
    OMIBENCH,
    TASK,
    name_options,
    name_part,
    name_start,
)
from omibench.review.part_texts import find_first_text, write_part_text
from omibench.schemas.review import ReviewRole, ReviewTask

Document = dict[str, Any]


def export_tasks(
    kind: Kind, tasks: Iterable[ReviewTask], role: ReviewRole = "annotator", pictures: str = ""
) -> list[Document]:
    """Return the tasks of one kind as documents for import into a Label Studio project.

    They contain the parts that the role can see, without gold decisions and names of people.
    Candidates become predictions that annotators can start from.

    Args:
        kind: The kind.
        tasks: Tasks of every kind; others are ignored.
        role: The role of the users.
        pictures: The address prefix of `pictures/SHA256.SUFFIX`: that of a local storage, such as
            `/data/local-files/?d=review/`.
    """
    visible = kind.list_visible_parts(role)
    return [
        {
            "data": _write_data(kind, task, visible, pictures),
            "predictions": _write_predictions(kind, task, visible),
        }
        for task in tasks
        if task.kind == kind.name
    ]


def _write_data(
    kind: Kind, task: ReviewTask, visible: Iterable[Part], pictures: str
) -> dict[str, Any]:
    data: dict[str, Any] = {
        TASK: f"{task.id} (SIMULATED)" if task.simulated else task.id,
        OMIBENCH: {"task": task.id, "kind": kind.name, "content_hash": task.content_hash},
    }
    names = {part.name for part in visible}
    for part in visible:
        if part.style in ("images", "pages"):
            data[name_part(part.name)] = [
                {"url": f"{pictures}{picture.file}"}
                for picture in task.pictures
                if f"{picture.part}s" == part.name
            ]
        else:
            data[name_part(part.name)] = write_text(task.content.get(part.name))
    for field in kind.fields:
        if field.type == "steps":
            steps = task.content.get(field.name)
            data[field.name] = [
                {"text": write_text(step)} for step in (steps if isinstance(steps, list) else [])
            ]
        if field.options_from:
            options = list_options(field, task.content)
            data[name_options(field.name)] = [describe_option(option) for option in options]
        if field.type == "text" and (field.edits or field.prefill):
            data[name_start(field.name)] = _find_start(kind, field, task, names)
    return data


def _find_start(kind: Kind, field: Field, task: ReviewTask, visible: set[str]) -> str:
    """Return the initial text of a field; empty if its part is hidden."""
    if field.edits in visible:
        return find_first_text(kind, field, task, {}) or ""
    if field.prefill in visible:
        return write_part_text(task.content.get(field.prefill or ""))
    return ""


def write_text(value: JsonValue) -> str:
    """Return a part as plain text: one entry per line, candidates and facts under their names."""
    if isinstance(value, Mapping):
        if "text" in value and "id" in value:
            return f"{value['id']}:\n{value['text']}"
        if "label" not in value:
            return "\n".join(f"{name}: {write_text(entry)}" for name, entry in value.items())
        return write_part_text([dict(value)])
    if isinstance(value, list):
        return "\n\n".join(map(write_text, value)) if _has_long(value) else write_part_text(value)
    return "" if value is None else str(value)


def _has_long(entries: list[JsonValue]) -> bool:
    return any(isinstance(entry, Mapping) and "id" in entry for entry in entries)


def _write_predictions(
    kind: Kind, task: ReviewTask, visible: Iterable[Part]
) -> list[dict[str, Any]]:
    """Build a prediction for each candidate, with its text and id."""
    parts = {part.name for part in visible if part.style == "candidates"}
    field = next((f for f in kind.fields if f.edits in parts), None)
    if field is None:
        return []
    chooser = next((f for f in kind.fields if f.options_from == field.edits), None)
    entries = task.content.get(field.edits or "")
    predictions = []
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, Mapping):
            continue
        results = [_write_result(field, "textarea", {"text": [str(entry.get("text", ""))]})]
        if chooser is not None:
            choice = {"choices": [str(entry.get("id", ""))]}
            results.append(_write_result(chooser, "choices", choice))
        predictions.append({"model_version": str(entry.get("id", "")), "result": results})
    return predictions


def _write_result(field: Field, type_: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": field.name,
        "from_name": field.name,
        "to_name": TASK,
        "type": type_,
        "value": dict(value),
        "meta": {OMIBENCH: {"field": field.name}},
    }
