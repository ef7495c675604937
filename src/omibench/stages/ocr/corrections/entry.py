"""The model of one correction in `corrections.yaml`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from omibench.schemas.problem import BBox, Choice, DoubtfulFormula, Figure, Problem, ProblemWarning
from omibench.stages.ocr.layout.layout import Box

ON_PAGE: Final = ("formula", "text")
"""The corrections at a box of a page."""
OF_PROBLEM: Final = (
    "text", "choice", "choices", "answer", "solution", "figure", "split", "merge", "drop",
)  # fmt: skip
"""The corrections of a problem."""
KINDS: Final = ("formula", *OF_PROBLEM)
"""The keys that a correction can set; each sets exactly one."""
_FAR: Final = 1e6


def _refuse_number(value: Any) -> Any:
    """YAML reads `problem: 010` as 8 and `answer: 1.50` as 1.5; in quotes they stay as written."""
    if isinstance(value, int | float):
        raise ValueError("write it in quotes, since YAML changes some numbers")
    return value


def _join_parts(value: Any) -> Any:
    """Return the parts of an answer, written as in `answer: [A, C]`, as one reading."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "; ".join(value)
    return value


def _refuse_dollars(latex: str) -> str:
    if "$" in latex.replace("\\$", ""):
        raise ValueError("write the LaTeX alone, without dollar signs")
    if not _is_balanced(latex):
        raise ValueError("a brace is not closed, or closed twice")
    return latex


def _is_balanced(latex: str) -> bool:
    depth, is_escaped = 0, False
    for sign in latex:
        if not is_escaped and sign in "{}":
            depth += 1 if sign == "{" else -1
        if depth < 0:
            return False
        is_escaped = sign == "\\" and not is_escaped
    return depth == 0


_Word = Annotated[
    str, StringConstraints(min_length=1, max_length=200), BeforeValidator(_refuse_number)
]
_Text = Annotated[str, StringConstraints(max_length=100_000), BeforeValidator(_refuse_number)]
_Reading = Annotated[_Text, BeforeValidator(_join_parts)]
_Latex = Annotated[
    str,
    StringConstraints(min_length=1, max_length=10_000, strip_whitespace=True),
    BeforeValidator(_refuse_number),
    AfterValidator(_refuse_dollars),
]
_Page = Annotated[int, Field(ge=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ChoiceText(_Strict):
    """One choice of a problem, with its correct text."""

    label: _Word
    text: _Text


class FigureChange(_Strict):
    """One figure of a problem: cut from another box, taken from a file, or removed."""

    image: Annotated[int, Field(ge=0)]
    """Its number, as in `[IMAGE0]`; the first unused one adds a figure at the statement's end."""
    page: _Page | None = None
    """The page of `box`; by default the page of the figure as read."""
    box: BBox | None = None
    file: _Word | None = None
    """A picture, relative to the folder of `corrections.yaml`."""
    remove: Literal[True] | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if sum(value is not None for value in (self.box, self.file, self.remove)) != 1:
            raise ValueError("give one of box, file, remove")
        if self.page is not None and self.box is None:
            raise ValueError("`page` needs `box`: give the box")
        if self.box is not None:
            check_box(self.box)
        return self


class Split(_Strict):
    """A problem to split in two: the second begins at a text of its statement or of a choice."""

    at: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000),
        BeforeValidator(_refuse_number),
    ]
    """The first words of the second problem, which must be unique in the first."""
    number: _Word
    """The number of the second problem."""


class Correction(_Strict):
    """One error of a reading: its place and the correct value."""

    paper: _Word
    """The source: its name in the manifest, or one of its files."""
    page: _Page | None = None
    box: BBox | None = None
    """(x0, y0, x1, y1) in points from the top left of the upright page."""
    problem: _Word | None = None
    """The number of a problem, as read."""
    formula: _Latex | None = None
    """LaTeX without dollar signs."""
    text: _Text | None = None
    """The text of all lines whose centre is in the box, or the statement of the problem."""
    choice: ChoiceText | None = None
    choices: list[ChoiceText] | None = None
    """All choices of a problem, in order."""
    answer: list[_Word] | None = None
    """The letters of a multiple-choice key, or the parts of an open answer; `[]` for none."""
    solution: _Text | None = None
    figure: FigureChange | None = None
    split: Split | None = None
    merge: _Word | None = None
    """The number of the problem whose text belongs at the end of this one."""
    drop: Literal[True] | None = None
    was: _Reading | None = None
    """The original reading, or its digest (`sha256:...`). If the reading has changed, the
    correction no longer fits. A list, as of an answer's parts, is joined by `; `."""
    by: Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True)]
    note: Annotated[str, StringConstraints(max_length=2_000)] = ""

    @property
    def kind(self) -> str:
        """The key it sets, one of `KINDS`."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def place(self) -> str:
        """Its place for messages: `page 3, box (72, 140, 210, 171)` or `problem 12`."""
        if self.page is not None and self.box is not None:
            return describe_box(self.page, self.box)
        return f"problem {self.problem}"

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        kinds = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            listing = ", ".join(kinds) or "nothing"
            raise ValueError(f"sets {listing}: set one of {', '.join(KINDS)}")
        on_page = self.page is not None and self.box is not None
        if on_page == (self.problem is not None) or (self.page is None) != (self.box is None):
            raise ValueError("give the place: page and box, or problem")
        if kinds[0] not in (ON_PAGE if on_page else OF_PROBLEM):
            raise ValueError(f"{kinds[0]} is corrected at {_PLACES[on_page]}")
        if self.box is not None:
            check_box(self.box)
        if self.merge is not None and self.merge == self.problem:
            raise ValueError("merge: a problem cannot be merged with itself")
        _refuse_twin_labels(self.choices or [])
        return self


_PLACES: Final = {True: "a problem: give `problem`", False: "a place: give `page` and `box`"}


def check_box(box: Sequence[float]) -> None:
    """Raise ValueError if the corners of a box are in the wrong order or not numbers."""
    x0, y0, x1, y1 = box
    if not (-_FAR < x0 < x1 < _FAR and -_FAR < y0 < y1 < _FAR):
        raise ValueError("a box is (x0, y0, x1, y1) with x0 < x1 and y0 < y1")


def describe_box(page: int, box: Sequence[float]) -> str:
    """Return a place as in warnings and corrections: `page 3, box (72, 140, 210, 171)`."""
    return f"page {page}, box ({', '.join(f'{edge:.0f}' for edge in box)})"


def covers(one: Box, other: Box, share: float = 0.5) -> bool:
    """Return whether two boxes share more than a part of the smaller one's area."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    smaller = min(one.width * one.height, other.width * other.height)
    return width > 0 and height > 0 and width * height > share * smaller


def _refuse_twin_labels(choices: Sequence[ChoiceText]) -> None:
    labels = [choice.label for choice in choices]
    twin = next((label for label in labels if labels.count(label) > 1), None)
    if twin is not None:
        raise ValueError(f"choices: {twin} occurs twice")


class CorrectionEntry(BaseModel):
    """A correction with its place in the file, and the file of its source that it is for."""

    model_config = ConfigDict(frozen=True)

    number: int
    """Its index among the entries, from 0."""
    line: int
    correction: Correction
    file: str = ""
    """The path of the paper, key or solutions in `paper`."""

    @property
    def box(self) -> Box:
        """The box on the page, if any."""
        assert self.correction.box is not None
        return Box(*self.correction.box)


# The original reading at the place of a correction: a text, or its digest.

PREFIX: Final = "sha256:"
_DIGITS: Final = 16


def compute_digest(text: str) -> str:
    """Return the digest of a text without spacing: `sha256:` and 16 hexadecimal digits."""
    return PREFIX + hashlib.sha256(_normalise(text).encode()).hexdigest()[:_DIGITS]


def is_same_reading(was: str | None, text: str) -> bool:
    """Return whether a text equals the original reading of a correction.

    Args:
        was: Original text in the correction, its digest, or None.
        text: Current reading. Spacing is ignored.
    """
    return was is None or _normalise(was) == _normalise(text) or was == compute_digest(text)


def join_lines(texts: Sequence[str]) -> str:
    """Return the text of several lines, for `was` of a correction at a box."""
    return "\n".join(texts)


def describe_choices(choices: Sequence[Choice] | None) -> str:
    """Return the text of all choices, for `was`: one line each."""
    return "\n".join(f"({choice.label}) {choice.text or ''}" for choice in choices or [])


def describe_answer(answer: Sequence[str] | None) -> str:
    """Return the answer of a key, for `was`; empty without an answer."""
    return "; ".join(answer or [])


def describe_figure(figure: Figure) -> str:
    """Return the box of a figure, for `was`; its hash if it has no position on a page."""
    if figure.page is None or figure.bbox is None:
        return PREFIX + figure.sha256[:_DIGITS]
    return describe_box(figure.page, figure.bbox)


def quote_reading(text: str, most: int = 80) -> str:
    """Return a reading on one line for a message."""
    line = _normalise(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _normalise(text: str) -> str:
    return " ".join(text.split())


# Remove doubtful formulas that are no longer in a problem.

DOUBTFUL: Final = "formula_doubtful"
"""The code of the warning that the reading of a formula is uncertain."""
DIFFERS: Final = "formula_differs"
"""The code of the warning that two readers read a formula differently."""
INK_UNREAD: Final = "ink_unread"
"""The code of the warning that ink is in no text, formula or figure."""
_PLACE: Final = re.compile(r"page (\d+), box \((-?\d+), (-?\d+), (-?\d+), (-?\d+)\)")
"""The start of such a warning: `describe_box`."""


def drop_corrected_doubts(problem: Problem) -> Problem:
    """Return a problem without doubtful formulas, and their warnings, that its texts no longer
    have."""
    texts = [problem.question, problem.solution or ""]
    texts += [choice.text or "" for choice in problem.choices or []]
    settled = [
        formula
        for formula in problem.doubtful_formulas
        if not any(formula.latex in text for text in texts)
    ]
    if not settled:
        return problem
    return problem.model_copy(
        update={
            "doubtful_formulas": [f for f in problem.doubtful_formulas if f not in settled],
            "warnings": [
                warning
                for warning in problem.warnings
                if not any(_is_about(warning, formula) for formula in settled)
            ],
        }
    )


def read_place(warning: ProblemWarning) -> tuple[int, BBox] | None:
    """Return page and box of the formula or the ink in a warning; None for other warnings."""
    place = (
        _PLACE.match(warning.detail) if warning.code in (DOUBTFUL, DIFFERS, INK_UNREAD) else None
    )
    if place is None:
        return None
    page, x0, y0, x1, y1 = map(int, place.groups())
    return page, (x0, y0, x1, y1)


def _is_about(warning: ProblemWarning, formula: DoubtfulFormula) -> bool:
    """Return whether a warning gives the place of a formula, with edges rounded to points."""
    place = read_place(warning)
    if place is None or place[0] != formula.page:
        return False
    return all(abs(a - b) <= 1 for a, b in zip(place[1], formula.bbox, strict=True))
