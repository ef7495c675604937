"""MV-MATH (github.com/eternal8080/MV-MATH; Wang et al. 2025): `MV-MATH.json` and its pictures.

Problems with several pictures, marked by `<image_1>`, `<image_2>`, ... in the text. The text
also contains the choices: after their letters, or with a letter below each picture. If they
cannot be separated, they remain in the text and the problem has no list of choices; its gold
answer is a letter. Multi-step answers are `(1) ... (2) ...` in one text and become parts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from omibench.datasets.dataset import Dataset, make_answer, replace_marks
from omibench.datasets.found import Embedded, Found
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import read_dataset, the_file
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Choice, Figure, Question, read_only_image_mark

_MARK = re.compile(r"<image_(\d+)>")
_LETTER = re.compile(r"^[ \t]*([A-H])[.．、:][ \t]*", re.MULTILINE)
_LETTER_BELOW = re.compile(r"\[IMAGE(\d+)\]\s*\n\s*[(（]?([A-H])[)）.]?[ \t]*(?=\n|$)")
_RESIDUE = re.compile(r"[\s#]+$")
"""Residue of the conversion to Markdown at the end of some texts."""
_PART = re.compile(r"[(（](\d{1,2})[)）]")
_TRIM = " \t\n;；,，.。"


class MvMathRow(BaseModel):
    """One problem."""

    problem_id: Annotated[str, BeforeValidator(str), Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    input_image: list[str | Embedded]
    answer: Annotated[str, BeforeValidator(str), Field(min_length=1)]
    answer_type: Literal["choice", "single-step", "free-form", "multi-step"]
    difficulty: str | None = None
    grade: str | None = None
    subject: str | None = None
    relevance: Annotated[
        str | None,
        BeforeValidator(lambda value: None if value is None else str(value)),
        Field(validation_alias=AliasChoices("image_relavance", "image_relevance")),
    ] = None
    analysis: str | None = None


class Options(NamedTuple):
    """A text split into the question and its choices."""

    stem: str
    choices: list[Choice]


@benchmark("mv-math")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read every problem in the order of the file. Raises as `typed_rows` and `the_file`."""
    finder = Found(folder, scratch)
    file = the_file(folder, "MV-MATH", "data/MV-MATH")

    def convert(row: MvMathRow) -> tuple[Question, Answer]:
        question = _question(row, [finder.figure(picture) for picture in row.input_image])
        return question, _answer(row, question)

    return read_dataset(folder, [file], MvMathRow, "problem_id", convert)


def part_choices(text: str) -> Options | None:
    """Split a text into question and choices, lettered from A without gaps."""
    letters = list(_LETTER.finditer(text))
    starts = [i for i, match in enumerate(letters) if match[1] == "A"]
    if starts:
        marks = letters[starts[-1] :]
        ends = [match.start() for match in marks[1:]] + [len(text)]
        texts = [text[match.end() : end] for match, end in zip(marks, ends, strict=True)]
        entries = [
            (match[1], _RESIDUE.sub("", body)) for match, body in zip(marks, texts, strict=True)
        ]
    else:
        marks = list(_LETTER_BELOW.finditer(text))
        entries = [(match[2], f"[IMAGE{match[1]}]") for match in marks]
    expected = [chr(ord("A") + i) for i in range(len(entries))]
    if len(entries) < 2 or [label for label, _ in entries] != expected:
        return None
    return Options(text[: marks[0].start()].rstrip(), [_choice(*entry) for entry in entries])


def part_answer(answer: str) -> list[str]:
    """Split an answer at `(1)`, `(2)`, ... in order; the whole answer if it has no such parts."""
    marks: list[re.Match[str]] = []
    for match in _PART.finditer(answer):
        if int(match[1]) == len(marks) + 1:
            marks.append(match)
    if len(marks) < 2 or answer[: marks[0].start()].strip():
        return [answer.strip()]
    ends = [match.start() for match in marks[1:]] + [len(answer)]
    return [answer[m.end() : end].strip(_TRIM) for m, end in zip(marks, ends, strict=True)]


def _choice(label: str, text: str) -> Choice:
    image = read_only_image_mark(text)
    return Choice(label=label, text=text.strip() if image is None else None, image=image)


def _question(row: MvMathRow, figures: list[Figure]) -> Question:
    places = {str(number): place for place, number in enumerate(range(1, len(figures) + 1))}
    text = replace_marks(row.question, _MARK, places)
    options = part_choices(text) if row.answer_type == "choice" else None
    # A gold answer that is not one of the letters shows that they were misread.
    if options and _read_letter(row.answer) not in {choice.label for choice in options.choices}:
        options = None
    return Question(
        id=f"mv-math-{row.problem_id}",
        question=options.stem if options else text,
        images=figures,
        choices=options.choices if options else None,
        subject="mathematics",
    )


def _read_letter(answer: str) -> str:
    return answer.strip(" ().").upper()


def _answer(row: MvMathRow, question: Question) -> Answer:
    """Dependent pictures must be seen together (its paper, section 3.1)."""
    is_choice = row.answer_type == "choice"
    relevance = {"1": "dependent", "0": "independent"}.get(row.relevance or "")
    attributes = {
        "type": row.answer_type,
        "difficulty": row.difficulty,
        "grade": row.grade,
        "category": row.subject,
        "pictures": relevance,
    }
    open_answer = part_answer(row.answer) if row.answer_type == "multi-step" else [row.answer]
    return make_answer(
        question,
        [_read_letter(row.answer)] if is_choice else open_answer,
        answer_type="mcq" if is_choice else "open",
        solution=row.analysis,
        topic=row.subject,
        attributes=attributes,
    )
