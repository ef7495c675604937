"""The nouns of a dataset: Figure, Choice, Problem, and its two frozen halves Question and Answer.

Text is Markdown with LaTeX between dollar signs; `[IMAGE0]`, `[IMAGE1]`, ... mark where the
figures stand and count the entries of `images`. An image path is relative to the folder of the
file that names it, always with forward slashes.
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
    """A frozen, strict record: an unknown field is an error, not a surprise."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Panel(Noun):
    """A part of a figure, such as the graph (b): its letter if it has one, and where it lies."""

    label: str | None = None
    bbox: BBox


class Figure(Noun):
    """One picture that carries evidence, and where on which page it was found.

    `sha256` is over the bytes of `file`; it is empty for a picture that a published benchmark
    names and that is not there, about which no model can be asked. `bbox` is (x0, y0, x1, y1) in
    PDF points from the top left corner of the page; `page` counts from 1. Both are None for
    pictures without a page.
    """

    file: str
    sha256: str
    page: int | None = None
    bbox: BBox | None = None
    caption: str | None = None
    panels: Annotated[list[Panel], Field(exclude_if=lambda panels: not panels)] = []
    """The panels of which it is the whole; left out of the file where there are none."""


class Choice(Noun):
    """One option of a multiple-choice problem: a text, or the index of a figure in `images`.

    A text may hold marks of figures, as a question does.
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
    """A formula of a problem whose reading is not certain, and the crop of its page.

    `latex` is the best reading, as it stands between dollar signs in the problem; `bbox` is (x0,
    y0, x1, y1) in PDF points from the top left corner of the page, which counts from 1. `sha256`
    is over the bytes of `file`, which lies in `formulas/`: no model is shown it.
    """

    page: int
    bbox: BBox
    latex: str
    file: str
    sha256: str
    doubts: list[str]
    """Why it is not certain, each a short sentence."""


class _Asked(Noun):
    """What every view of a problem shares: what is asked, about which pictures."""

    id: str
    question: str
    images: list[Figure] = []
    choices: list[Choice] | None = None
    subject: Subject = "other"
    language: str = "en"
    group: str = ""
    """Problems that share a stem share a group: the cluster of clustered statistics."""
    subset: Annotated[str | None, Field(exclude_if=lambda subset: subset is None)] = None
    """The part of a benchmark that it belongs to, where examples may come from the other one."""
    licence: str | None = None

    @property
    def answer_type(self) -> AnswerType:
        """`mcq` when there are choices, else `open` (paper OMIBench, section 3.2, step 4)."""
        return "mcq" if self.choices else "open"

    def image_order(self) -> list[int]:
        """Indices of the images in the order a reader meets them: statement, then choices."""
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
    """What a problem said before it was translated into English, and who translated it."""

    language: str
    question: str
    choices: list[Choice] | None = None
    translator: str


class OriginalRow(Noun):
    """The original of one translated problem, a row of originals.jsonl; others have no row."""

    id: str
    original: Original


class Problem(_Asked):
    """One problem as read from a paper: the row of `problems.jsonl` from ocr to rationale.

    `answer` is None when no key gives it (never a guess) and a list of texts otherwise: the
    letters of a multiple-choice key, or the parts of an open answer, all of which are needed.
    """

    source: str
    source_sha256: str
    number: str
    pages: list[int]
    """From 1; none for a row of an existing benchmark."""
    answer: list[str] | None = None
    solution: str | None = None
    sketch: Annotated[str | None, Field(exclude_if=lambda sketch: sketch is None)] = None
    """The solution that it came with, where a model was asked to write `solution`; left out where
    there is none."""
    warnings: list[WarningText] = []
    """What was noted of it: a code, with details after a colon (docs/errors.md)."""
    doubtful_formulas: Annotated[
        list[DoubtfulFormula], Field(exclude_if=lambda formulas: not formulas)
    ] = []
    """Left out of the file where every formula is certain. They are none of its `images`."""
    competition: str | None = None
    year: int | None = None
    topic: str | None = None
    original: Annotated[Original | None, Field(exclude_if=lambda original: original is None)] = None
    """Of a translated problem; left out of the file where there is none."""
    attributes: Annotated[
        dict[str, Value], Field(exclude_if=lambda attributes: not attributes)
    ] = {}
    """What else its benchmark or manifest says of it: a text, or a list of labels; left out where
    that is nothing."""
    photograph: Annotated[
        Literal["real", "clean"] | None, Field(exclude_if=lambda photograph: photograph is None)
    ] = None
    """Set where its only picture shows all of it: `real` for a photograph, `clean` for the clean
    picture of the problem that a photograph of the same group shows (MathReal, section 3)."""

    @property
    def stated_attributes(self) -> dict[str, Value]:
        """Its attributes, competition and year among them."""
        exam = {"competition": self.competition, "year": str(self.year or "")}
        return keep_stated(exam) | self.attributes

    def warn(self, *warnings: ProblemWarning) -> Problem:
        """The problem with more warnings."""
        return self.model_copy(update={"warnings": [*self.warnings, *warnings]})


class Question(_Asked):
    """What inference may see of a problem: no answer, no solution (design, section 6)."""

    source: str | None = None
    pages: list[int] = []


def strip_answer(problem: Problem) -> Question:
    """The half without answer, solution and warnings, which may tell of the answer."""
    return Question(**{name: getattr(problem, name) for name in Question.model_fields})


class Answer(Noun):
    """What scoring may see: the gold of one question and the reference rationale."""

    id: str
    answer: list[str]
    answer_type: AnswerType
    choices: list[Choice] | None = None
    solution: str | None = None
    sketch: Annotated[str | None, Field(exclude_if=lambda sketch: sketch is None)] = None
    """The solution that the problem came with, where a model was asked to write `solution`."""
    subject: Subject = "other"
    topic: str | None = None
    group: str = ""
    n_images: int = 0
    attributes: dict[str, Value] = {}
    """What else a benchmark or manifest says of the problem: category, exam, year, grades; a text,
    or a list where it has several labels."""
