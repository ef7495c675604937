"""EXAMS-V (github.com/RocktimJyotiDas/EXAMS-V; Das et al. 2024): the hub's `test` Parquet files.

A problem is one picture of an exam's question with its choices, whose letters are not listed; its
gold answer is a letter. Two releases are read: Rocktim/EXAMS-V (columns as in HELM's
scenario) and MBZUAI/EXAMS-V of ImageCLEF 2025 (columns as in its dataset card), which counts what
the picture shows. The Parquet files were not available for testing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, Field

from omibench.datasets.dataset import Dataset, make_answer
from omibench.datasets.found import Embedded, Found
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import find_tables, read_dataset
from omibench.errors import FileFormatError
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Question, Subject

_FILE = re.compile(r"/test(-\d{5}-of-\d{5})?$")
_LANGUAGES: Final = {
    "arabic": "ar", "bulgarian": "bg", "chinese": "zh", "croatian": "hr", "croation": "hr",
    "english": "en", "french": "fr", "german": "de", "hungarian": "hu", "italian": "it",
    "polish": "pl", "serbian": "sr", "slovakian": "sk", "spanish": "es", "urdu": "ur",
}  # fmt: skip
"""Names in the column `language`, one of them misspelt, and their codes."""
_SUBJECTS: Final[dict[str, Subject]] = {
    "biology": "biology",
    "chemistry": "chemistry",
    "mathematics": "mathematics",
    "physics": "physics",
}
_SHOWN: Final = ("chemical_structure", "table", "figure", "graph")
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else str(value).strip())]


class ExamsVRow(BaseModel):
    """One problem."""

    sample_id: Annotated[Text, Field(min_length=1)]
    image: Embedded
    answer_key: Text
    language: Text
    subject: Text = ""
    subject_grouped: Text = ""
    grade: Text = ""
    type: Text = ""
    """`text` or `image_text`."""
    chemical_structure: int | None = None
    table: int | None = None
    figure: int | None = None
    graph: int | None = None


@benchmark("exams-v")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read the split `test`. Raises as `find_tables` and `typed_rows`."""
    finder = Found(folder, scratch)
    example = "data/test-00000-of-00001.parquet"
    files = [file for file, _ in find_tables(folder, _FILE, example)]
    return read_dataset(folder, files, ExamsVRow, "sample_id", lambda row: _convert(row, finder))


def _convert(row: ExamsVRow, finder: Found) -> tuple[Question, Answer]:
    letter = row.answer_key.strip(" ().").upper()
    if len(letter) != 1 or not letter.isalpha():
        raise FileFormatError(f"answer_key: {row.answer_key!r} is not a letter")
    language = _LANGUAGES.get(row.language.casefold())
    if language is None:
        names = ", ".join(sorted(_LANGUAGES))
        raise FileFormatError(f"language: {row.language!r} is none of {names}")
    question = Question(
        id=f"exams-v-{row.sample_id}",
        question="[IMAGE0]",
        images=[finder.figure(row.image)],
        subject=_SUBJECTS.get(row.subject.casefold(), "other"),
        language=language,
    )
    kinds = [name.replace("_", " ") for name in _SHOWN if getattr(row, name)]
    answer = make_answer(
        question,
        [letter],
        answer_type="mcq",
        topic=row.subject or None,
        attributes={
            "category": row.subject,
            "area": row.subject_grouped,
            "grade": row.grade,
            "language": language,
            "type": row.type,
            "pictures": kinds or None,
        },
    )
    return question, answer
