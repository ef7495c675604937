"""Problems, questions and answers, with their attributes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from glyphtex import lazy_re as re

# Attributes of problems: additional properties from a benchmark or manifest.
#
# A value is a text, or a list of texts for several labels (EMMA, B.1: skills; MathReal, appendix
# C: conditions of a photograph). Tables slice results by attributes.

Value = str | list[str]
MOST_ATTRIBUTES: Final = 50
LONGEST_NAME, LONGEST_VALUE, MOST_LABELS = 60, 200, 50
RESERVED: Final = (
    "answer_type", "cluster", "dataset", "id", "model", "n_images", "rules", "setting", "subject",
)  # fmt: skip
"""Names reserved for other columns of tables."""
_NAME: Final = re.compile(r"[^\W\d_][\w ./()-]*")

FRESH: Final = "fresh"
"""Attribute of problems that no model can have seen, such as generated ones: `yes`."""
TEMPLATE: Final = "template"
"""Attribute of problems of one kind, of which some are public and others fresh."""
GENERATOR: Final = "generator"
"""Attribute of generated problems: name and version of their generator."""


def list_labels(value: Value | None) -> list[str]:
    """Return the labels of a value: the text itself, or each of several; empty without a value."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def join_labels(value: Value | None) -> str:
    """Return a value as one text: labels separated by `; `, or empty."""
    return "; ".join(list_labels(value))


def normalise_label(text: str) -> str:
    """Return a label for comparison: single spaces, case ignored."""
    return " ".join(text.split()).casefold()


def split_labels(text: str, separator: str = ";") -> Value:
    """Split a text of labels at `separator`; two or more labels give a list."""
    labels = list(dict.fromkeys(filter(None, (part.strip() for part in text.split(separator)))))
    return labels if len(labels) > 1 else "".join(labels)


def keep_stated(values: Mapping[str, Value | None]) -> dict[str, Value]:
    """Return the attributes that have a value."""
    return {name: value for name, value in values.items() if value}


def _check_attributes(values: Any) -> Any:
    """Normalise attributes written in YAML or JSON: numbers become texts."""
    if not isinstance(values, Mapping):
        return values
    if len(values) > MOST_ATTRIBUTES:
        raise ValueError(f"has {len(values)} attributes; at most {MOST_ATTRIBUTES} are allowed")
    return {_check_name(name): _check_value(str(name), value) for name, value in values.items()}


def _check_name(name: object) -> str:
    text = str(name)
    if text in RESERVED:
        raise ValueError(f"{text!r} is the name of a column of every table; give another name")
    if len(text) > LONGEST_NAME or text != text.strip() or not _NAME.fullmatch(text):
        raise ValueError(
            f"{text[:LONGEST_NAME]!r} is not a name of an attribute: it must begin with a "
            "letter, followed by letters, digits, spaces and _ . / - ( ), at most "
            f"{LONGEST_NAME} characters"
        )
    return text


def _check_value(name: str, value: object) -> object:
    labels = value if isinstance(value, list) else [value]
    if len(labels) > MOST_LABELS:
        raise ValueError(f"{name}: has {len(labels)} labels; at most {MOST_LABELS} are allowed")
    texts = [_check_label(name, label) for label in labels]
    return texts if isinstance(value, list) else texts[0]


def _check_label(name: str, label: object) -> str:
    if isinstance(label, bool):
        return "yes" if label else "no"
    if not isinstance(label, str | int | float):
        raise ValueError(f"{name}: give a text or a list of texts")
    text = str(label).strip()
    if not text or len(text) > LONGEST_VALUE:
        raise ValueError(f"{name}: a label must have 1 to {LONGEST_VALUE} characters")
    return text


AttributeName = Annotated[str, AfterValidator(_check_name)]
"""A name that a user gives to an attribute."""
StatedAttributes = Annotated[dict[str, Value], BeforeValidator(_check_attributes)]
"""Attributes that a user gives to a source or a problem; names and lengths are limited."""


# Marks `[IMAGE0]`, `[IMAGE1]`, ... in a text, at the positions of a problem's pictures.

IMAGE_MARK = re.compile(r"\[IMAGE(\d+)\]")
_ONLY_MARK = re.compile(rf"\s*{IMAGE_MARK.pattern}\s*")

Picture = TypeVar("Picture")


def write_image_mark(number: int) -> str:
    """Return the mark of the picture with a number, starting from 0: `[IMAGE0]`."""
    return f"[IMAGE{number}]"


def list_image_marks(text: str) -> list[int]:
    """Return the numbers of the marks in a text, in order."""
    return [int(mark) for mark in IMAGE_MARK.findall(text)] if "[IMAGE" in text else []


def read_only_image_mark(text: str) -> int | None:
    """Return the number of the mark that is the whole text, such as a choice that is a picture."""
    mark = _ONLY_MARK.fullmatch(text)
    return int(mark[1]) if mark else None


def split_at_image_marks(text: str) -> list[str | int]:
    """Split a text at its image marks.

    Args:
        text: Statement or choice, such as `"Compare [IMAGE0] with [IMAGE1]."`.

    Returns:
        Texts alternating with picture numbers, starting and ending with a text, which can be
            empty: `["Compare ", 0, " with ", 1, "."]`.
    """
    runs = IMAGE_MARK.split(text)
    return [int(run) if place % 2 else run for place, run in enumerate(runs)]


def pair_with_pictures(text: str, pictures: Sequence[Picture]) -> list[tuple[str, Picture | None]]:
    """Split a text into runs, each with the picture after it.

    Args:
        text: Statement or choice.
        pictures: Pictures by the numbers of the marks.

    Returns:
        Runs in order; a run can be empty. The last run has no picture, nor has one before a mark
        with an unknown number.
    """
    runs = IMAGE_MARK.split(text)
    numbers = [int(mark) for mark in runs[1::2]]
    behind = [pictures[number] if number < len(pictures) else None for number in numbers]
    return list(zip(runs[::2], [*behind, None], strict=True))


# Warnings of a problem from the stages: typed here, a line of text in files.
#
# The text is `CODE`, `CODE: DETAIL`, and ends with `SIMULATED (MODEL, ...)` if simulated models
# caused it. The format in `problems.jsonl` is unchanged, so that older files can be read.

RATIONALE, LABEL = "rationale", "label"
"""Codes of fields that a model wrote after the filter: the solution, and the topic."""
CORRECTED = "corrected"
"""Code of a manual correction of a reading: `formula by Ana`."""
_MARKED: Final = re.compile(r"(?P<rest>.*?)(?:: |; )SIMULATED \((?P<models>[^()\n]+)\)", re.DOTALL)


@dataclass(frozen=True)
class ProblemWarning:
    """One warning: its kind, its text, and the simulated models that caused it."""

    code: str
    detail: str = ""
    simulated_by: tuple[str, ...] = ()

    @property
    def is_simulated(self) -> bool:
        """Whether simulated models caused it."""
        return bool(self.simulated_by)

    def __str__(self) -> str:
        text = f"{self.code}: {self.detail}" if self.detail else self.code
        if self.simulated_by:
            mark = f"SIMULATED ({', '.join(self.simulated_by)})"
            return f"{text}; {mark}" if self.detail else f"{text}: {mark}"
        # Text of a paper that looks like the mark must not be parsed as one.
        return f"{text}." if _MARKED.fullmatch(text) else text


def parse_warning(text: str) -> ProblemWarning:
    """Parse a warning from its text.

    Args:
        text: Text in a file.

    Returns:
        The warning; converting it to text gives the same text.
    """
    models: tuple[str, ...] = ()
    if marked := _MARKED.fullmatch(text):
        text, models = marked["rest"], tuple(marked["models"].split(", "))
    code, _, detail = text.partition(": ")
    return ProblemWarning(code, detail, models)


def _read(value: object) -> object:
    return parse_warning(value) if isinstance(value, str) else value


WarningText = Annotated[
    InstanceOf[ProblemWarning],
    BeforeValidator(_read),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string"}),
]
"""A warning as a field of a row: text in the file, typed in the program."""


# Data types of a dataset: Figure, Choice, Problem, and its frozen halves Question and Answer.
#
# Text is Markdown with LaTeX between dollar signs; `[IMAGE0]`, `[IMAGE1]`, ... mark the positions
# of figures and are indices of `images`. An image path is relative to the folder of the file that
# contains it, always with forward slashes.

AnswerType = Literal["mcq", "open"]
Subject = Literal["astronomy", "biology", "chemistry", "mathematics", "physics", "coding", "other"]
BBox = tuple[float, float, float, float]


class FrozenModel(BaseModel):
    """A frozen, strict model: an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Panel(FrozenModel):
    """A part of a figure, such as the graph (b): its letter, if any, and its position."""

    label: str | None = None
    bbox: BBox


class Figure(FrozenModel):
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


class Choice(FrozenModel):
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


class DoubtfulFormula(FrozenModel):
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


class _Asked(FrozenModel):
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

    def all_images(self) -> list[int]:
        """Indices of all images: in reading order, then those without a mark."""
        met = self.image_order()
        return [*met, *(n for n in range(len(self.images)) if n not in met)]

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


class Original(FrozenModel):
    """Text of a problem before its translation into English, and the translator."""

    language: str
    question: str
    choices: list[Choice] | None = None
    translator: str


class OriginalRow(FrozenModel):
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


class Answer(FrozenModel):
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


# Pictures of a problem, with paths relative to the file that lists them.

Pictured = TypeVar("Pictured", Problem, Question)


def rebase_images(problem: Pictured, old: Path, new: Path) -> Pictured:
    """Return the problem with image paths relative to folder `new` instead of `old`.

    Paths keep forward slashes. No file is read, copied or moved.
    """
    return problem.model_copy(
        update={
            "images": [
                figure.model_copy(update={"file": _relative(old / figure.file, new)})
                for figure in problem.images
            ]
        }
    )


def _relative(file: Path, folder: Path) -> str:
    return Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()


# Example: a solved problem shown before another is asked, one row of examples.jsonl.
#
# It is the only file read by infer that contains answers, and only under settings that show
# examples (design, section 6).

Take = Literal["sampled", "window"]
"""Selection of examples from a dataset: drawn once and set aside, or the first of each subset."""


class Example(FrozenModel):
    """A question with its answer, and its solution unless a simulated model wrote it."""

    take: Take
    """Settings that can show it. Those that are `sampled` are not asked under these settings."""
    question: Question
    answer: list[str]
    solution: str | None = None

    @property
    def id(self) -> str:
        """Id of the problem."""
        return self.question.id


def are_siblings(first: Question, second: Question) -> bool:
    """Return whether two are one problem, share a group, or show the same picture."""
    if first.id == second.id or (first.group and first.group == second.group):
        return True
    pictures = {figure.sha256 or figure.file for figure in first.images}
    return any((figure.sha256 or figure.file) in pictures for figure in second.images)
