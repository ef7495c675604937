"""Output of an adapter: questions and answers in the same order, and the folder of pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.schemas.attributes import Value, keep_stated
from omibench.schemas.problem import Answer, AnswerType, Choice, Question


class Dataset(NamedTuple):
    """A benchmark after reading. Paths of pictures are relative to `folder`."""

    questions: list[Question]
    answers: list[Answer]
    folder: Path


def make_choices(texts: Iterable[str]) -> list[Choice]:
    """Return choices with these texts, lettered from A."""
    return [Choice(label=chr(ord("A") + i), text=text) for i, text in enumerate(texts)]


def make_answer(  # noqa: PLR0913 - the columns of a benchmark
    question: Question,
    answer: Sequence[str],
    *,
    answer_type: AnswerType | None = None,
    solution: str | None = None,
    topic: str | None = None,
    n_images: int | None = None,
    attributes: Mapping[str, Value | None] | None = None,
) -> Answer:
    """Return the gold half of a question.

    Args:
        question: The question, with which the answer shares its id, group, subject and choices.
        answer: The gold answers, one per part.
        answer_type: The type; by default `mcq` if the question has choices.
        solution: The reference rationale.
        topic: The topic.
        n_images: The number of pictures; by default that of the question.
        attributes: Other properties; those without a value are omitted.
    """
    return Answer(
        id=question.id,
        answer=list(answer),
        answer_type=answer_type or question.answer_type,
        choices=question.choices,
        solution=solution,
        subject=question.subject,
        topic=topic,
        group=question.group,
        n_images=len(question.images) if n_images is None else n_images,
        attributes=keep_stated(attributes or {}),
    )
