"""Faulty variants of settled tasks, for calibration sets that a constant answer cannot pass.

Each variant has one fault that a reader notices and that no correction on the form can mend, or
that only a correction mends; its gold decision holds only the verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from pydantic import JsonValue

from omibench.review.hashing import hash_content
from omibench.review.kinds import KINDS
from omibench.review.sampling.strata import rank_name
from omibench.schemas.image_marks import IMAGE_MARK
from omibench.schemas.review import ReviewTask

_SENTENCE: Final = re.compile(r"(?<=[.!?。？！])\s+")
_NUMBER: Final = re.compile(r"\d+")
_LEFT_CHARACTERS: Final = 20
"""The least length of a statement that lost its last sentence: it must look like one."""


class Fault(NamedTuple):
    """A faulty form of a task: its changed content and pictures, and the right verdict on it."""

    content: Mapping[str, JsonValue]
    pictures: Sequence[str]
    """Hashes of its pictures, in order; empty for those of the task."""
    gold: Mapping[str, JsonValue]


MakeFault = Callable[[ReviewTask, Sequence[ReviewTask]], Fault | None]
"""Returns a fault of a task, given others to take pictures from; None if it cannot have one."""


def make_faulty(task: ReviewTask, others: Sequence[ReviewTask], seed: int) -> ReviewTask | None:
    """Return a task with a fault and its gold decision.

    Args:
        task: A settled task.
        others: Tasks of the same kind, of which pictures can be taken.
        seed: Chooses among the possible faults, together with the task's id.

    Returns:
        The variant with the content hash of its content; None if the task can have no fault.
    """
    makers = FAULTS.get(task.kind, ())
    for make in sorted(makers, key=lambda make: rank_name(seed, f"{task.id} {make.__name__}")):
        fault = make(task, others)
        if fault is None:
            continue
        known = {picture.sha256: picture for other in (task, *others) for picture in other.pictures}
        shown = [known[sha256] for sha256 in fault.pictures] or task.pictures
        return task.model_copy(
            update={
                "content": dict(fault.content),
                "pictures": shown,
                "content_hash": hash_content(KINDS[task.kind], fault.content, shown),
                "gold": dict(fault.gold),
            }
        )
    return None


def cut_question(task: ReviewTask, others: Sequence[ReviewTask]) -> Fault | None:
    """Drop the last sentence of the statement, which asks the question."""
    question = task.content.get("question")
    sentences = _SENTENCE.split(question) if isinstance(question, str) else []
    left = " ".join(sentences[:-1])
    if len(IMAGE_MARK.sub("", left).strip()) < _LEFT_CHARACTERS or IMAGE_MARK.search(sentences[-1]):
        return None
    return Fault({**task.content, "question": left}, (), {"valid": "invalid"})


def swap_pictures(task: ReviewTask, others: Sequence[ReviewTask]) -> Fault | None:
    """Show the pictures of another problem."""
    own = _list_images(task)
    for other in others:
        theirs = _list_images(other)[: len(own)]
        if own and len(theirs) == len(own) and not {*own} & {*theirs}:
            return Fault(task.content, theirs, {"valid": "invalid"})
    return None


def repeat_answer(task: ReviewTask, others: Sequence[ReviewTask]) -> Fault | None:
    """Give a second choice the text of the right one."""
    answer, choices = task.content.get("answer"), task.content.get("choices")
    entries = [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []
    right = next((c for c in entries if [c.get("label")] == answer and c.get("text")), None)
    wrong = next((c for c in entries if [c.get("label")] != answer and c.get("text")), None)
    if right is None or wrong is None:
        return None
    doubled: list[JsonValue] = [
        {**entry, "text": right["text"]} if entry is wrong else entry for entry in entries
    ]
    return Fault({**task.content, "choices": doubled}, (), {"valid": "invalid"})


def change_number(task: ReviewTask, others: Sequence[ReviewTask]) -> Fault | None:
    """Change a number of the translation that the original has."""
    question, original = task.content.get("question"), task.content.get("original_question")
    if not isinstance(question, str) or not isinstance(original, str):
        return None
    marks = [match.span() for match in IMAGE_MARK.finditer(question)]
    for match in _NUMBER.finditer(question):
        is_mark = any(start <= match.start() < end for start, end in marks)
        if not is_mark and match[0] in _NUMBER.findall(original):
            changed = f"{question[: match.start()]}{int(match[0]) + 1}{question[match.end() :]}"
            return Fault({**task.content, "question": changed}, (), {"translation": "corrected"})
    return None


FAULTS: Final[Mapping[str, tuple[MakeFault, ...]]] = {
    "item": (cut_question, swap_pictures, repeat_answer),
    "translation": (change_number,),
}
"""The faults of each kind of task."""


def _list_images(task: ReviewTask) -> list[str]:
    return [picture.sha256 for picture in task.pictures if picture.part == "image"]
