"""Data types of a dataset: Figure, Choice, Problem, and its frozen halves Question and Answer.

Text is Markdown with LaTeX between dollar signs; `[IMAGE0]`, `[IMAGE1]`, ... mark the positions
of figures and are indices of `images`. An image path is relative to the folder of the file that
contains it, always with forward slashes.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from omibench.schemas.attributes import Value, keep_stated
from omibench.schemas.image_marks import list_image_marks
from omibench.schemas.problem_warning import ProblemWarning, WarningText

AnswerType = Literal["mcq", "open"]
Subject = Literal["biology", "chemistry", "mathematics", "physics", "coding", "other"]
BBox = tuple[float, float, float, float]


class Noun(BaseModel):
    """A frozen, strict model: an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Panel(Noun):
    """A part of a figure, such as the graph (b): its letter, if any, and its position."""

    label: str | None = None
    bbox: BBox


class Figure(Noun):
    """One picture with evidence, and its position on its page.

    `sha256` is over the bytes of `file`; it is empty for a missing picture of a published
    benchmark, whose problem cannot be evaluated. `bbox` is (x0, y0, x1, y1) in PDF points from
    the top left corner of the page; `page` counts from 1. Both are None for pictures without a
    page.
    """

    file: str
    sha256: str
    page: int | None = None
    bbox: BBox | None = None
    caption: str | None = None
    panels: Annotated[list[Panel], Field(exclude_if=lambda panels: not panels)] = []
    """Panels of the figure; omitted from the file if there are none."""


class Choice(Noun):
    """One choice of a multiple-choice problem: a text, or the index of a figure in `images`.

    A text can contain marks of figures, as in a question.
    """

    label: str
    text: str | None = None
    image: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.text is None and self.image is None:
            raise ValueError(f"choice {self.label} has neither text nor image")
        return self


class DoubtfulFormula(Noun):
    """A formula of a problem with an uncertain reading, and the crop of its page.

    `latex` is the best reading, as written between dollar signs in the problem; `bbox` is (x0,
    y0, x1, y1) in PDF points from the top left corner of the page, which counts from 1. Of a
    formula that is broken over lines, it is the part in the first line; the crop shows all parts.
    `sha256` is over the bytes of `file`, which is in `formulas/` and is never shown to a model.
    """

    page: int
    bbox: BBox
    latex: str
    file: str
    sha256: str
    doubts: list[str]
    """Reasons for the uncertainty, each a short sentence."""


class _Asked(Noun):
    """Common fields of all views of a problem: the question and its pictures."""

    id: str
    question: str
    images: list[Figure] = []
    choices: list[Choice] | None = None
    subject: Subject = "other"
    language: str = "en"
    group: str = ""
    """Problems that share a stem share a group: the cluster of clustered statistics."""
    subset: Annotated[str | None, Field(exclude_if=lambda subset: subset is None)] = None
    """Subset of a benchmark, if examples can come from the other one."""
    licence: str | None = None

    @property
    def answer_type(self) -> AnswerType:
        """`mcq` if there are choices, else `open` (paper OMIBench, section 3.2, step 4)."""
        return "mcq" if self.choices else "open"

    def image_order(self) -> list[int]:
        """Indices of the images in reading order: statement, then choices."""
        indices = list_image_marks(self.question)
        for choice in self.choices or []:
            indices += [
                *list_image_marks(choice.text or ""),
                *([] if choice.image is None else [choice.image]),
            ]
        return list(dict.fromkeys(indices))

    @model_validator(mode="after")
    def _marks_have_images(self) -> Self:
        for index in self.image_order():
            if index >= len(self.images):
                raise ValueError(f"[IMAGE{index}] is shown but there are {len(self.images)} images")
        return self


class Original(Noun):
    """Text of a problem before its translation into English, and the translator."""

    language: str
    question: str
    choices: list[Choice] | None = None
    translator: str


class OriginalRow(Noun):
    """Original of one translated problem, a row of originals.jsonl; others have no row."""

    id: str
    original: Original


class Problem(_Asked):
    """One problem as read from a paper: the row of `problems.jsonl` from ocr to rationale.

    `answer` is None if no key gives it (never a guess). Otherwise it is a list of texts: the
    letters of a multiple-choice key, or the parts of an open answer, all of which are required.
    """

    source: str
    source_sha256: str
    number: str
    pages: list[int]
    """Number from 1; None for a row of an existing benchmark."""
    answer: list[str] | None = None
    solution: str | None = None
    sketch: Annotated[str | None, Field(exclude_if=lambda sketch: sketch is None)] = None
    """Original solution, if a model wrote `solution`; omitted if there is none."""
    warnings: list[WarningText] = []
    """Warnings: a code, with details after a colon (docs/errors.md)."""
    doubtful_formulas: Annotated[
        list[DoubtfulFormula], Field(exclude_if=lambda formulas: not formulas)
    ] = []
    """Omitted from the file if every formula is certain. They are not part of `images`."""
    competition: str | None = None
    year: int | None = None
    topic: str | None = None
    original: Annotated[Original | None, Field(exclude_if=lambda original: original is None)] = None
    """Original of a translated problem; omitted from the file if there is none."""
    attributes: Annotated[
        dict[str, Value], Field(exclude_if=lambda attributes: not attributes)
    ] = {}
    """Additional properties from its benchmark or manifest: a text, or a list of labels; omitted if
    empty.
    """
    photograph: Annotated[
        Literal["real", "clean"] | None, Field(exclude_if=lambda photograph: photograph is None)
    ] = None
    """Set if its only picture shows all of it: `real` for a photograph, `clean` for the clean
    picture of the problem in a photograph of the same group (MathReal, section 3).
    """

    @property
    def stated_attributes(self) -> dict[str, Value]:
        """Its attributes, including competition and year."""
        exam = {"competition": self.competition, "year": str(self.year or "")}
        return keep_stated(exam) | self.attributes

    def warn(self, *warnings: ProblemWarning) -> Problem:
        """Return the problem with additional warnings."""
        return self.model_copy(update={"warnings": [*self.warnings, *warnings]})


class Question(_Asked):
    """Model-visible part of a problem: no answer, no solution (design, section 6)."""

    source: str | None = None
    pages: list[int] = []


def strip_answer(problem: Problem) -> Question:
    """Return the part without answer, solution and warnings, which can reveal the answer."""
    return Question(**{name: getattr(problem, name) for name in Question.model_fields})


class Answer(Noun):
    """Scoring part of a problem: the gold answer and the reference rationale."""

    id: str
    answer: list[str]
    answer_type: AnswerType
    choices: list[Choice] | None = None
    solution: str | None = None
    sketch: Annotated[str | None, Field(exclude_if=lambda sketch: sketch is None)] = None
    """Original solution, if a model wrote `solution`."""
    subject: Subject = "other"
    topic: str | None = None
    group: str = ""
    n_images: int = 0
    attributes: dict[str, Value] = {}
    """Additional properties from a benchmark or manifest: category, exam, year, grades; a text, or
    a list of several labels.
    """
