"""Your own problems: a CSV (or JSONL, JSON, Parquet) file and a folder of pictures.

Columns: `id, question, answer, images` and optionally `choices, subject, language, group,
subset, solution, licence, topic, attributes`. In a CSV file, list entries are separated by ` |
`, and each attribute is a separate column such as `attributes.exam`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from omibench.datasets.dataset import Dataset, make_answer, make_choices
from omibench.datasets.found import Embedded, Found
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import read_dataset, the_file
from omibench.errors import FileFormatError
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Question, StatedAttributes, Subject


def _entries(value: Any) -> Any:
    return [v.strip() for v in value.split("|") if v.strip()] if isinstance(value, str) else value


def _texts(value: Any) -> Any:
    """Return choices as texts, also from objects with labels or with `label` and `text`."""
    if isinstance(value, list) and value and all(isinstance(choice, dict) for choice in value):
        value = {choice.get("label"): choice.get("text") for choice in value}
    if not isinstance(value, dict):
        return _entries(value)
    if list(value) != [chr(ord("A") + i) for i in range(len(value))]:
        raise ValueError("give a list of texts, or label them A, B, C and so on in order")
    return list(value.values())


def _drop_empty_text(value: Any) -> Any:
    return None if value == "" else value


def _read_cell(value: Any) -> Any:
    """Return the value of an attribute's column: a list if it has several entries."""
    entries = _entries(value)
    return entries[0] if isinstance(entries, list) and len(entries) == 1 else entries


_ATTRIBUTE = "attributes."
_BETWEEN = re.compile(r"[\s,;.()]+|and\b")
"""Separators between the letters of a key with several letters."""
Entries = Annotated[list[str], BeforeValidator(_entries)]
Text = Annotated[str | None, BeforeValidator(_drop_empty_text)]


class FolderRow(BaseModel):
    """One problem."""

    id: Annotated[str, Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    answer: Annotated[Entries, Field(min_length=1)]
    images: Annotated[list[str | Embedded], BeforeValidator(_entries)] = []
    choices: Annotated[list[str], BeforeValidator(_texts)] = []
    subject: Annotated[Subject | None, BeforeValidator(_drop_empty_text)] = None
    language: Text = None
    group: Text = None
    subset: Text = None
    solution: Text = None
    licence: Text = None
    topic: Text = None
    attributes: StatedAttributes = {}

    @model_validator(mode="before")
    @classmethod
    def _collect_attributes(cls, row: Any) -> Any:
        """Merge attribute columns such as `attributes.exam` with those of an object."""
        if not isinstance(row, dict):
            return row
        columns = {
            str(name).removeprefix(_ATTRIBUTE): _read_cell(value)
            for name, value in row.items()
            if str(name).startswith(_ATTRIBUTE) and value not in (None, "")
        }
        return row | {"attributes": (row.get("attributes") or {}) | columns} if columns else row


@benchmark("folder")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read every problem of `problems.csv` in order. Raises FileFormatError with the item's id."""
    finder = Found(folder, scratch)
    file = the_file(folder, "problems", "data", "test")
    return read_dataset(folder, [file], FolderRow, "id", lambda row: _convert(row, finder))


def _convert(row: FolderRow, finder: Found) -> tuple[Question, Answer]:
    question = Question(
        id=row.id,
        question=row.question,
        images=[finder.figure(picture) for picture in row.images],
        choices=make_choices(row.choices) or None,
        subject=row.subject or "other",
        language=row.language or "en",
        group=row.group or "",
        subset=row.subset,
        licence=row.licence,
    )
    _check_key(row, [choice.label for choice in question.choices or []])
    return question, make_answer(
        question, row.answer, solution=row.solution, topic=row.topic, attributes=row.attributes
    )


def _check_key(row: FolderRow, labels: list[str]) -> None:
    """Raise FileFormatError if no response can be correct: the gold answer matches no choice."""
    if len(labels) == 1:
        raise FileFormatError(
            "choices: there is only one; give two or more, separated by ` | `, or none"
        )
    for key in row.answer if labels else []:
        letters = set(_BETWEEN.sub("", key))
        if key not in row.choices and not (letters and letters <= set(labels)):
            raise FileFormatError(
                f"answer: {key!r} is none of the choices {labels[0]} to {labels[-1]}"
            )
