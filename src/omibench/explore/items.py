"""Items of the explorer: of a study, a frozen dataset or a release."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from omibench.errors import MissingInputError
from omibench.results.attributes import describe_items
from omibench.results.study_files import StudyFiles
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import FrozenManifest


@dataclass(frozen=True)
class Items:
    """Questions and answers by id, in dataset order, and attributes for slices.

    Attributes:
        folder: The folder of the dataset; paths of pictures are relative to it.
        manifest: The manifest of the dataset.
        questions: The model inputs.
        answers: Gold answers and rationales.
    """

    folder: Path
    manifest: FrozenManifest
    questions: dict[str, Question]
    answers: dict[str, Answer]

    @cached_property
    def ids(self) -> list[str]:
        """Return ids in dataset order."""
        return list(self.questions)

    @cached_property
    def places(self) -> dict[str, int]:
        """Return the position of each id in the dataset."""
        return {name: place for place, name in enumerate(self.ids)}

    @cached_property
    def attributes(self) -> pl.DataFrame:
        """Return one row per item, from `results.attributes.describe_items`."""
        return describe_items(self.answers.values(), self.questions)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Return the searchable text of each question: statement, choices and gold, lower case."""
        return {name: _join_texts(q, self.answers[name]) for name, q in self.questions.items()}

    @cached_property
    def pictures(self) -> dict[str, Path]:
        """Return the file of each picture by its SHA-256."""
        figures = (figure for q in self.questions.values() for figure in q.images)
        return {f.sha256: self.folder / f.file for f in figures if f.sha256}


def read_items(folder: Path, pictures: Path | None = None) -> Items:
    """Read a frozen dataset.

    Args:
        folder: The folder of `freeze`.
        pictures: The folder of its pictures, if not in the dataset.

    Raises:
        MissingInputError: A file does not exist, or answers are missing.
        FileFormatError: A file has another format.
    """
    files = StudyFiles(folder.parent, freeze=folder)
    missing = next((name for name in files.questions if name not in files.answers), None)
    if missing is not None:
        raise MissingInputError(f"{folder}/answers.jsonl: no answer of {missing!r}")
    return Items(pictures or folder, files.manifest, files.questions, files.answers)


def _join_texts(question: Question, answer: Answer) -> str:
    choices = [choice.text or "" for choice in question.choices or []]
    return "\n".join([question.id, question.question, *choices, *answer.answer]).lower()
