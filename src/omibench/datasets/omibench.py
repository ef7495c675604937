"""OMIBench: the official `test.jsonl` and a folder of pictures, or the hub's Parquet files.

github.com/LightChen233/OMIBench; paper OMIBench, section 3. Differences between the release and
the printed statistics are listed in docs/reference/benchmarks.md.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from omibench.datasets.dataset import Dataset, group_problems, make_answer, make_choices
from omibench.datasets.found import Embedded, Found
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import read_dataset, the_file
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, AnswerType, Choice, Question, read_only_image_mark

_PART = re.compile(r"(physics-\d+)-\d+")
"""`physics-52-3` is the third question of one exam problem; `physics-ReMI-52` is not."""


class OmibenchRow(BaseModel):
    """One line of the release."""

    id: str = Field(min_length=1)
    subject: Literal["biology", "chemistry", "mathematics", "physics"]
    answer_type: AnswerType
    question: str
    image_list: list[str | Embedded]
    choice_list: list[str] | None = None
    answer: list[str] = Field(min_length=1)
    solution: str | None = None
    known_issue: str | None = None
    img_category: str | None = None


@benchmark("omibench", rules="omibench", published=("omibench_main.csv",))
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read every problem in the order of the file. Raises as `typed_rows` and `the_file`.

    Problems that share a picture or belong to one exam problem share a group.
    """
    finder = Found(folder, scratch)
    keys: list[list[str]] = []

    def convert(row: OmibenchRow) -> tuple[Question, Answer]:
        figures = [finder.figure(picture) for picture in row.image_list]
        part = _PART.fullmatch(row.id)
        keys.append([*(f.sha256 or f.file for f in figures), *([part.group(1)] if part else [])])
        choices = make_choices(row.choice_list or []) if row.answer_type != "open" else []
        question = Question(
            id=row.id,
            question=row.question,
            images=figures,
            choices=[_read_choice(choice) for choice in choices] or None,
            subject=row.subject,
        )
        return question, make_answer(
            question,
            row.answer,
            answer_type=row.answer_type,
            solution=row.solution,
            attributes={"known_issue": row.known_issue, "category": row.img_category},
        )

    file = the_file(folder, "test", "data")
    return group_problems(read_dataset(folder, [file], OmibenchRow, "id", convert), keys)


def _read_choice(choice: Choice) -> Choice:
    """Return a choice whose text is only the mark of a picture as that picture."""
    image = read_only_image_mark(choice.text or "")
    return choice if image is None else Choice(label=choice.label, image=image)
