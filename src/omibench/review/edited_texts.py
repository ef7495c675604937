"""Validation of edited texts against the part that they replace."""

from __future__ import annotations

from pydantic import JsonValue, TypeAdapter, ValidationError

from omibench.errors import FileFormatError
from omibench.review.part_texts import read_choices_text
from omibench.schemas.image_marks import list_image_marks, write_image_mark
from omibench.schemas.problem import Choice
from omibench.schemas.review import ReviewTask

_CHOICES: TypeAdapter[list[Choice]] = TypeAdapter(list[Choice])


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
