"""OMIBench: the official `test.jsonl` and a folder of pictures, or the hub's Parquet files.

github.com/LightChen233/OMIBench; paper OMIBench, section 3. Differences between the release and
the printed statistics are listed in docs/reference/benchmarks.md.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from omibench.datasets.dataset import Dataset
from omibench.datasets.found import Embedded, Found
from omibench.datasets.groups import link_by_keys
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import naming, the_file, typed_rows
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.attributes import keep_stated
from omibench.schemas.image_marks import read_only_image_mark
from omibench.schemas.problem import Answer, AnswerType, Choice, Figure, Question

_PART = re.compile(r"(physics-\d+)-\d+")
"""`physics-52-3` is the third question of one exam problem; `physics-ReMI-52` is not."""


class OmibenchRow(BaseModel):
    """One line of the release."""

    model_config = ConfigDict(extra="ignore")

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
    rows, figures = [], []
    file = the_file(folder, "test", "data")
    for row in typed_rows(file, OmibenchRow, "id"):
        with naming(file, row.id):
            figures.append([finder.figure(picture) for picture in row.image_list])
        rows.append(row.model_copy(update={"image_list": []}))
    roots = link_by_keys(
        [_links(row, row_figures) for row, row_figures in zip(rows, figures, strict=True)]
    )
    groups = [rows[root].id for root in roots]
    questions, answers = [], []
    for entry in zip(rows, figures, groups, strict=True):
        with naming(file, entry[0].id):
            questions.append(_question(*entry))
        answers.append(_answer(*entry))
    return Dataset(questions, answers, folder)


def _links(row: OmibenchRow, figures: list[Figure]) -> list[str]:
    part = _PART.fullmatch(row.id)
    return [*(f.sha256 or f.file for f in figures), *([part.group(1)] if part else [])]


def _choices(row: OmibenchRow) -> list[Choice] | None:
    if row.answer_type == "open" or not row.choice_list:
        return None
    return [_choice(chr(ord("A") + i), text) for i, text in enumerate(row.choice_list)]


def _choice(label: str, text: str) -> Choice:
    image = read_only_image_mark(text)
    return Choice(label=label, text=text if image is None else None, image=image)


def _question(row: OmibenchRow, figures: list[Figure], group: str) -> Question:
    return Question(
        id=row.id,
        question=row.question,
        images=figures,
        choices=_choices(row),
        subject=row.subject,
        group=group,
    )


def _answer(row: OmibenchRow, figures: list[Figure], group: str) -> Answer:
    published = {"known_issue": row.known_issue, "category": row.img_category}
    return Answer(
        id=row.id,
        answer=row.answer,
        answer_type=row.answer_type,
        choices=_choices(row),
        solution=row.solution,
        subject=row.subject,
        group=group,
        n_images=len(figures),
        attributes=keep_stated(published),
    )
