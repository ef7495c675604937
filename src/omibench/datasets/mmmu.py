"""MMMU (github.com/MMMU-Benchmark/MMMU; Yue et al. 2024): the hub's validation split.

Each of the 30 disciplines is a folder of Parquet files, such as `Accounting/validation-...`, or all
are in one folder. Columns and marks are those of MMMU-Pro; open questions have no options. The
answers of the split `test` are not published. The columns follow the dataset card's
`dataset_info`; the Parquet files were not available for testing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from omibench.datasets.dataset import (
    Dataset,
    make_answer,
    make_choices,
    read_letter,
    replace_marks,
)
from omibench.datasets.found import Found, NumberedRow
from omibench.datasets.mmmu_pro import MARK, SUBJECTS, read_list
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import find_tables, read_dataset
from omibench.errors import FileFormatError
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Question

_FILE = re.compile(r"\bvalidation\b")
_ID = re.compile(r"[a-z]+_(\w+)_\d+")


class MmmuRow(NumberedRow):
    """One problem."""

    id: Annotated[str, Field(pattern=rf"^{_ID.pattern}$")]
    """Split, discipline and number: `validation_Accounting_1`."""
    question: Annotated[str, Field(min_length=1)]
    options: Annotated[list[str], BeforeValidator(read_list), Field(max_length=26)]
    answer: Annotated[str, Field(min_length=1)]
    question_type: Literal["multiple-choice", "open"]
    explanation: str | None = None
    topic_difficulty: str | None = None
    subfield: str | None = None
    img_type: Annotated[list[str] | None, BeforeValidator(read_list)] = None

    @property
    def discipline(self) -> str:
        """The discipline in the id."""
        return _ID.sub(r"\1", self.id)


@benchmark("mmmu")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read the validation problems of every discipline. Raises as `find_tables`, `typed_rows`."""
    finder = Found(folder, scratch)
    example = "Accounting/validation-00000-of-00001.parquet"
    files = [file for file, _ in find_tables(folder, _FILE, example)]
    return read_dataset(folder, files, MmmuRow, "id", lambda row: _convert(row, finder))


def _convert(row: MmmuRow, finder: Found) -> tuple[Question, Answer]:
    if row.answer.strip() == "?":
        raise FileFormatError("has no answer; those of the split test are not published")
    is_choice = row.question_type == "multiple-choice"
    if is_choice and len(row.options) < 2:
        raise FileFormatError(f"options: has {len(row.options)}; give at least 2")
    places = {name.removeprefix("image_"): place for place, name in enumerate(row.pictures)}
    texts = [replace_marks(text, MARK, places) for text in row.options]
    question = Question(
        id=row.id,
        question=replace_marks(row.question, MARK, places),
        images=[finder.figure(picture) for picture in row.pictures.values()],
        choices=make_choices(texts) if is_choice else None,
        subject=SUBJECTS.get(row.discipline, "other"),
    )
    answer = make_answer(
        question,
        [read_letter(row.answer, question) if is_choice else _read_open(row.answer)],
        solution=(row.explanation or "").strip(" ?") or None,
        topic=row.subfield,
        attributes={
            "category": row.discipline,
            "subfield": row.subfield,
            "difficulty": row.topic_difficulty,
            "pictures": row.img_type,
        },
    )
    return question, answer


def _read_open(answer: str) -> str:
    """Return the answer, or the first of a list of spellings in Python's notation."""
    if not answer.lstrip().startswith("["):
        return answer
    try:
        spellings = read_list(answer)
    except ValueError:  # such as the interval [0, 1)
        return answer
    return str(spellings[0]) if isinstance(spellings, list) and spellings else answer
