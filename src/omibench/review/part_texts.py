"""Parts of a task as texts that people edit, and such texts as parts again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from omibench.errors import FileFormatError
from omibench.review.hashing import normalise_lines
from omibench.review.kinds.declaration import Field, Kind
from omibench.schemas.image_marks import write_image_mark
from omibench.schemas.problem import Choice
from omibench.schemas.review import ReviewTask

_OPTION = re.compile(r"([^\s.)]{1,8})[.)][ \t]*(.*)")
_ONE_IMAGE = re.compile(r"\s*\[IMAGE(\d+)\]\s*")


def write_part_text(value: JsonValue) -> str:
    """The text with which a field that edits a part starts.

    Texts stay as they are; of a list, each entry is a line. Choices are lines `A. text`, and one
    that is a picture `A. [IMAGE2]`.

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
    """The text with which a field that edits a part starts.

    Args:
        kind: The kind of the task.
        item: The field.
        task: The task.
        fields: What the person said before: of candidates, the one that was chosen counts.

    Returns:
        The text with `\\n` as line ends; None where there is no such part or no candidate chosen.
    """
    part = normalise_lines(task.content.get(item.edits or ""))
    chooser = next((f.name for f in kind.fields if f.options_from == item.edits), None)
    if chooser and isinstance(part, list):
        entries = [entry for entry in part if isinstance(entry, dict)]
        chosen = next((e for e in entries if e.get("id") == fields.get(chooser)), {})
        part = chosen.get("text")
    return None if part is None else write_part_text(part)


def read_answer_text(text: str) -> list[str]:
    """The parts of an answer: the lines of a text that are not empty."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def read_choices_text(text: str, choices: Sequence[Choice]) -> list[Choice]:
    """The choices of a text that `write_part_text` wrote and a person edited.

    A line that begins with none of the labels belongs to the choice before it. A choice that is a
    picture mark and nothing else is that picture.

    Args:
        text: Lines `A. text`.
        choices: Those before the edit, whose labels open a choice.

    Returns:
        The choices in the order of their lines.

    Raises:
        FileFormatError: No line opens a choice, a label stands twice, or fewer than two are left.
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
            f"choices: {', '.join(names) or 'none'} are named; name two or more, each once"
        )
    return [_make_choice(label, "\n".join(lines).strip()) for label, lines in entries]


def _is_next_label(label: str, labels: set[str]) -> bool:
    """Whether a label may be that of a choice that reading had missed: a capital letter more."""
    letters = all(len(name) == 1 and name.isupper() for name in labels)
    return letters and len(label) == 1 and label.isupper()


def _make_choice(label: str, text: str) -> Choice:
    picture = _ONE_IMAGE.fullmatch(text)
    return Choice(label=label, image=int(picture[1])) if picture else Choice(label=label, text=text)
