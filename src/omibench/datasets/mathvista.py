"""MathVista (github.com/lupantech/MathVista; Lu et al. 2024): the split `testmini`.

`testmini.json` contains an object of problems by id, next to a folder `images`; the hub's
Parquet files have the picture in the column `decoded_image`. The answers of the split `test` are
not published, so it cannot be scored.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from omibench.datasets.dataset import Dataset, make_answer, make_choices
from omibench.datasets.found import Embedded, Found
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import find_tables, read_dataset
from omibench.errors import FileFormatError
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Choice, Question, Value

_FILE = re.compile(r"(?<!annot_)testmini(?:-\d{5}-of-\d{5}.*)?$")
_LANGUAGES = {"english": "en", "chinese": "zh", "persian": "fa"}
_DETAILS = ("category", "task", "context", "grade", "source")


def _drop_empty_text(value: Any) -> Any:
    return None if value == "" else value


class MathVistaRow(BaseModel):
    """One problem."""

    pid: Annotated[str, BeforeValidator(str), Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    answer: Annotated[str | None, BeforeValidator(_drop_empty_text)] = None
    question_type: Literal["multi_choice", "free_form"]
    answer_type: str | None = None
    image: str | None = None
    decoded_image: Embedded | None = None
    choices: list[str] | None = None
    unit: Annotated[str | None, BeforeValidator(_drop_empty_text)] = None
    precision: float | None = None
    metadata: dict[str, Any] = {}


@benchmark("mathvista")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read every problem in the order of its file.

    Raises FileFormatError for a row that is invalid, has no answer, or has an answer that is not
    a choice.
    """
    finder = Found(folder, scratch)
    files = [file for file, _ in find_tables(folder, _FILE, "testmini.json")]
    return read_dataset(folder, files, MathVistaRow, "pid", lambda row: _convert(row, finder))


def _convert(row: MathVistaRow, finder: Found) -> tuple[Question, Answer]:
    """Append the unit to the question, as the authors do."""
    picture = row.decoded_image or row.image
    if picture is None:
        raise FileFormatError("has neither `image` nor `decoded_image`")
    unit = f" (Unit: {row.unit})" if row.unit else ""
    question = Question(
        id=f"mathvista-{row.pid}",
        question=f"[IMAGE0]\n{row.question}{unit}",
        images=[finder.figure(picture)],
        choices=make_choices(row.choices or []) if row.question_type == "multi_choice" else None,
        subject="mathematics",
        language=_LANGUAGES.get(str(row.metadata.get("language")), "en"),
    )
    skills = row.metadata.get("skills")
    details = {name: row.metadata.get(name) for name in _DETAILS}
    attributes: dict[str, Value | None] = {
        **{name: str(value) if value else None for name, value in details.items()},
        "skills": [str(skill) for skill in skills] if isinstance(skills, list) else None,
        "type": row.answer_type,
        "unit": row.unit,
        "precision": None if row.precision is None else f"{row.precision:g}",
    }
    answer = make_answer(
        question,
        [_read_gold(row, question.choices)],
        topic=str(row.metadata["task"]) if row.metadata.get("task") else None,
        attributes=attributes,
    )
    return question, answer


def _read_gold(row: MathVistaRow, choices: list[Choice] | None) -> str:
    """Return the answer, or the letter of the choice with its text."""
    if row.answer is None:
        raise FileFormatError("has no answer; those of the split test are not published")
    if choices is None:
        return row.answer
    letter = next((choice.label for choice in choices if choice.text == row.answer), None)
    if letter is None:
        raise FileFormatError(f"answer: {row.answer!r} is none of its choices")
    return letter
