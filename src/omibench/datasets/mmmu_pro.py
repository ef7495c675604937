"""MMMU-Pro (github.com/MMMU-Benchmark/MMMU; Yue et al. 2024): the hub's Parquet files.

Each configuration is a folder: `standard (10 options)`, `standard (4 options)` and `vision`,
whose question and choices are only in a screenshot. A problem has up to seven pictures, marked
by `<image 1>` to `<image 7>` in question and choices. The options are a list or its Python text.
The columns are those read by the authors' code; the Parquet files were not available for
testing.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from omibench.datasets.dataset import Dataset, make_answer, make_choices, read_letter, replace_marks
from omibench.datasets.found import Embedded, Found, NumberedRow
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import find_tables, read_dataset
from omibench.errors import FileFormatError
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Question, Subject

SUBJECTS: Final[dict[str, Subject]] = {
    "Biology": "biology",
    "Chemistry": "chemistry",
    "Math": "mathematics",
    "Physics": "physics",
}
_TEN, _FOUR = re.compile(r"\b10\W+options", re.I), re.compile(r"\b4\W+options", re.I)
_VISION = re.compile(r"\bvision\b", re.I)
MARK = re.compile(r"<image (\d+)>")
_LONGEST_LIST = 20_000  # characters


def read_list(value: Any) -> Any:
    """Parse the Python text of a list. Only literals are read; nothing is evaluated."""
    if not isinstance(value, str):
        return value
    if len(value) > _LONGEST_LIST:
        raise ValueError(f"has {len(value)} characters; at most {_LONGEST_LIST} are read")
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise ValueError("is neither a list nor the text of one") from None


class MmmuProRow(NumberedRow):
    """One problem; `image` is the screenshot of the configuration `vision`."""

    id: Annotated[str, Field(min_length=1)]
    question: str = ""
    options: Annotated[list[str], BeforeValidator(read_list), Field(min_length=2, max_length=26)]
    answer: Annotated[str, Field(min_length=1)]
    subject: str
    explanation: str | None = None
    topic_difficulty: str | None = None
    img_type: Annotated[list[str] | None, BeforeValidator(read_list)] = None
    image: Embedded | None = None


@benchmark("mmmu-pro")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read the problems with up to ten choices. Raises as `find_tables` and `typed_rows`."""
    return _read(folder, scratch, _TEN, "standard (10 options)/test-00000-of-00001.parquet")


@benchmark("mmmu-pro-4")
def load_four(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read the same problems with four choices. Raises as `load` does."""
    return _read(folder, scratch, _FOUR, "standard (4 options)/test-00000-of-00001.parquet")


@benchmark("mmmu-pro-vision")
def load_vision(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read the problems as screenshots; their choices are letters only. Raises as `load` does."""
    return _read(folder, scratch, _VISION, "vision/test-00000-of-00001.parquet")


def _read(folder: Path, scratch: Path, name: re.Pattern[str], example: str) -> Dataset:
    finder = Found(folder, scratch)

    def convert(row: MmmuProRow) -> tuple[Question, Answer]:
        question = _screenshot(row, finder) if name is _VISION else _question(row, finder)
        return question, _answer(row, question)

    files = [file for file, _ in find_tables(folder, name, example)]
    return read_dataset(folder, files, MmmuProRow, "id", convert)


def _question(row: MmmuProRow, finder: Found) -> Question:
    places = {name.removeprefix("image_"): place for place, name in enumerate(row.pictures)}
    if not row.question.strip():
        raise FileFormatError("has no question")
    return Question(
        id=row.id,
        question=replace_marks(row.question, MARK, places),
        images=[finder.figure(picture) for picture in row.pictures.values()],
        choices=make_choices(replace_marks(text, MARK, places) for text in row.options),
        subject=SUBJECTS.get(row.subject, "other"),
    )


def _screenshot(row: MmmuProRow, finder: Found) -> Question:
    if row.image is None:
        raise FileFormatError("has no screenshot in the column `image`")
    return Question(
        id=row.id,
        question="[IMAGE0]",
        images=[finder.figure(row.image)],
        choices=make_choices("" for _ in row.options),
        subject=SUBJECTS.get(row.subject, "other"),
    )


def _answer(row: MmmuProRow, question: Question) -> Answer:
    explanation = (row.explanation or "").strip(" ?")  # `?` marks a missing answer
    return make_answer(
        question,
        [read_letter(row.answer, question)],
        solution=explanation or None,
        topic=row.subject,
        attributes={
            "category": row.subject,
            "difficulty": row.topic_difficulty,
            "pictures": row.img_type,
        },
    )
