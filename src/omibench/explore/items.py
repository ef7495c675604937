"""The items that the explorer shows: of a study, a frozen dataset or a release."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import MissingInputError
from omibench.results.attributes import describe_items
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import FrozenManifest, read_json, read_jsonl

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Items:
    """Questions and answers by id, in the order of the dataset, and what they can be sliced by.

    Attributes:
        folder: Where the dataset lies; paths of pictures are relative to it.
        manifest: What the dataset is.
        questions: What models were shown.
        answers: Golds and rationales.
    """

    folder: Path
    manifest: FrozenManifest
    questions: dict[str, Question]
    answers: dict[str, Answer]

    @cached_property
    def ids(self) -> list[str]:
        """Ids in the order of the dataset."""
        return list(self.questions)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each id in the order of the dataset."""
        return {name: place for place, name in enumerate(self.ids)}

    @cached_property
    def attributes(self) -> pl.DataFrame:
        """One row an item, as `results.attributes.describe_items` gives it."""
        return describe_items(self.answers.values(), self.questions)

    @cached_property
    def texts(self) -> dict[str, str]:
        """What a search among questions looks through: statement, choices and gold, lower case."""
        return {name: _join_texts(q, self.answers[name]) for name, q in self.questions.items()}

    @cached_property
    def pictures(self) -> dict[str, Path]:
        """The file of each picture by its SHA-256."""
        figures = (figure for q in self.questions.values() for figure in q.images)
        return {f.sha256: self.folder / f.file for f in figures if f.sha256}


def read_items(folder: Path, pictures: Path | None = None) -> Items:
    """Read a frozen dataset.

    Args:
        folder: What `freeze` wrote.
        pictures: Where its pictures lie, if they lie elsewhere.

    Raises:
        MissingInputError: A file is not there, or answers are missing.
        FileFormatError: A file holds something else.
    """
    questions = {q.id: q for q in read_jsonl(folder / "questions.jsonl", Question)}
    answers = {a.id: a for a in read_jsonl(folder / "answers.jsonl", Answer)}
    missing = next((name for name in questions if name not in answers), None)
    if missing is not None:
        raise MissingInputError(f"{folder}/answers.jsonl: has no answer of {missing!r}")
    manifest = read_json(folder / "manifest.json", FrozenManifest)
    return Items(pictures or folder, manifest, questions, answers)


def _join_texts(question: Question, answer: Answer) -> str:
    choices = [choice.text or "" for choice in question.choices or []]
    return "\n".join([question.id, question.question, *choices, *answer.answer]).lower()
