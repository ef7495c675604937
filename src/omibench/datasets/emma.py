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

from pydantic import BeforeValidator, Field

from omibench.datasets.dataset import (
    Dataset,
    draw_stratified,
    make_answer,
    make_choices,
    replace_marks,
)
from omibench.datasets.found import Found, NumberedRow
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import list_files, naming, typed_rows
from omibench.errors import FileFormatError, MissingInputError
from omibench.files.parquet import read_columns
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import (
    Answer,
    AnswerType,
    Figure,
    Question,
    Subject,
    join_labels,
    split_labels,
)

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
_IMAGE = re.compile(r"<(image_\d+)>")


def _drop_none_text(value: Any) -> Any:
    """Return None for an empty text or `none`."""
    return None if isinstance(value, str) and value.strip().lower() in ("", "none") else value


Text = Annotated[str | None, BeforeValidator(_drop_none_text)]


class EmmaRow(NumberedRow):
    """One problem."""

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

    @property
    def kind(self) -> AnswerType:
        """Spelt "Multiple Choice" and "Multiple choice"."""
        return "mcq" if self.type.casefold() == "multiple choice" else "open"

    @property
    def essence(self) -> tuple[str, str, int]:
        """Fields in which two files must agree."""
        return self.answer.strip().casefold(), self.kind, len(self.options or [])


@benchmark("emma", rules="emma", published=PUBLISHED)
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read every problem of all files once, by subject and number; pictures go to `scratch`.

    Texts come from the first file by name; later files correct single characters of some
    options. Raises MissingInputError if there is no Parquet file, and FileFormatError if one
    lacks a column or two files disagree about a problem's gold answer, type or number of
    options.
    """
    finder = Found(folder, scratch)
    rows: dict[str, tuple[EmmaRow, dict[str, Figure], Path]] = {}
    files = list_files(folder, ".parquet")
    if not files:
        raise MissingInputError(f"{folder}: contains no .parquet file with EMMA problems")
    for file in files:
        _check_columns(file)
        for row in typed_rows(file, EmmaRow, "pid"):
            if row.pid not in rows:
                figures = {name: finder.figure(p) for name, p in row.pictures.items()}
                # Pictures are files now, so the benchmark need not fit into memory.
                rows[row.pid] = (row.model_copy(update={"pictures": {}}), figures, file)
            elif rows[row.pid][0].essence != row.essence:
                raise FileFormatError(f"{file}: {row.pid} differs from the file read before it")
    questions, answers = [], []
    for row, figures, file in sorted(rows.values(), key=lambda entry: _place(entry[0])):
        with naming(file, row.pid):
            questions.append(_question(row, figures))
        answers.append(_answer(row, questions[-1]))
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
    names = read_columns(file)
    missing = [name for name in _COLUMNS if name not in names]
    if missing:
        raise FileFormatError(f"{file}: lacks the column {missing[0]!r}; it has {names}")


def _place(row: EmmaRow) -> tuple[str, int, str]:
    digits = re.search(r"\d+", row.pid)
    return row.subject, int(digits.group()) if digits else 0, row.pid


def _question(row: EmmaRow, figures: dict[str, Figure]) -> Question:
    places = {name: place for place, name in enumerate(figures)}
    text = f"{row.context}\n{row.question}" if row.context else row.question
    options = [replace_marks(option, _IMAGE, places) for option in row.options or []]
    return Question(
        id=row.pid,
        question=replace_marks(text, _IMAGE, places),
        images=list(figures.values()),
        choices=make_choices(options) if row.kind == "mcq" else None,
        subject=SUBJECTS.get(row.subject, "other"),
    )


def _answer(row: EmmaRow, question: Question) -> Answer:
    """List all categories of a problem: coding problems have two on average (EMMA, B.1)."""
    gold = row.answer.strip()
    marks = {*_IMAGE.findall(row.question), *_IMAGE.findall(" ".join(row.options or []))}
    return make_answer(
        question,
        # Gold answers are spelt "D" and "d".
        [gold.upper() if row.kind == "mcq" else gold],
        answer_type=row.kind,
        solution=row.solution,
        topic=row.category,
        n_images=len(question.images) or len(marks),
        attributes={
            "category": split_labels(row.category or ""),
            "task": row.task,
            "source": row.source,
        },
    )
