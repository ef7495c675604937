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
    lines = []
    for entry in value:
        if not isinstance(entry, Mapping):
            lines.append(str(entry))
            continue
        text, image = entry.get("text"), entry.get("image")
        pieces = [str(text)] if text is not None else []
        if isinstance(image, int):
            pieces.append(write_image_mark(image))
        lines.append(f"{entry.get('label')}. {' '.join(pieces)}")
    return "\n".join(lines)


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
    # A choice that was missed in reading has a capital letter, if all others have one.
    has_letters = all(len(name) == 1 and name.isupper() for name in labels)
    entries: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        opening = _OPTION.fullmatch(line.strip())
        name = opening[1] if opening else ""
        is_letter = has_letters and len(name) == 1 and name.isupper()
        if opening and (opening[1] in labels or is_letter):
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
    read = []
    for label, lines in entries:
        whole = "\n".join(lines).strip()
        image = read_only_image_mark(whole)
        read.append(Choice(label=label, text=whole if image is None else None, image=image))
    return read


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
            choices = _CHOICES.validate_python(task.content.get(part) or [])
        except ValidationError:
            choices = []
        try:
            read_choices_text(text, choices)
        except FileFormatError as error:
            return str(error).removeprefix("choices: ")
    elif part != "question":
        return None
    pictures = sum(picture.part == "image" for picture in task.pictures)
    before = list_image_marks(f"{task.content.get('question')} {task.content.get('choices')}")
    wrong = [mark for mark in list_image_marks(text) if mark >= pictures and mark not in before]
    if not wrong:
        return None
    return (
        f"has {write_image_mark(wrong[0])}, but the item has {pictures} pictures, counted from 0: "
        "use the mark of one of them"
    )


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
        part, text = field.edits or field.prefill, checked[field.name]
        is_edit = part and field.type == "text" and isinstance(text, str)
        if is_edit and (defect := find_defect(str(part), str(text), task)):
            raise DecisionFieldError(field.name, defect)
    return checked


def _check_field(
    field: Field, task: ReviewTask, value: JsonValue, earlier: Mapping[str, JsonValue]
) -> JsonValue:
    if value == [] or (isinstance(value, str) and not value.strip()):
        value = None
    if field.when is not None and not is_asked(field, earlier):
        if value in (None, False):
            return None
        name, wanted = field.when
        raise DecisionFieldError(
            field.name, f"applies only if {name} is {' or '.join(wanted)}: leave it out"
        )
    if value is None:
        # There may be nothing to choose: a task may have no options or no steps.
        part = "steps" if field.type == "steps" else field.options_from
        if field.required and (part is None or task.content.get(part)):
            raise DecisionFieldError(field.name, "is missing, but required")
        return None
    if fault := _find_fault(field, value, task):
        text = repr(value)
        excerpt = f"{text[:80]}{'…' * (len(text) > 80)}"
        raise DecisionFieldError(field.name, f"{fault} (got {excerpt})")
    if isinstance(value, str) and field.type == "text":
        if len(value) > TEXT_CHARACTERS:
            raise DecisionFieldError(
                field.name, f"has {len(value):,} characters; the limit is {TEXT_CHARACTERS:,}"
            )
        if control := _CONTROL.search(value):
            raise DecisionFieldError(
                field.name, f"has the control character U+{ord(control[0]):04X}: remove it"
            )
    return value


def _find_fault(field: Field, value: JsonValue, task: ReviewTask) -> str | None:
    """Return what is wrong with the type or range of a value, or None."""
    options = [option.value for option in list_options(field, task.content)]
    values = value if isinstance(value, list) else []
    texts = [entry for entry in values if isinstance(entry, str)]
    are_options = len(texts) == len(values) and set(texts) <= set(options)
    named, (low, high) = ", ".join(options), field.scale
    is_rating = isinstance(value, int) and not isinstance(value, bool)
    steps = task.content.get("steps")
    count = len(steps) if isinstance(steps, list) else 0
    rules = {
        "choice": (value in options, f"must be one of {named}"),
        "choices": (bool(values) and are_options, f"must be a list of {named}"),
        "rating": (
            is_rating and low <= value <= high,  # type: ignore[operator]
            f"must be an integer from {low} to {high}",
        ),
        "flag": (isinstance(value, bool), "must be true or false"),
        "text": (isinstance(value, str), "takes a text"),
        "steps": (
            len(values) == count and are_options,
            f"must be a list with one of {named} for each of {count} steps",
        ),
    }
    is_right, fault = rules[field.type]
    if is_right and field.type == "choices" and len(set(texts)) < len(texts):
        return "has a value twice"
    return None if is_right else fault
