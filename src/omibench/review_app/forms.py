"""Fields of a task in the form that browsers receive, with options and initial texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from pydantic import JsonValue

from omibench.review.kinds.declaration import Field, Kind, list_options
from omibench.review.part_texts import write_part_text

_SHOWN: Final = (
    "name", "title", "type", "scale", "required", "edits", "options_from", "prefill", "when", "key",
    "help", "group",
)  # fmt: skip
"""Escalation rules and the effect of an answer, which a form does not show."""


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
    return [_describe_field(kind, field, content) for field in kind.fields]


def _describe_field(kind: Kind, field: Field, content: Mapping[str, JsonValue]) -> dict[str, Any]:
    options = [
        {"value": option.value, "title": option.title, "key": option.key, "help": option.help}
        for option in list_options(field, content)
    ]
    values = asdict(field)
    shown = {name: values[name] for name in _SHOWN}
    return shown | {"options": options} | _find_start(kind, field, content)


def _find_start(kind: Kind, field: Field, content: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    part = content.get(field.edits or field.prefill or "")
    if part is None:
        return {}
    if field.prefill:
        return {"start": write_part_text(part) if field.type == "text" else part}
    chooser = next((item.name for item in kind.fields if item.options_from == field.edits), None)
    if chooser is None:
        return {"start": write_part_text(part)}
    entries = part if isinstance(part, list) else []
    texts: dict[str, JsonValue] = {
        str(entry.get("id")): write_part_text(entry.get("text"))
        for entry in entries
        if isinstance(entry, dict)
    }
    return {"starts": texts, "starts_by": chooser}
