"""EMMA and EMMA-mini (github.com/EMMA-Bench/EMMA), from Parquet files in a folder or below it.

Two layouts are supported. The hub's files contain up to five pictures per problem, marked by
`<image_1>` to `<image_5>` in question and options. Files of published responses contain the
problems without pictures: the marks remain in the text, and everything that needs no pictures
works.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from omibench.datasets.dataset import Dataset
from omibench.datasets.found import Embedded, Found
from omibench.datasets.marks import replace_marks
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import naming, typed_rows
from omibench.datasets.sample import draw_stratified
from omibench.errors import FileFormatError, MissingInputError, reason_of
from omibench.files.intake import open_regular
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.attributes import join_labels, keep_stated, split_labels
from omibench.schemas.problem import Answer, AnswerType, Choice, Figure, Question, Subject

SUBJECTS: dict[str, Subject] = {
    "Math": "mathematics",
    "Physics": "physics",
    "Chemistry": "chemistry",
    "Coding": "coding",
}
MINI_PER_SUBJECT = 100
PUBLISHED = (
    "emma_main.csv", "emma_scaling.csv", "emma_math_scaling.csv", "emma_math_categories.csv",
    "emma_physics_categories.csv", "emma_chemistry_categories.csv", "emma_coding_tasks.csv",
)  # fmt: skip
_COLUMNS = ("pid", "subject", "type", "question", "options", "answer")
_PICTURES = tuple(f"image_{n}" for n in range(1, 6))
_IMAGE = re.compile(r"<image_(\d+)>")


def _drop_none_text(value: Any) -> Any:
    """Return None for an empty text or `none`."""
    return None if isinstance(value, str) and value.strip().lower() in ("", "none") else value


Text = Annotated[str | None, BeforeValidator(_drop_none_text)]


class EmmaRow(BaseModel):
    """One problem."""

    model_config = ConfigDict(extra="ignore")

    pid: Annotated[str, Field(min_length=1)]
    subject: str
    type: str
    question: str
    answer: Annotated[str, Field(min_length=1)]
    options: Annotated[list[str] | None, BeforeValidator(_drop_none_text)] = None
    context: Text = None
    solution: Text = None
    category: Text = None
    task: Text = None
    source: Text = None
    image_1: Embedded | None = None
    image_2: Embedded | None = None
    image_3: Embedded | None = None
    image_4: Embedded | None = None
    image_5: Embedded | None = None

    @property
    def kind(self) -> AnswerType:
        """Spelt "Multiple Choice" and "Multiple choice"."""
        return "mcq" if self.type.casefold() == "multiple choice" else "open"

    @property
    def essence(self) -> tuple[str, str, int]:
        """Fields in which two files must agree."""
        return self.answer.strip().casefold(), self.kind, len(self.options or [])


class NumberedPictures(dict[int, Figure]):
    """Return the pictures of one problem by number, from 1; empty if the file has none."""


@benchmark("emma", rules="emma", published=PUBLISHED)
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read every problem of all files once, by subject and number; pictures go to `scratch`.

    Texts come from the first file by name; later files correct single characters of some
    options. Raises MissingInputError if there is no Parquet file, and FileFormatError if one
    lacks a column or two files disagree about a problem's gold answer, type or number of
    options.
    """
    finder = Found(folder, scratch)
    rows: dict[str, tuple[EmmaRow, NumberedPictures, Path]] = {}
    files = sorted(folder.rglob("*.parquet"))
    if not files:
        raise MissingInputError(f"{folder}: contains no .parquet file with EMMA problems")
    for file in files:
        _check_columns(file)
        for row in typed_rows(file, EmmaRow, "pid"):
            if row.pid not in rows:
                rows[row.pid] = (_without_bytes(row), _find_pictures(row, finder), file)
            elif rows[row.pid][0].essence != row.essence:
                raise FileFormatError(f"{file}: {row.pid} differs from the file read before it")
    questions, answers = [], []
    for row, figures, file in sorted(rows.values(), key=lambda entry: _place(entry[0])):
        with naming(file, row.pid):
            questions.append(_question(row, figures))
        answers.append(_answer(row, figures))
    return Dataset(questions, answers, folder)


@benchmark("emma-mini", rules="emma", published=PUBLISHED)
def load_mini(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Draw 100 problems per subject with a seed, evenly over its categories (EMMA, 4.1).

    Coding problems have several categories each; their tasks are used instead. The authors' own
    draw is a separate dataset, read as `emma`. Raises as `load` does.
    """
    return draw_stratified(load(folder, scratch, params), _stratum, MINI_PER_SUBJECT, params.seed)


def _stratum(answer: Answer) -> str:
    task = answer.attributes.get("task") if answer.subject == "coding" else answer.topic
    return join_labels(task)


def _check_columns(file: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open_regular(file) as content:
            names = pq.read_schema(content).names
    except (pa.ArrowException, OSError) as error:
        raise FileFormatError(f"{file}: is not a Parquet file: {reason_of(error)}") from None
    missing = [name for name in _COLUMNS if name not in names]
    if missing:
        raise FileFormatError(f"{file}: lacks the column {missing[0]!r}; it has {names}")


def _find_pictures(row: EmmaRow, finder: Found) -> NumberedPictures:
    pictures = ((n, getattr(row, name)) for n, name in enumerate(_PICTURES, 1))
    return NumberedPictures({n: finder.figure(picture) for n, picture in pictures if picture})


def _without_bytes(row: EmmaRow) -> EmmaRow:
    """Read row by row: pictures become files, so the benchmark need not fit into memory."""
    return row.model_copy(update=dict.fromkeys(_PICTURES))


def _place(row: EmmaRow) -> tuple[str, int, str]:
    digits = re.search(r"\d+", row.pid)
    return row.subject, int(digits.group()) if digits else 0, row.pid


def _mark_images(text: str, figures: NumberedPictures) -> str:
    """Return the text with our picture marks, numbered in the order of the problem's pictures."""
    return replace_marks(text, _IMAGE, {str(n): place for place, n in enumerate(figures)})


def _choices(row: EmmaRow, figures: NumberedPictures) -> list[Choice] | None:
    if row.kind == "open":
        return None
    return [
        Choice(label=chr(ord("A") + i), text=_mark_images(text, figures))
        for i, text in enumerate(row.options or [])
    ]


def _question(row: EmmaRow, figures: NumberedPictures) -> Question:
    text = f"{row.context}\n{row.question}" if row.context else row.question
    return Question(
        id=row.pid,
        question=_mark_images(text, figures),
        images=list(figures.values()),
        choices=_choices(row, figures),
        subject=SUBJECTS.get(row.subject, "other"),
    )


def _answer(row: EmmaRow, figures: NumberedPictures) -> Answer:
    """List all categories of a problem: coding problems have two on average (EMMA, B.1)."""
    gold = row.answer.strip()
    marks = {*_IMAGE.findall(row.question), *_IMAGE.findall(" ".join(row.options or []))}
    return Answer(
        id=row.pid,
        # Gold answers are spelt "D" and "d".
        answer=[gold.upper() if row.kind == "mcq" else gold],
        answer_type=row.kind,
        choices=_choices(row, figures),
        solution=row.solution,
        subject=SUBJECTS.get(row.subject, "other"),
        topic=row.category,
        n_images=len(figures) or len(marks),
        attributes=keep_stated(
            {
                "category": split_labels(row.category or ""),
                "task": row.task,
                "source": row.source,
            }
        ),
    )
