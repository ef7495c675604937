"""OlympiadBench (github.com/OpenBMB/OlympiadBench; He et al. 2024): its open-ended problems.

Two layouts are supported. The download has the folders `data`, with JSON lists such as
`OE_MM_maths_en_COMP.json`, and `images`, whose files are marked by `<img_12>` in texts. The
hub's Parquet files of the same names contain up to nine pictures per problem, marked by
`<image_1>` to `<image_9>`. Theorem proving (`TP_...`) has no answers and is skipped. The hub's
columns are those read by other harnesses; its files were not available for testing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field

from omibench.datasets.dataset import Dataset, group_problems, make_answer, replace_marks
from omibench.datasets.found import Found, NumberedRow
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import find_tables, naming, typed_rows
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Figure, Question, Subject
from omibench.text.pieces import split_outside_brackets

_FILE = re.compile(r"OE_(MM|TO)_(maths|physics)_(en|zh)_(COMP|CEE)")
_MARK = re.compile(r"<(img_\d+|image_\d+)>")
_MODALITIES = {"MM": "multimodal", "TO": "text only"}
_LEVELS = {"COMP": "competition", "CEE": "college entrance exam"}


def _write_text(value: Any) -> Any:
    """Return a number as text, and None for an empty text."""
    return str(value) if isinstance(value, int | float) else value or None


Text = Annotated[str | None, BeforeValidator(_write_text)]


class OlympiadBenchRow(NumberedRow):
    """One problem."""

    id: Annotated[str, BeforeValidator(str), Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    final_answer: Annotated[list[str], Field(min_length=1)]
    """Answer; further entries are alternative spellings."""
    is_multiple_answer: bool = False
    context: Text = None
    solution: list[str] | None = None
    subfield: Text = None
    answer_type: Text = None
    unit: Text = None
    error: Text = None


class Configuration(NamedTuple):
    """Properties of the problems given in the name of a file."""

    name: str
    modality: str
    subject: Subject
    language: str
    level: str


@benchmark("olympiadbench")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read every open-ended problem of all files, sorted by file name.

    Problems that share a context or a picture share a group. Raises MissingInputError if no file
    has such a name, and FileFormatError for an invalid row.
    """
    finder = Found(folder, scratch)
    questions: list[Question] = []
    answers: list[Answer] = []
    keys: list[list[str]] = []
    for file, match in find_tables(folder, _FILE, "OE_MM_maths_en_COMP.json"):
        configuration = _describe(match)
        for row in typed_rows(file, OlympiadBenchRow, "id"):
            with naming(file, row.id):
                question = _question(row, configuration, finder)
            questions.append(question)
            answers.append(_answer(row, configuration, question))
            figures = [figure.sha256 or figure.file for figure in question.images]
            keys.append([*figures, *([row.context] if row.context else [])])
    return group_problems(Dataset(questions, answers, folder), keys)


def _describe(name: re.Match[str]) -> Configuration:
    subject: Subject = "mathematics" if name[2] == "maths" else "physics"
    return Configuration(name[0], _MODALITIES[name[1]], subject, name[3], _LEVELS[name[4]])


def _find_figures(row: OlympiadBenchRow, text: str, finder: Found) -> dict[str, Figure]:
    """Return the pictures by their marks: embedded ones, and those referenced in the text."""
    figures = {name: finder.figure(picture) for name, picture in row.pictures.items()}
    for name in _MARK.findall(text):
        if name.startswith("img_") and name not in figures:
            figures[name] = finder.figure(f"{name}.jpg")
    return figures


def _question(row: OlympiadBenchRow, configuration: Configuration, finder: Found) -> Question:
    # As in the authors' prompts: the context of mathematics problems is not shown.
    context = row.context if configuration.subject == "physics" else None
    text = f"{context}\n{row.question}" if context else row.question
    figures = _find_figures(row, text, finder)
    return Question(
        id=f"{configuration.name}-{row.id}",
        question=replace_marks(text, _MARK, {name: i for i, name in enumerate(figures)}),
        images=list(figures.values()),
        subject=configuration.subject,
        language=configuration.language,
    )


def _answer(row: OlympiadBenchRow, configuration: Configuration, question: Question) -> Answer:
    gold = row.final_answer[0]
    attributes = {
        "subfield": row.subfield,
        "type": row.answer_type,
        "level": configuration.level,
        "modality": configuration.modality,
        "language": configuration.language,
        "unit": row.unit,
        "tolerance": row.error,
    }
    return make_answer(
        question,
        split_outside_brackets(gold, {","}) if row.is_multiple_answer else [gold],
        solution="\n\n".join(row.solution or []) or None,
        topic=row.subfield,
        attributes=attributes,
    )
