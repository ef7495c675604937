"""Validation of the fields of a decision against its kind of task."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from omibench.errors import FileFormatError
from omibench.review.hashing import normalise_lines
from omibench.review.kinds.declaration import Field, Kind, is_asked, list_options
from omibench.review.part_texts import find_defect, find_first_text
from omibench.schemas.review import ReviewTask
from omibench.schemas.validation import suggest_name

TEXT_CHARACTERS: Final = 200_000
"""The maximum length of a text field or comment, in characters."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
NO_CANDIDATE: Final = "none"
"""The value of a choice among candidates that selects none of them."""


class DecisionFieldError(FileFormatError):
    """Raised for an invalid field of a decision; `field` is its name."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


def check_fields(
    kind: Kind, task: ReviewTask, fields: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """Validate the fields of a decision and return them in declaration order.

    Fields without a value become None, as do texts equal to the original. Line ends become `\\n`.

    Args:
        kind: The kind of the task.
        task: The task; its content gives the original texts and the number of steps.
        fields: The fields from a person or a file.

    Raises:
        DecisionFieldError: The kind does not have the field, the field is required and missing, it
            depends on another answer that was not given, its value is invalid, or an edited text
            cannot replace its part.
    """
    for name in fields:
        if name not in kind.by_name:
            raise DecisionFieldError(
                name,
                f"is not a field of {kind.name!r} tasks{suggest_name(name, list(kind.by_name))}",
            )
    checked: dict[str, JsonValue] = {}
    for field in kind.fields:
        value = normalise_lines(fields.get(field.name))
        checked[field.name] = _check_field(field, task, value, checked)
        if field.edits:
            start = find_first_text(kind, field, task, checked)
            if checked[field.name] == start:
                checked[field.name] = None
                _refuse_nothing(kind, field, checked)
        _check_edit(field, task, checked[field.name])
    return checked


def _refuse_nothing(kind: Kind, field: Field, fields: Mapping[str, JsonValue]) -> None:
    """Check that a text made from a candidate is written if no candidate is chosen."""
    chooser = next((f.name for f in kind.fields if f.options_from == field.edits), None)
    if chooser and fields.get(chooser) == NO_CANDIDATE:
        raise DecisionFieldError(
            field.name, f"is missing: {chooser} is {NO_CANDIDATE}, so write the text"
        )


def _check_edit(field: Field, task: ReviewTask, value: JsonValue) -> None:
    part = field.edits or field.prefill
    if part is None or field.type != "text" or not isinstance(value, str):
        return
    if defect := find_defect(part, value, task):
        raise DecisionFieldError(field.name, defect)


def _check_field(
    field: Field, task: ReviewTask, value: JsonValue, earlier: Mapping[str, JsonValue]
) -> JsonValue:
    if _is_empty(value):
        value = None
    if field.when is not None and not is_asked(field, earlier):
        if value in (None, False):
            return None
        name, wanted = field.when
        raise DecisionFieldError(
            field.name, f"applies only if {name} is {' or '.join(wanted)}: leave it out"
        )
    if value is None:
        if field.required and _can_be_answered(field, task):
            raise DecisionFieldError(field.name, "is missing, but required")
        return None
    _CHECKS[field.type](field, value, task)
    return value


def _can_be_answered(field: Field, task: ReviewTask) -> bool:
    """Return whether there is anything to choose: a task may have no options or no steps."""
    part = "steps" if field.type == "steps" else field.options_from
    return part is None or bool(task.content.get(part))


def _is_empty(value: JsonValue) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _list_values(field: Field, task: ReviewTask) -> list[str]:
    return [option.value for option in list_options(field, task.content)]


def _check_choice(field: Field, value: JsonValue, task: ReviewTask) -> None:
    options = _list_values(field, task)
    if not isinstance(value, str) or value not in options:
        raise _refuse(field, value, f"must be one of {', '.join(options)}")


def _check_choices(field: Field, value: JsonValue, task: ReviewTask) -> None:
    values = value if isinstance(value, list) else [None]
    texts = [v for v in values if isinstance(v, str)]
    options = _list_values(field, task)
    if len(texts) < len(values) or not set(texts) <= set(options):
        raise _refuse(field, value, f"must be a list of {', '.join(options)}")
    if len(set(texts)) < len(texts):
        raise _refuse(field, value, "has a value twice")


def _check_rating(field: Field, value: JsonValue, task: ReviewTask) -> None:
    low, high = field.scale
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise _refuse(field, value, f"must be an integer from {low} to {high}")


def _check_flag(field: Field, value: JsonValue, task: ReviewTask) -> None:
    if not isinstance(value, bool):
        raise _refuse(field, value, "must be true or false")


def _check_text(field: Field, value: JsonValue, task: ReviewTask) -> None:
    if not isinstance(value, str):
        raise _refuse(field, value, "takes a text")
    if len(value) > TEXT_CHARACTERS:
        raise DecisionFieldError(
            field.name, f"has {len(value):,} characters; the limit is {TEXT_CHARACTERS:,}"
        )
    if control := _CONTROL.search(value):
        raise DecisionFieldError(
            field.name, f"has the control character U+{ord(control[0]):04X}: remove it"
        )


def _check_steps(field: Field, value: JsonValue, task: ReviewTask) -> None:
    steps = task.content.get("steps")
    count = len(steps) if isinstance(steps, list) else 0
    values = value if isinstance(value, list) else []
    if len(values) != count or not all(isinstance(v, str) and v in field.values for v in values):
        options = ", ".join(field.values)
        raise _refuse(
            field, value, f"must be a list with one of {options} for each of {count} steps"
        )


_CHECKS: Final = {
    "choice": _check_choice,
    "choices": _check_choices,
    "rating": _check_rating,
    "flag": _check_flag,
    "text": _check_text,
    "steps": _check_steps,
}


def _refuse(field: Field, value: JsonValue, message: str) -> DecisionFieldError:
    text = repr(value)
    return DecisionFieldError(field.name, f"{message} (got {text[:80]}{'…' * (len(text) > 80)})")
