r"""Physics Big (huggingface.co/datasets/Vikhrmodels/physics_big; Zaharov et al. 2024), in Russian.

The Parquet files in `data/` have columns of JSON: `text`, `{"text": [{"text": ...}]}`; `answer`, a
list of parts with `condition`, `solution` (`{"text": ...}`) and `answers`; and `tags`, a list.
Backslashes of LaTeX are often single in them. This follows programs that read the dataset; its card
and files were not available, so pictures are taken from every column that holds one or a list of
them, and shown before the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from omibench.datasets.dataset import Dataset, make_answer
from omibench.datasets.found import Embedded, Found
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import find_tables, read_dataset
from omibench.errors import FileFormatError, MissingInputError
from omibench.files.reading import parse_json
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Question, write_image_mark

_FILE = re.compile(r"")
_BACKSLASH = re.compile(r'(\\\\|\\["/]|\\u[0-9A-Fa-f]{4}|\\[nrt](?![A-Za-z]))|\\')
"""Escapes of JSON, or a backslash that LaTeX needs: `\n` before a Latin letter begins a command."""


def _parse(value: Any) -> Any:
    """Parse a JSON text with single backslashes; other values are returned."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    text = _BACKSLASH.sub(lambda match: match[1] or r"\\", value)
    try:
        return parse_json(text, "the text", twins=True)
    except FileFormatError as error:
        raise ValueError(str(error).removeprefix("the text: ")) from None


def _join_texts(value: Any) -> Any:
    """Return the text of `{"text": [{"text": ...}, ...]}`, of `{"text": ...}`, or a text itself."""
    value = _parse(value)
    if isinstance(value, dict):
        value = value.get("text", value)
    if isinstance(value, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in value]
        value = "\n".join(part.strip() for part in parts if isinstance(part, str))
    return "" if value is None else value


def _list(value: Any) -> Any:
    value = _parse(value)
    return value if isinstance(value, list) else [] if value in (None, "") else [value]


Text = Annotated[str, BeforeValidator(_join_texts)]
Texts = Annotated[list[Annotated[str, BeforeValidator(str)]], BeforeValidator(_list)]


class Part(BaseModel):
    """A part of a problem, with its solution and its answers."""

    condition: Text = ""
    solution: Text = ""
    answers: Texts = []

    @model_validator(mode="before")
    @classmethod
    def _lift_answers(cls, part: Any) -> Any:
        solution = part.get("solution") if isinstance(part, dict) else None
        inner = solution.get("answers") if isinstance(solution, dict) else None
        return part if inner is None else {"answers": inner} | part


class PhysicsBigRow(BaseModel):
    """One problem."""

    id: Annotated[str, BeforeValidator(str)] = "a row"
    text: Annotated[Text, Field(min_length=1)]
    answer: Annotated[list[Part], BeforeValidator(_list)]
    tags: Texts = []
    pictures: list[Embedded] = []

    @model_validator(mode="before")
    @classmethod
    def _collect_pictures(cls, row: dict[str, Any]) -> dict[str, Any]:
        return row | {"pictures": [p for value in row.values() for p in _find_pictures(value)]}


def _find_pictures(value: Any) -> Iterator[Any]:
    for entry in value if isinstance(value, list) else [value]:
        if isinstance(entry, dict) and entry.get("bytes") is not None:
            yield entry


@benchmark("physics-big")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read the problems that have an answer; proofs and bare solutions are left out.

    Raises FileFormatError for an invalid row, and MissingInputError if no problem has an answer.
    """
    finder, numbers = Found(folder, scratch), count(1)
    files = [file for file, _ in find_tables(folder, _FILE, "data/00000.parquet")]
    dataset = read_dataset(
        folder, files, PhysicsBigRow, "id", lambda row: _convert(row, next(numbers), finder)
    )
    if not dataset.questions:
        raise MissingInputError(f"{folder}: no problem has an entry in `answers`")
    return dataset


def _convert(row: PhysicsBigRow, number: int, finder: Found) -> tuple[Question, Answer] | None:
    parts = [part for part in row.answer if part.answers]
    if not parts:
        return None
    marks = " ".join(write_image_mark(place) for place in range(len(row.pictures)))
    conditions = [part.condition for part in parts if part.condition]
    question = Question(
        id=f"physics-big-{number}",
        question="\n".join(filter(None, [marks, row.text, *conditions])),
        images=[finder.figure(picture) for picture in row.pictures],
        subject="physics",
        language="ru",
    )
    answer = make_answer(
        question,
        ["; ".join(part.answers) for part in parts],
        solution="\n\n".join(part.solution for part in row.answer if part.solution) or None,
        topic=row.tags[0] if row.tags else None,
        attributes={"tags": row.tags},
    )
    return question, answer
