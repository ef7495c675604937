"""Doubts about a decision that is valid in form: its author confirms it once, or changes it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from pydantic import JsonValue

from glyphtex.latex import find_formulas, replace_formulas
from omibench.errors import OmibenchError
from omibench.review.check import write_part_text
from omibench.review.kinds.declaration import Field, Kind
from omibench.schemas.problem import list_image_marks, write_image_mark
from omibench.schemas.review import ReviewTask

_COMMAND: Final = re.compile(r"\\(?:[a-zA-Z]+|[\[\](){}])")
_PAIRS: Final = (("{", "}"), (r"\left", r"\right"), (r"\begin", r"\end"))
_TOKEN: Final = re.compile(r"\\(?:left|right|begin|end)(?![a-zA-Z])|\\.|[{}]", re.DOTALL)
_SHOWN: Final = 60
"""Characters of a formula that a message quotes."""


class Doubt(NamedTuple):
    """A question to the author of a decision.

    Attributes:
        name: Its name, equal for the same question about another form of the text.
        field: The field that it is about.
        message: What is odd, and what to do.
    """

    name: str
    field: str
    message: str


def list_doubts(kind: Kind, task: ReviewTask, fields: Mapping[str, JsonValue]) -> list[Doubt]:
    """List what is odd about a decision: lost pictures, unreadable formulas, contradictions.

    Args:
        kind: The kind of the task.
        task: The task.
        fields: Fields that `check.check_fields` returned.
    """
    doubts = _list_lost_marks(kind, task, fields)
    for field in kind.fields:
        text = fields.get(field.name)
        is_text = field.type == "text" and bool(field.edits or field.prefill)
        if is_text and isinstance(text, str) and (fault := find_formula_fault(text)):
            doubts.append(Doubt(f"{field.name}:formula", field.name, fault))
    return doubts + [
        Doubt(f"{contradiction.field}:contradiction", contradiction.field, contradiction.message)
        for contradiction in kind.contradictions
        if contradiction.applies(fields)
    ]


def find_formula_fault(text: str) -> str | None:
    """Explain why a formula of a text cannot be read, or None if all can."""
    for span in find_formulas(text):
        depths = dict.fromkeys(_PAIRS, 0)
        for token in _TOKEN.findall(span.latex):
            for pair in _PAIRS:
                depths[pair] += (token == pair[0]) - (token == pair[1])
            if min(depths.values()) < 0:
                break
        wrong = next((pair for pair, depth in depths.items() if depth), None)
        if wrong:
            return (
                f"the formula {text[span.start : span.end][:_SHOWN]!r} cannot be read: {wrong[0]} "
                f"and {wrong[1]} do not match"
            )
    outside = replace_formulas(text, lambda span: " ")
    if command := _COMMAND.search(outside):
        return f"{command[0]} is outside of a formula: put formulas between dollar signs"
    return None


def _list_lost_marks(kind: Kind, task: ReviewTask, fields: Mapping[str, JsonValue]) -> list[Doubt]:
    edited = [f for f in kind.fields if f.edits in {"question", "choices"}]
    before, after = "", ""
    changed: Field | None = None
    for field in edited:
        original = write_part_text(task.content.get(field.edits or ""))
        text = fields.get(field.name)
        before += original
        after += text if isinstance(text, str) else original
        changed = field if isinstance(text, str) else changed
    lost = sorted({*list_image_marks(before)} - {*list_image_marks(after)})
    if changed is None or not lost:
        return []
    marks = ", ".join(map(write_image_mark, lost))
    return [
        Doubt(
            f"{changed.name}:pictures {marks}",
            changed.name,
            f"{marks} {'is' if len(lost) == 1 else 'are'} no longer in the text, so the picture "
            "loses its place: put the mark back, unless the problem does not need the picture",
        )
    ]


# Reasons why a decision is rejected: another person was first, or is next.


class DecisionConflictError(OmibenchError):
    """Raised for a decision that would overwrite another person's unseen work.

    Attributes:
        task: The task in its current form.
        reason: The content of the task has changed, another person decided in between, or another
            person has claimed the task.
        by: That other person.
        base: The id of the newest event, which a decision must follow.
    """

    def __init__(
        self,
        task: ReviewTask,
        reason: Literal["changed", "decided", "claimed"],
        by: str | None,
        base: str | None,
    ) -> None:
        super().__init__(f"{task.id}: the task has {reason} in between")
        self.task, self.reason, self.by, self.base = task, reason, by, base


class DoubtError(OmibenchError):
    """Raised for a decision whose author has not confirmed what is odd about it."""

    def __init__(self, doubts: Sequence[Doubt]) -> None:
        super().__init__("; ".join(doubt.message for doubt in doubts))
        self.doubts = doubts


class NoRightError(OmibenchError):
    """Raised if the task is not for this person, or does not wait for them."""
