"""MATH-Vision (github.com/mathllm/MATH-V; Wang et al. 2024): `test` and `testmini`.

`data/test.jsonl` and `data/testmini.jsonl` lie next to a folder `images`; the hub's Parquet files
(MathLLMs/MathVision) have the picture in the column `decoded_image`. A problem has one picture; the
marks `<image1>`, `<image2>` refer to its parts. Fields as in the repository's JSONL files and its
`evaluation/evaluate.py`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from omibench.datasets.dataset import Dataset, make_answer, make_choices, read_letter
from omibench.datasets.found import Embedded, Found
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import find_tables, read_dataset
from omibench.errors import FileFormatError
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Question

_SPLITS = {name: re.compile(rf"/{name}(-\d{{5}}-of-.*)?$") for name in ("test", "testmini")}
_MARK = re.compile(r"<image\d+>")
Text = Annotated[str, BeforeValidator(str), Field(min_length=1)]


class MathVisionRow(BaseModel):
    """One problem."""

    id: Text
    question: Annotated[str, Field(min_length=1)]
    options: Annotated[list[str], Field(max_length=26)] = []
    answer: Text
    image: str | None = None
    decoded_image: Embedded | None = None
    solution: str | None = None
    level: Text
    subject: Text


@benchmark("math-vision")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read the split `test`. Raises as `find_tables` and `typed_rows`."""
    return _read(folder, scratch, "test")


@benchmark("math-vision-mini")
def load_mini(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read the split `testmini`, a part of `test`. Raises as `load` does."""
    return _read(folder, scratch, "testmini")


def _read(folder: Path, scratch: Path, split: str) -> Dataset:
    finder = Found(folder, scratch)
    files = [file for file, _ in find_tables(folder, _SPLITS[split], f"data/{split}.jsonl")]
    return read_dataset(folder, files, MathVisionRow, "id", lambda row: _convert(row, finder))


def _convert(row: MathVisionRow, finder: Found) -> tuple[Question, Answer]:
    picture = row.decoded_image or row.image
    if picture is None:
        raise FileFormatError("has neither `image` nor `decoded_image`")
    # Several marks refer to parts of the picture, so only a single one is its place.
    has_place = len(_MARK.findall(row.question)) == 1
    labels = [chr(ord("A") + place) for place in range(len(row.options))]
    question = Question(
        id=f"math-vision-{row.id}",
        question=_MARK.sub("[IMAGE0]", row.question) if has_place else f"[IMAGE0]\n{row.question}",
        images=[finder.figure(picture)],
        # Choices in the picture are listed as letters only.
        choices=make_choices("" for _ in labels)
        if row.options == labels
        else make_choices(row.options) or None,
        subject="mathematics",
    )
    answer = make_answer(
        question,
        [read_letter(row.answer, question) if labels else row.answer],
        solution=row.solution or None,
        topic=row.subject,
        attributes={"category": row.subject, "level": row.level},
    )
    return question, answer
