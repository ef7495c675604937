"""Conversion of task parts to editable texts and back, and checks of edited texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import JsonValue, TypeAdapter, ValidationError

from omibench.errors import FileFormatError
from omibench.review.contents import normalise_lines
from omibench.review.kinds.declaration import Field, Kind, is_asked, list_options
from omibench.schemas.problem import (
    Choice,
    list_image_marks,
    read_only_image_mark,
    write_image_mark,
)
from omibench.schemas.review import ReviewTask
from omibench.schemas.validation import suggest_name

_CHOICES: TypeAdapter[list[Choice]] = TypeAdapter(list[Choice])
_OPTION = re.compile(r"([^\s.)]{1,8})[.)][ \t]*(.*)")


def write_part_text(value: JsonValue) -> str:
    """Return the initial text of a field that edits a part.

    Texts stay unchanged; each entry of a list becomes a line. Choices become lines `A. text`, or
    `A. [IMAGE2]` for a picture.

    Args:
        value: The part: a text, the texts of an answer, or the options of a problem.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    return "\n".join(_write_entry(entry) for entry in value)


def _write_entry(entry: JsonValue) -> str:
    if not isinstance(entry, Mapping):
        return str(entry)
    text, image = entry.get("text"), entry.get("image")
    pieces = [str(text)] if text is not None else []
    if isinstance(image, int):
        pieces.append(write_image_mark(image))
    return f"{entry.get('label')}. {' '.join(pieces)}"


def find_first_text(
    kind: Kind, item: Field, task: ReviewTask, fields: Mapping[str, JsonValue]
) -> str | None:
    """Return the initial text of a field that edits a part.

    Args:
        kind: The kind of the task.
        item: The field.
        task: The task.
        fields: The person's current fields; for candidates, the chosen one counts.

    Returns:
        The text with `\\n` as line ends, or None if there is no part or no chosen candidate.
    """
    part = normalise_lines(task.content.get(item.edits or ""))
    chooser = kind.find_chooser(item)
    if chooser and isinstance(part, list):
        entries = [entry for entry in part if isinstance(entry, dict)]
        chosen = next((e for e in entries if e.get("id") == fields.get(chooser)), {})
        part = chosen.get("text")
    return None if part is None else write_part_text(part)


def read_answer_text(text: str) -> list[str]:
    """Return the parts of an answer: the non-empty lines of a text."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def read_choices_text(text: str, choices: Sequence[Choice]) -> list[Choice]:
    """Parse the choices of an edited text from `write_part_text`.

    A line without a label belongs to the choice before it. A choice that consists of a picture mark
    is that picture.

    Args:
        text: Lines `A. text`.
        choices: The choices before the edit, with their labels.

    Returns:
        The choices in the order of their lines.

    Raises:
        FileFormatError: No line starts a choice, a label occurs twice, or fewer than two choices
            remain.
    """
    labels = {choice.label for choice in choices}
    entries: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        opening = _OPTION.fullmatch(line.strip())
        if opening and (opening[1] in labels or _is_next_label(opening[1], labels)):
            entries.append((opening[1], [opening[2]]))
        elif entries:
            entries[-1][1].append(line)
        elif line.strip():
            raise FileFormatError(
                f"choices: the first line is {line.strip()[:60]!r}; write each choice as a line "
                "`A. text`"
            )
    names = [label for label, _ in entries]
    if len(names) < 2 or len(set(names)) < len(names):
        raise FileFormatError(
            f"choices: {', '.join(names) or 'none'} found; give two or more, each once"
        )
    return [_make_choice(label, "\n".join(lines).strip()) for label, lines in entries]


def _is_next_label(label: str, labels: set[str]) -> bool:
    """Return whether a label can be that of a choice missed in reading: the next capital letter."""
    letters = all(len(name) == 1 and name.isupper() for name in labels)
    return letters and len(label) == 1 and label.isupper()


def _make_choice(label: str, text: str) -> Choice:
    image = read_only_image_mark(text)
    return Choice(label=label, text=text if image is None else None, image=image)


def find_defect(part: str, text: str, task: ReviewTask) -> str | None:
    """Explain why an edited text cannot be used, for its author.

    Args:
        part: The edited part, such as `question` or `choices`.
        text: The text.
        task: The task, with the pictures that marks in the text refer to.

    Returns:
        The problem and how to fix it, or None if the text is valid.
    """
    if part == "choices":
        try:
            read_choices_text(text, _read_choices(task.content.get(part)))
        except FileFormatError as error:
            return str(error).removeprefix("choices: ")
    if part in {"question", "choices"}:
        return _find_wrong_mark(text, task)
    return None


def _find_wrong_mark(text: str, task: ReviewTask) -> str | None:
    pictures = sum(picture.part == "image" for picture in task.pictures)
    before = list_image_marks(f"{task.content.get('question')} {task.content.get('choices')}")
    wrong = [mark for mark in list_image_marks(text) if mark >= pictures and mark not in before]
    if not wrong:
        return None
    return (
        f"has {write_image_mark(wrong[0])}, but the item has {pictures} pictures, counted from 0: "
        "use the mark of one of them"
    )


def _read_choices(part: JsonValue) -> list[Choice]:
    try:
        return _CHOICES.validate_python(part or [])
    except ValidationError:
        return []


# Validation of the fields of a decision against its kind of task.

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
                chooser = kind.find_chooser(field)
                if chooser and checked.get(chooser) == NO_CANDIDATE:
                    raise DecisionFieldError(
                        field.name, f"is missing: {chooser} is {NO_CANDIDATE}, so write the text"
                    )
        _check_edit(field, task, checked[field.name])
    return checked


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
