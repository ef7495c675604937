"""Questions and answers of a release in separate files; each line contains the canary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from omibench.files.intake.containment import Container
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import iter_jsonl, write_jsonl

QUESTIONS: Final = "questions.jsonl"
ANSWERS: Final = "answers.jsonl"


class QuestionRow(Question):
    """A line of questions.jsonl: the model-visible part, and the canary."""

    canary: str


class AnswerRow(Answer):
    """A line of answers.jsonl: gold answer and rationale, and the canary."""

    canary: str


def iter_questions(folder: Path) -> Iterator[Question]:
    """Read the questions of a release. Raises as `iter_jsonl` does."""
    for row in iter_jsonl(Container(folder).path(QUESTIONS), QuestionRow):
        yield Question.model_validate(row.model_dump(exclude={"canary"}))


def iter_answers(folder: Path) -> Iterator[Answer]:
    """Read the answers of a release. Raises as `iter_jsonl` does."""
    for row in iter_jsonl(Container(folder).path(ANSWERS), AnswerRow):
        yield Answer.model_validate(row.model_dump(exclude={"canary"}))


def write_halves(
    folder: Path, questions: Sequence[Question], answers: Sequence[Answer], canary: str
) -> None:
    """Write both files.

    Args:
        folder: Release folder.
        questions: Questions in the order of the freeze.
        answers: Answers of the same items.
        canary: Canary text for every line.
    """
    rows = [QuestionRow(**question.model_dump(), canary=canary) for question in questions]
    write_jsonl(folder / QUESTIONS, rows)
    golds = [AnswerRow(**answer.model_dump(), canary=canary) for answer in answers]
    write_jsonl(folder / ANSWERS, golds)
