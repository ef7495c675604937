"""Conversion of task parts to editable texts and back, and checks of edited texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue, TypeAdapter, ValidationError

from omibench.errors import FileFormatError
from omibench.review.hashing import normalise_lines
from omibench.review.kinds.declaration import Field, Kind
from omibench.schemas.image_marks import (
    list_image_marks,
    read_only_image_mark,
    write_image_mark,
)
from omibench.schemas.problem import Choice
from omibench.schemas.review import ReviewTask

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
    chooser = next((f.name for f in kind.fields if f.options_from == item.edits), None)
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
