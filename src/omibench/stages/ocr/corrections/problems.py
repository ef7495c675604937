"""What a correction makes of a problem: split, merged, with another text, answer or figure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from glyphtex.marks import Box
from omibench.errors import OmibenchError
from omibench.files.outputs import write_atomically
from omibench.files.pictures import read_picture
from omibench.files.reading import resolve_within
from omibench.schemas.problem import (
    IMAGE_MARK,
    Choice,
    Figure,
    Problem,
    ProblemWarning,
    list_image_marks,
    write_image_mark,
)
from omibench.stages.ocr.corrections.entry import (
    INK_UNREAD,
    Correction,
    FigureChange,
    Split,
    describe_answer,
    describe_choices,
    describe_figure,
    read_place,
)
from omibench.stages.ocr.layout.crops import crop_box
from omibench.stages.ocr.structure.assemble import BROKEN
from omibench.stages.ocr.structure.keys import as_letters

if TYPE_CHECKING:
    import pymupdf

STATEMENT = ""
"""The name of the statement among a problem's parts; choices are named by their letters."""
_OF_ANSWERS = ("answer_conflict", "answer_doubtful", "answer_unread", "answer_cancelled")
"""Warnings of a key that a corrected answer settles."""


class MisfitError(Exception):
    """The reason why a correction does not fit the reading."""


def find_place(problems: Sequence[Problem], number: str | None) -> int | None:
    """Return the index of the problem with a number; None if absent."""
    return next((k for k, problem in enumerate(problems) if problem.number == number), None)


def drop_warnings(problem: Problem, *codes: str) -> Problem:
    """Return a problem without the warnings of some codes."""
    return _keep_warnings(problem, lambda warning: warning.code not in codes)


def drop_suspicion(problem: Problem) -> Problem:
    """Return a corrected problem without the warnings of lost forms of formulas and unread ink."""
    return drop_warnings(problem, "math_suspect", INK_UNREAD)


def _keep_warnings(problem: Problem, is_kept: Callable[[ProblemWarning], bool]) -> Problem:
    return problem.model_copy(update={"warnings": list(filter(is_kept, problem.warnings))})


def _validate(problem: Problem, **changes: object) -> Problem:
    """Return a problem with other fields; raise MisfitError if they are invalid."""
    fields = {name: getattr(problem, name) for name in Problem.model_fields}
    try:
        return Problem.model_validate(fields | changes)
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise MisfitError(message) from None


def _drop_settled_doubts(problem: Problem) -> Problem:
    """Return a problem without doubtful formulas, and their warnings, that its texts no longer
    have."""
    texts = [problem.question, problem.solution or ""]
    texts += [choice.text or "" for choice in problem.choices or []]
    settled = [
        formula
        for formula in problem.doubtful_formulas
        if not any(formula.latex in text for text in texts)
    ]

    def is_open(warning: ProblemWarning) -> bool:
        page, box = read_place(warning) or (0, ())
        return not any(  # edges in warnings are rounded to points
            page == formula.page
            and all(abs(a - b) <= 1 for a, b in zip(box, formula.bbox, strict=True))
            for formula in settled
        )

    doubtful = [formula for formula in problem.doubtful_formulas if formula not in settled]
    changed = problem.model_copy(update={"doubtful_formulas": doubtful})
    return _keep_warnings(changed, is_open)


# Split and merge problems.


def change_structure(
    problems: Sequence[Problem], place: int, correction: Correction
) -> list[Problem]:
    """Split the problem at an index, or merge another one into it.

    Returns:
        The problems; the second part of a split problem follows the first.

    Raises:
        MisfitError: The correction does not fit the problems.
    """
    problem, behind = problems[place], problems[place + 1 :]
    if correction.split is not None:
        number = correction.split.number
        if find_place(problems, number) is not None:
            raise MisfitError(f"problem {number} already exists")
        gap = f"{problem.number} is followed"

        def is_no_gap(warning: ProblemWarning) -> bool:
            return warning.code != "number_gap" or not warning.detail.startswith(gap)

        parts = split_problem(problem, correction.split)
        return [*problems[:place], *parts, *(_keep_warnings(other, is_no_gap) for other in behind)]
    other = find_place(problems, correction.merge)
    if other is None:
        raise MisfitError(f"no problem {correction.merge} was read")
    merged = merge_problems(problem, problems[other])
    return [merged if k == place else one for k, one in enumerate(problems) if k != other]


def split_problem(problem: Problem, split: Split) -> tuple[Problem, Problem]:
    """Split a problem: the second has the text from a given place on, and its figures.

    Raises:
        MisfitError: The text is not in the problem, or not unique.
    """
    pattern = re.compile(r"\s+".join(map(re.escape, split.at.split())))
    choices = list(problem.choices or [])
    texts = [problem.question, *(choice.text or "" for choice in choices)]
    matches = [(k, match) for k, text in enumerate(texts) for match in pattern.finditer(text)]
    if len(matches) != 1:
        raise MisfitError(f"the text of `at` occurs {len(matches)} times in it")
    ((k, match),) = matches
    head, tail = texts[k][: match.start()].rstrip(), texts[k][match.start() :]
    if k == 0:
        first: tuple[str, list[Choice]] = (head, [])
        second = (tail, choices)
    else:
        broken = choices[k - 1].model_copy(update={"text": head or None})
        is_empty = broken.text is None and broken.image is None
        first = (problem.question, [*choices[: k - 1], *([] if is_empty else [broken])])
        second = (tail, choices[k:])
    moved = _list_images(*second)
    stay = {*range(len(problem.images))} - {*moved} | {*_list_images(*first)}
    identity = f"{problem.id.removesuffix(problem.number)}{split.number}"
    new = problem.model_copy(
        update={
            "id": identity,
            "number": split.number,
            "group": identity if problem.group == problem.id else problem.group,
            "answer": None,
            "solution": None,
        }
    )
    return (
        _drop_settled_doubts(_select_images(problem, sorted(stay), *first)),
        _drop_settled_doubts(_select_images(new, moved, *second)),
    )


def merge_problems(problem: Problem, other: Problem) -> Problem:
    """Merge two problems: append statement, choices and figures of the second to the first.

    Raises:
        MisfitError: Both have a choice with the same letter.
    """
    choices, more = problem.choices or [], other.choices or []
    twins = sorted({choice.label for choice in choices} & {choice.label for choice in more})
    if twins:
        raise MisfitError(f"both have a choice {twins[0]}")

    def shift(number: int) -> int:
        return number + len(problem.images)

    solutions = [text for text in (problem.solution, other.solution) if text]
    return _validate(
        problem,
        question="\n\n".join(filter(None, (problem.question, _renumber(other.question, shift)))),
        images=[*problem.images, *other.images],
        choices=[*choices, *(_renumber_choice(choice, shift) for choice in more)] or None,
        pages=sorted({*problem.pages, *other.pages}),
        solution="\n\n".join(solutions) or None,
        doubtful_formulas=[*problem.doubtful_formulas, *other.doubtful_formulas],
        warnings=list(dict.fromkeys([*problem.warnings, *other.warnings])),
    )


def _select_images(
    problem: Problem, keep: Iterable[int], question: str, choices: Sequence[Choice] | None
) -> Problem:
    """Return a problem with some of its images, in order, and with other texts, whose marks are
    renumbered."""
    kept = list(keep)
    numbers = {number: k for k, number in enumerate(kept)}
    return _validate(
        problem,
        question=_renumber(question, numbers.get),
        images=[problem.images[number] for number in kept],
        choices=[_renumber_choice(choice, numbers.get) for choice in choices or []] or None,
    )


def _renumber_choice(choice: Choice, find_number: Callable[[int], int | None]) -> Choice:
    text = choice.text and _renumber(choice.text, find_number)
    image = None if choice.image is None else find_number(choice.image)
    return choice.model_copy(update={"text": text, "image": image})


def _renumber(text: str, find_number: Callable[[int], int | None]) -> str:
    """Renumber the marks of a text; marks without a new number are removed."""

    def write(match: re.Match[str]) -> str:
        number = find_number(int(match[1]))
        return "" if number is None else write_image_mark(number)

    return IMAGE_MARK.sub(write, text).strip()


def _list_images(question: str, choices: Sequence[Choice]) -> list[int]:
    numbers = list_image_marks(question)
    for choice in choices:
        numbers += list_image_marks(choice.text or "")
        numbers += [] if choice.image is None else [choice.image]
    return list(dict.fromkeys(numbers))


# Set a text, the choices, the answer, the solution or a figure of a problem.


class Change(NamedTuple):
    """A changed problem, without obsolete warnings.

    `before` and `after` are its readings at the place of the correction, and `parts` are the parts
    of its text that were set: the statement, letters of choices.
    """

    problem: Problem
    before: str
    after: str | None
    parts: frozenset[str] = frozenset()


FigureMaker = Callable[[FigureChange, "Figure | None"], Figure]
"""Returns the figure that replaces another one, or is added; raises MisfitError."""


def change_problem(problem: Problem, correction: Correction, make_figure: FigureMaker) -> Change:
    """Change a problem by a correction of its text, choices, answer, solution or a figure.

    Raises:
        MisfitError: The problem has no such choice or figure, or the new value is invalid.
    """
    choices = problem.choices or []
    if correction.figure is not None:
        return _change_figure(problem, correction.figure, make_figure)
    if correction.text is not None:
        after = _clean(_validate(problem, question=correction.text))
        return Change(after, problem.question, after.question, frozenset({STATEMENT}))
    if correction.choice is not None:
        label, text = correction.choice.label, correction.choice.text
        old = next((choice for choice in choices if choice.label == label), None)
        if old is None:
            listing = ", ".join(choice.label for choice in choices)
            raise MisfitError(f"it has no choice {label}; its choices: {listing or 'none'}")
        new = old.model_copy(update={"text": text or None})
        after = _clean(_validate(problem, choices=[new if c is old else c for c in choices]))
        return Change(after, old.text or "", text, frozenset({label}))
    if correction.choices is not None:
        images = {choice.label: choice.image for choice in choices}
        texts = [
            Choice(label=choice.label, text=choice.text, image=images.get(choice.label))
            for choice in correction.choices
        ]
        after = _clean(_validate(problem, choices=texts or None))
        parts = frozenset(choice.label for choice in texts)
        return Change(after, describe_choices(choices), describe_choices(texts), parts)
    if correction.answer is not None:
        letters = as_letters(correction.answer, problem.choices) if correction.answer else []
        if correction.answer and not letters:
            raise MisfitError(f"the answer {describe_answer(correction.answer)} is not a choice")
        after = _validate(drop_warnings(problem, *_OF_ANSWERS), answer=letters or None)
        return Change(after, describe_answer(problem.answer), describe_answer(letters))
    after = _validate(problem, solution=correction.solution or None)
    return Change(after, problem.solution or "", after.solution or "")


def _clean(problem: Problem) -> Problem:
    """Remove obsolete warnings about its texts."""
    choices = problem.choices or []
    if not any(BROKEN.search(t) for t in (problem.question, *(c.text or "" for c in choices))):
        problem = drop_warnings(problem, "garbled_text")
    if all(choice.text or choice.image is not None for choice in choices):
        problem = drop_warnings(problem, "choice_empty")
    return _drop_settled_doubts(problem)


def _change_figure(problem: Problem, change: FigureChange, make_figure: FigureMaker) -> Change:
    images, number = list(problem.images), change.image
    is_new = number == len(images) and change.remove is None
    if number >= len(images) and not is_new:
        raise MisfitError(f"it has {len(images)} figures, without [IMAGE{number}]")
    before = "" if is_new else describe_figure(images[number])
    if change.remove is not None:
        keep = [k for k in range(len(images)) if k != number]
        after = _select_images(problem, keep, problem.question, problem.choices)
        return Change(after, before, None)
    figure = make_figure(change, None if is_new else images[number])
    images[number:] = [figure, *images[number + 1 :]]
    mark = f"\n\n{write_image_mark(number)}" if is_new else ""
    question = f"{problem.question}{mark}".strip() if is_new else problem.question
    return Change(_validate(problem, images=images, question=question), before, None)


class PaperFigures(NamedTuple):
    """Figures cut from the pages of a paper, or copied from files next to the corrections."""

    pdf: pymupdf.Document
    pictures: Path
    """The folder of `corrections.yaml`."""
    folder: Path
    """The output folder for figures of the paper."""
    prefix: str
    """The path of that folder in the file that lists the figures."""
    dpi: int

    def make(self, change: FigureChange, before: Figure | None) -> Figure:
        """Return the figure that replaces another one, or is added.

        Raises:
            MisfitError: The page or picture does not exist.
        """
        page, bbox, suffix = None, None, "png"
        if change.file is not None:
            try:
                picture = read_picture(resolve_within(self.pictures, change.file))
            except OmibenchError as error:
                raise MisfitError(str(error)) from None
            data, suffix = picture.data, picture.suffix
        else:
            page = change.page or (before.page if before else None)
            if page is None or change.box is None or page > self.pdf.page_count:
                raise MisfitError(f"the paper has no page {page or '(give one)'}")
            sheet, box = self.pdf[page - 1], Box(*change.box)
            if not Box(*sheet.rect).touches(box):
                raise MisfitError(f"page {page} ends before the start of the box")
            data, bbox = crop_box(sheet, box, self.dpi)
        digest = hashlib.sha256(data).hexdigest()
        name = f"corrected-{digest[:16]}.{suffix}"
        write_atomically(self.folder / name, data)
        return Figure(
            file=f"{self.prefix}/{name}",
            sha256=digest,
            page=page,
            bbox=bbox,
            caption=before.caption if before else None,
        )
