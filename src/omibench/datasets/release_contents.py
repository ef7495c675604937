"""Contents of a release: hashes of its rows, its questions and answers, and its tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from omibench.datasets.release_folder import ReleaseRow
from omibench.errors import FileFormatError
from omibench.files.parquet import iter_frame, read_footer
from omibench.files.reading import Container, open_regular, size_text
from omibench.schemas.problem import Answer, Choice, Question
from omibench.schemas.tables import iter_jsonl, write_jsonl

QUESTION: Final = ("question", "choices")
GOLD: Final = ("answer",)
RATIONALE: Final = ("rationale",)
ORIGINAL: Final = ("original_language", "original_question", "original_choices", "translator")
LABELS: Final = ("subject", "topic", "language")
PREFIX: Final = "attribute_"
"""Prefix of attribute columns, so that an attribute cannot replace another column."""


def describe_row(row: Mapping[str, Any], split: str) -> ReleaseRow:
    """Compute the manifest line of a row from its values alone.

    Args:
        row: Row of a release's Parquet file, with or without its pictures.
        split: Split of the row.
    """
    return ReleaseRow(
        id=row["id"],
        split=split,
        access=row["access"],
        source=row["source"],
        licence=row["licence"],
        question_sha256=hash_values(row, QUESTION),
        answer_sha256=hash_values(row, GOLD),
        rationale_sha256=hash_values(row, RATIONALE) if row["rationale"] else None,
        original_sha256=hash_values(row, ORIGINAL) if row["original_question"] else None,
        labels_sha256=hash_values(row, [*LABELS, *_list_attributes(row)]),
        image_sha256=[figure["sha256"] for figure in row["figures"]],
    )


def hash_values(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the SHA-256 of the JSON of values of a row, without null and empty ones."""
    values = {name: row[name] for name in names if row[name] not in (None, [], "")}
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def list_choices(choices: Sequence[Choice] | None) -> list[dict[str, Any]] | None:
    """Return choices as the structures of a column; None without choices."""
    return [choice.model_dump() for choice in choices] if choices else None


def _list_attributes(row: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in row if name.startswith(PREFIX))


# Questions and answers of a release in separate files; each line contains the canary.

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


# Parquet files of a release, checked before they are unpacked, then read row by row.

TABLE_BYTES: Final = 4 * 2**30
"""Maximum bytes of one file."""
BATCH_BYTES: Final = 2**30
"""Maximum bytes of 64 rows."""
_FLOOR: Final = 256 * 2**20
_RATIO: Final = 8
"""A table can unpack to 256 MiB, or to eight times its size: pictures hardly compress."""


def iter_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of one file, pictures included, a few in memory at a time.

    Raises:
        MissingInputError: If it is missing or not a regular file.
        FileFormatError: If it is not a Parquet file, exceeds 4 GiB, or unpacks to more than the
            limit for its size.
    """
    with open_regular(path, TABLE_BYTES) as file:
        size = file.seek(0, 2)
        try:
            footer = read_footer(file)
        except (ValueError, OSError) as error:
            raise FileFormatError(f"{path}: is not a Parquet file: {error}") from None
    stated = sum(max(0, column.size) for column in footer.columns)
    most = max(_FLOOR, _RATIO * size)
    if stated > most:
        raise FileFormatError(
            f"{path}: unpacks to {size_text(stated)}; the limit for a release's file of its size "
            f"is {size_text(most)}"
        )
    yield from iter_frame(path, BATCH_BYTES)
