"""USNCO-V: its published metadata, with your own texts and pictures.

The authors distribute neither questions nor pictures (paper USNCO-V, data availability): take
them from the exams of the American Chemical Society. `metadata.csv` has one line per question:
`year, exam` (local or national), `number, answer, category`, and the columns you add: `question,
A, B, C, D` and `images` (names separated by ` | `, by default `<year>-<exam>-<number>.png`). An
optional column `topic` contains the field of chemistry (figure 1a).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from omibench.datasets.dataset import Dataset, make_answer
from omibench.datasets.folder import Entries
from omibench.datasets.found import Found
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import naming, the_file, typed_rows
from omibench.errors import FileFormatError
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Choice, Figure, Question

LETTERS = ("A", "B", "C", "D")

Folded = BeforeValidator(lambda value: str(value).strip().casefold())
Letter = BeforeValidator(lambda value: str(value).strip().upper())


class UsncoRow(BaseModel):
    """One question."""

    year: Annotated[int, Field(ge=1984)]
    exam: Annotated[Literal["local", "national"], Folded]
    number: Annotated[int, Field(ge=1)]
    answer: Annotated[Literal["A", "B", "C", "D"], Letter]
    category: Annotated[
        Literal["table", "chart", "molecular structure", "apparatus", "other"], Folded
    ]
    topic: str = ""
    question: str = ""
    A: str = ""
    B: str = ""
    C: str = ""
    D: str = ""
    images: Entries = []

    @property
    def id(self) -> str:
        """Return year, exam and number."""
        return f"{self.year}-{self.exam}-{self.number:02}"


@benchmark("usnco-v", rules="usnco-v", published=("usnco_v_proprietary.csv", "usnco_v_open.csv"))
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read every question in the order of the metadata.

    Raises FileFormatError for a line that is invalid, occurs twice, or has no question text yet.
    """
    finder = Found(folder, scratch)
    file = the_file(folder, "metadata")
    questions, answers = [], []
    ids: set[str] = set()
    for row in typed_rows(file, UsncoRow, ""):
        if row.id in ids:
            raise FileFormatError(f"{file}: {row.id}: two lines are for this question")
        ids.add(row.id)
        if not row.question.strip():
            raise FileFormatError(
                f"{file}: {row.id}: has no `question`; the texts are not distributed, so copy them "
                "from the exam into the columns question, A, B, C and D"
            )
        names = row.images or [f"{row.id}.png"]
        with naming(file, row.id):
            questions.append(_question(row, [finder.figure(name) for name in names]))
        answers.append(_answer(row, questions[-1]))
    return Dataset(questions, answers, folder)


def _question(row: UsncoRow, pictures: list[Figure]) -> Question:
    texts = {letter: getattr(row, letter).strip() for letter in LETTERS}
    return Question(
        id=row.id,
        question=row.question,
        images=pictures,
        # An option that is only in the picture has no text.
        choices=[Choice(label=letter, text=text) for letter, text in texts.items()],
        subject="chemistry",
        subset=row.exam,
    )


def _answer(row: UsncoRow, question: Question) -> Answer:
    """Return the attributes, with the image type as in the paper (figure 4) and the metadata."""
    return make_answer(
        question,
        [row.answer],
        topic=row.topic.strip() or None,
        attributes={
            "category": row.category,
            "image_type": row.category,
            "exam": row.exam,
            "year": str(row.year),
        },
    )
